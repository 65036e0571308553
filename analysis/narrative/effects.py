"""Sentences about effect sizes, the ordinal model and correlations."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.results.follow_up import CorrelatedVariables, Effects, NoveltyCorrelation
from analysis.results.perceived import PerceivedVariable
from analysis.results.rankings import Order
from analysis.results.report import ItemWords
from analysis.tables.cells import bracketed, equals, listed, relation, written
from analysis.tables.levels import coverage
from inference import apa
from inference.ordinal import OrdinalResult
from inference.results import PairwiseResult, Undefined
from studies.plans import in_text

ALPHA = 0.05
PART_AND_WHOLE = (
    "This correlation, reported by Cremonesi et al. (2011), is inflated, because every item of second-order novelty "
    "also counts in first-order novelty"
)


def families(n_variables: int) -> str:
    """That the test of pairs controls its error rate within one variable only."""
    if n_variables < 2:
        return ""
    return (
        f"Games-Howell controls the error rate at α within one variable. The {n_variables} variables are "
        f"{n_variables} families, so over all of them the chance of at least one false positive is larger."
    )


def largest(effects: Effects, pairs: PairwiseResult | Undefined | None = None) -> str:
    """The largest effect of a variable with the simultaneous interval of its difference, and Cohen's f."""
    sizes = [pair.effect for pair in effects.hedges if not isinstance(pair.effect, Undefined)]
    name = in_text(effects.name)
    if not sizes:
        reasons = [pair.effect.reason for pair in effects.hedges if isinstance(pair.effect, Undefined)]
        return f"There is no effect size of {name}. {reasons[0]}" if reasons else ""
    best = max(sizes, key=lambda size: abs(size.g))
    if best.g == 0:
        return f"All algorithms have the same sample mean of {name}."
    above, below = (best.a, best.b) if best.g > 0 else (best.b, best.a)
    f = "" if effects.cohens_f is None else f" Over all algorithms, Cohen's f = {written(effects.cohens_f)}."
    limits = "" if pairs is None or isinstance(pairs, Undefined) else _limits(pairs, above, below)
    return f"The largest difference in {name} is {above} over {below}, g = {written(abs(best.g))}{limits}.{f}"


def _limits(pairs: PairwiseResult, above: str, below: str) -> str:
    """The difference of a pair with its interval, which holds for all pairs at once."""
    pair = next((one for one in pairs.pairs if {one.a, one.b} == {above, below}), None)
    if pair is None or pair.ci_low is None or pair.ci_high is None:
        return ""
    low, high = sorted((pair.ci_low, pair.ci_high) if pair.a == above else (-pair.ci_low, -pair.ci_high))
    confidence = coverage(pairs.alpha)
    return f": {written(abs(pair.difference))} points, simultaneous {confidence} CI {bracketed(low, high)}"


def detectable(effects: Effects, order: Order) -> str:
    """The smallest effect that the study would have detected, where it found no order."""
    smallest = effects.detectable
    if not order.is_empty or isinstance(smallest, Undefined):
        return ""
    effect, example = smallest.effect, ""
    if smallest.difference is not None:
        example = f" (for example, two algorithms {written(smallest.difference)} apart and the others midway)"
    return (
        f"With {effect.n_per_condition:,} participants in the smallest of {effect.conditions} conditions, the "
        f"analysis of variance has a power of {written(effect.power, 2, True)} for an effect of "
        f"f = {written(effect.f)}{example}; smaller effects may be undetected."
    )


def ordinal(effects: Effects, variable: PerceivedVariable | None, alpha: float = ALPHA) -> list[str]:
    """The ordinal model's test, whether its assumption holds, and where it differs from the tests of means."""
    model, name = effects.ordinal, in_text(effects.name)
    if model is None:
        return []
    if isinstance(model, Undefined):
        return [f"There is no ordinal model of {name}. {model.reason}"]
    sentences = [
        f"In the ordinal model, which treats answers as ordered categories, {_difference(model.p < alpha)} in {name}, "
        f"LR χ²({model.df}) = {written(model.lr)}, p {equals(model.p)}."
    ]
    if model.empty_categories:
        steps = listed([f"{value:g}" for value in model.empty_categories])
        sentences.append(f"No participant answered {steps}, so the model has no threshold there.")
    if model.proportional_p is not None and model.proportional_p < alpha:
        ratio = "" if model.proportional_lr is None else written(model.proportional_lr)
        sentences.append(
            "The proportional odds assumption is violated: shifts between algorithms depend on the threshold, "
            f"LR χ²({model.proportional_df}) = {ratio}, p {equals(model.proportional_p)}. "
            "Interpret the observed shares instead."
        )
    if variable is not None:
        sentences.append(_against_means(model, variable, alpha))
    return sentences


def _difference(is_significant: bool) -> str:
    return "the algorithms differed significantly" if is_significant else "no significant difference was found"


def _significant_pairs(tests: PairwiseResult) -> set[tuple[str, str]]:
    """The significant pairs, the larger location first."""
    return {
        (pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a) for pair in tests.pairs if pair.is_significant
    }


def _against_means(model: OrdinalResult, variable: PerceivedVariable, alpha: float) -> str:
    """Whether the model and the tests of means find the same pairs."""
    order, welch, changes = variable.orders.games_howell, variable.welch, []
    if not isinstance(welch, Undefined) and (welch.p < alpha) != (model.p < alpha):
        verdict = "significant" if model.p < alpha else "not significant"
        changes.append(f"over all algorithms it is {verdict}, unlike Welch's analysis of variance")
    pairs = _significant_pairs(model.pairs)
    if lost := order.pairs - pairs:
        changes.append(f"it does not confirm {relation(order.sorted_pairs(lost))}")
    if gained := pairs - order.pairs:
        changes.append(f"it also finds {relation(order.sorted_pairs(gained))}")
    if not changes:
        if not pairs:
            return "Neither it nor Games-Howell finds a pair that differs."
        return "It finds the same pairs as Games-Howell."
    return f"It differs from the tests of means: {'; '.join(changes)}."


def novelty(
    correlations: Sequence[CorrelatedVariables], without_overlap: NoveltyCorrelation | None, words: ItemWords
) -> str:
    """The orders of novelty without their overlap, and the plain correlation for replication."""
    pair = next((pair for pair in correlations if (pair.a, pair.b) == ("fon", "son")), None)
    if pair is None:
        return ""
    expected = None if without_overlap is None else without_overlap.r_if_independent
    number = "" if expected is None else f": independent answers at this study's rates give r = {apa.share(expected)}"
    plain = f"First- and second-order novelty: {_two_parts(pair)}. {PART_AND_WHOLE}{number}."
    if without_overlap is None:
        return plain
    omitted = ""
    if without_overlap.n_without:
        verb, people = ("is", "participant") if without_overlap.n_without == 1 else ("are", "participants")
        omitted = f" ({without_overlap.n_without:,} {people} who had {words.consumed} every item {verb} left out)"
    return (
        f"First-order novelty and the share unheard of among {words.other_items}: "
        f"{_two_parts(without_overlap)}{omitted}. {plain}"
    )


def _two_parts(pair: CorrelatedVariables | NoveltyCorrelation) -> str:
    parts = []
    for result, level in ((pair.within, "within algorithms"), (pair.between, "between the algorithms' means")):
        if isinstance(result, Undefined):
            parts.append(f"{level} there is no correlation coefficient ({_lowered(result.reason)})")
            continue
        limits = ""
        if result.interval:
            limits = f", 95% CI {bracketed(result.interval.low, result.interval.high, 2, True)}"
        parts.append(f"{level} r = {written(result.coefficient, 2, True)}{limits}")
    return "; ".join(parts)


def correlation_family(correlations: Sequence[CorrelatedVariables]) -> str:
    """That the correlations are one family; empty in reports that did not correct them."""
    if not any(pair.p_holm for pair in correlations):
        return ""
    return (
        "The correlations within algorithms, between their means and over all participants are one family: their p "
        "values are two-sided and corrected together by Holm."
    )


def _lowered(reason: str) -> str:
    return (reason[0].lower() + reason[1:]).removesuffix(".")


def opposite_correlations(correlations: Sequence[CorrelatedVariables], alpha: float = ALPHA) -> str:
    """Pairs of variables that correlate in opposite directions within algorithms and between their means."""
    names = []
    for pair in correlations:
        within, between, corrected = pair.within, pair.between, pair.p_holm
        if isinstance(within, Undefined) or isinstance(between, Undefined):
            continue
        p_values = (within.p, between.p) if corrected is None else (corrected.within, corrected.between)
        is_significant = all(p is not None and p < alpha for p in p_values)
        if is_significant and within.coefficient * between.coefficient < 0:
            first, second = pair.variables
            names.append(f"{first.in_text} and {second.in_text}")
    if not names:
        return ""
    return (
        f"Within algorithms and between their means, {listed(names)} are correlated in opposite directions: the "
        "correlation between algorithms does not hold for individual participants."
    )
