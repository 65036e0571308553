"""What follows up the planned tests: effects, and how far they generalise beyond the items and users."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis.enums import RATED
from analysis.present.words import (
    ESTIMATED,
    PAIR,
    cell_of,
    coverage,
    decimal,
    interval_cell,
    limits,
    probability,
    share_cell,
    whole,
)
from analysis.results.follow_up import CorrelatedVariables, Effects, NoveltyCorrelation, PairEffect
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import ItemWords, Results
from documents.blocks import Section
from documents.numbers import coefficient, f_statistic, interval, listed, named_p, number, percent, plural, relation
from documents.tables import Numbers, Table, Words, table
from inference.correlation import CorrelationResult
from inference.item_effects import ItemEffectsResult, ItemPair
from inference.ordinal import OrdinalResult
from inference.results import Pair, PairwiseResult, Undefined
from studies.plans import in_text


def effects_section(results: Results) -> Section:
    """Effect sizes variable by variable."""
    section = Section("effects", "Effect sizes", "perceived")
    if not results.flow.analysed or not results.effects:
        return section
    tests = {variable.key: variable.pairs for variable in results.variables}
    section.say(families(len(tests)))
    for effects in results.effects:
        section.head(effects.name)
        section.say(largest(effects, tests[effects.key]))
        section.put(_hedges_table(effects), is_folded=True)
    for scale in results.scale_effects:
        section.head(scale.name)
        section.say(largest(scale))
        section.put(_hedges_table(scale), is_folded=True)
        _put_ordinal(section, scale, None, results.plan.alpha)
    return section


def ordinal_section(results: Results) -> Section:
    """The ordinal models of single answers."""
    section = Section("ordinal", "Ordinal model", "perceived")
    for effects in results.effects if results.flow.analysed else ():
        _put_ordinal(section, effects, results.variable(effects.key), results.plan.alpha)
    return section


def _put_ordinal(section: Section, effects: Effects, variable: PerceivedVariable | None, alpha: float) -> None:
    model = effects.ordinal
    if isinstance(model, Undefined):
        section.say(f"There is no ordinal model of {in_text(effects.name)}. {model.reason}")
    elif model is not None:
        section.say(*ordinal(effects, model, variable, alpha))
        section.put(_ordinal_table(effects, model))
        section.put(_shares_table(effects, model), is_folded=True)


def correlations_section(results: Results) -> Section:
    """Correlations between measures, within algorithms and between them."""
    section = Section("correlations", "Correlations between measures", "perceived")
    if not results.flow.analysed or not results.correlations:
        return section
    section.say(novelty(results.correlations, results.novelty, results.study.words))
    section.say(opposite_correlations(results.correlations, results.plan.alpha))
    section.say(correlation_family(results.correlations))
    section.put(_correlations_table(results.correlations, results.novelty, results.study.words))
    return section


def generalisation_section(results: Results) -> Section:
    """Generalisation over participants and items, beside those of this study."""
    section = Section("generalisation", "Generalisation over participants and items", "perceived")
    accuracy, model = results.variable(RATED), results.nested
    if not results.flow.analysed or model is None or accuracy is None:
        return section
    if isinstance(model, Undefined):
        section.say(f"There is no model of participants and of items nested in algorithms. {model.reason}")
        return section
    section.say(*nested(model, accuracy, results.plan.alpha))
    means = table(
        "nested",
        "Ratings of items, generalised to other participants and other items from the same algorithms",
        model.conditions,
        Words("Algorithm", lambda estimate: estimate.condition),
        Numbers("Participants", lambda estimate: whole(estimate.n_persons)),
        Numbers("Items", lambda estimate: whole(estimate.n_items)),
        Numbers("Ratings", lambda estimate: whole(estimate.n_answers)),
        Numbers("Mean", lambda estimate: decimal(estimate.mean), "perceived"),
        *ESTIMATED,
        note="Observed means over participants; standard errors by random intercepts of participants and of items "
        f"within algorithms. REML; limits by {_distribution(model)}.",
    )
    section.put(means)
    pairs = table(
        "nested-pairs",
        "Pairwise comparisons with items nested in algorithms",
        model.pairs.pairs,
        *PAIR,
        Numbers("Difference", lambda pair: decimal(pair.difference), "perceived"),
        *ESTIMATED,
        Numbers("p, Holm", lambda pair: probability(pair.p)),
        note=f"Limits for each pair separately, by {_distribution(model)}.",
        is_quiet=lambda pair: not pair.is_significant,
    )
    section.put(pairs, is_folded=True)
    return section


# Sentences


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
    f = "" if effects.cohens_f is None else f" Over all algorithms, Cohen's f = {number(effects.cohens_f)}."
    limits = "" if pairs is None or isinstance(pairs, Undefined) else _limits(pairs, above, below)
    return f"The largest difference in {name} is {above} over {below}, g = {number(abs(best.g))}{limits}.{f}"


def _limits(pairs: PairwiseResult, above: str, below: str) -> str:
    """The difference of a pair with its interval, which holds for all pairs at once."""
    pair = next((each for each in pairs.pairs if {each.a, each.b} == {above, below}), None)
    if pair is None or pair.ci_low is None or pair.ci_high is None:
        return ""
    low, high = sorted((pair.ci_low, pair.ci_high) if pair.a == above else (-pair.ci_low, -pair.ci_high))
    confidence = coverage(pairs.alpha)
    return f": {number(abs(pair.difference))} points, simultaneous {confidence} CI {interval(low, high)}"


def ordinal(effects: Effects, model: OrdinalResult, variable: PerceivedVariable | None, alpha: float) -> list[str]:
    """The ordinal model's test, whether its assumption holds, and where it differs from the tests of means."""
    verdict = "the algorithms differed significantly" if model.p < alpha else "no significant difference was found"
    sentences = [
        f"In the ordinal model, which treats answers as ordered categories, {verdict} in {in_text(effects.name)}, "
        f"LR χ²({model.df}) = {number(model.lr)}, {named_p(model.p)}."
    ]
    if model.empty_categories:
        steps = listed([f"{value:g}" for value in model.empty_categories])
        sentences.append(f"No participant answered {steps}, so the model has no threshold there.")
    if model.proportional_p is not None and model.proportional_p < alpha:
        ratio = "" if model.proportional_lr is None else number(model.proportional_lr)
        sentences.append(
            "The proportional odds assumption is violated: shifts between algorithms depend on the threshold, "
            f"LR χ²({model.proportional_df}) = {ratio}, {named_p(model.proportional_p)}. "
            "Interpret the observed shares instead."
        )
    if variable is not None:
        sentences.append(_against_means(model, variable, alpha))
    return sentences


def _significant_pairs(pairs: Iterable[Pair | ItemPair]) -> set[tuple[str, str]]:
    """The significant pairs, the larger location first."""
    return {(pair.a, pair.b) if pair.difference > 0 else (pair.b, pair.a) for pair in pairs if pair.is_significant}


def _against_means(model: OrdinalResult, variable: PerceivedVariable, alpha: float) -> str:
    order, welch, changes = variable.order, variable.welch, []
    if not isinstance(welch, Undefined) and (welch.p < alpha) != (model.p < alpha):
        verdict = "significant" if model.p < alpha else "not significant"
        changes.append(f"over all algorithms it is {verdict}, unlike Welch's analysis of variance")
    pairs = _significant_pairs(model.pairs.pairs)
    if lost := order.pairs - pairs:
        changes.append(f"it does not confirm {relation(order.sorted_pairs(lost))}")
    if gained := pairs - order.pairs:
        changes.append(f"it also finds {relation(order.sorted_pairs(gained))}")
    if not changes:
        neither = "Neither it nor Games-Howell finds a pair that differs."
        return "It finds the same pairs as Games-Howell." if pairs else neither
    return f"It differs from the tests of means: {'; '.join(changes)}."


def novelty(
    correlations: Sequence[CorrelatedVariables], without_overlap: NoveltyCorrelation | None, words: ItemWords
) -> str:
    """The orders of novelty without their overlap, and the plain correlation for replication."""
    pair = next((pair for pair in correlations if (pair.a, pair.b) == ("fon", "son")), None)
    if pair is None:
        return ""
    expected = None if without_overlap is None else without_overlap.r_if_independent
    number = "" if expected is None else f": independent answers at this study's rates give r = {coefficient(expected)}"
    plain = f"First- and second-order novelty: {_two_parts(pair)}. {PART_AND_WHOLE}{number}."
    if without_overlap is None:
        return plain
    omitted = ""
    if n := without_overlap.n_without:
        verb = "is" if n == 1 else "are"
        omitted = f" ({plural(n, 'participant')} who had {words.consumed} every item {verb} left out)"
    return (
        f"First-order novelty and the share unheard of among {words.other_items}: "
        f"{_two_parts(without_overlap)}{omitted}. {plain}"
    )


def _two_parts(pair: CorrelatedVariables | NoveltyCorrelation) -> str:
    parts = []
    for result, level in ((pair.within, "within algorithms"), (pair.between, "between the algorithms' means")):
        if isinstance(result, Undefined):
            reason = (result.reason[0].lower() + result.reason[1:]).removesuffix(".")
            parts.append(f"{level} there is no correlation coefficient ({reason})")
            continue
        ends = result.interval
        limits = f", 95% CI {interval(ends.low, ends.high, 2, True)}" if ends else ""
        parts.append(f"{level} r = {number(result.coefficient, 2, True)}{limits}")
    return "; ".join(parts)


def correlation_family(correlations: Sequence[CorrelatedVariables]) -> str:
    """That the correlations are one family; empty in reports that did not correct them."""
    if not any(pair.p_holm for pair in correlations):
        return ""
    return (
        "The correlations within algorithms, between their means and over all participants are one family: their p "
        "values are two-sided and corrected together by Holm."
    )


def opposite_correlations(correlations: Sequence[CorrelatedVariables], alpha: float) -> str:
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


def nested(model: ItemEffectsResult, variable: PerceivedVariable, alpha: float) -> list[str]:
    """Whether the differences hold with other participants and with other items from the same algorithms."""
    sentences = [
        f"Generalised to other participants and to other items from the same algorithms (items nested in algorithms), "
        f"{_generalised_difference(model, alpha)}. {_shares(model)}"
    ]
    order = variable.order
    if lost := order.pairs - _significant_pairs(model.pairs.pairs):
        sentences.append(
            "This model with Holm's correction does not confirm these of Games and Howell's pairs: "
            f"{relation(order.sorted_pairs(lost))}."
        )
    elif order.pairs:
        sentences.append(
            "This model with Holm's correction confirms every pair that Games-Howell orders in perceived accuracy."
        )
    return sentences


def _generalised_difference(model: ItemEffectsResult, alpha: float) -> str:
    if model.df_denominator is None:
        test = f"Wald χ²({model.df}) = {number(model.chi_squared)}, {named_p(model.p)} (large-sample)"
    else:
        test = f"{f_statistic(model.df, model.df_denominator, model.f)}, {named_p(model.p)}"
    if model.p < alpha:
        return f"the ratings of single items differed significantly between the algorithms, {test}"
    return f"we found no significant difference between the algorithms in the ratings of single items, {test}"


def _shares(model: ItemEffectsResult) -> str:
    return (
        f"Participants account for {percent(model.share_persons)} of the variance, items within algorithms for "
        f"{percent(model.share_items)}, and the residual for {percent(model.share_residual)}."
    )


# Tables


def _hedges_table(effects: Effects) -> Table:
    has_reasons = any(isinstance(pair.effect, Undefined) for pair in effects.hedges)
    reason = Words[PairEffect]("Reason", lambda pair: pair.effect.reason if isinstance(pair.effect, Undefined) else "")
    return table(
        f"{effects.key}-hedges",
        f"Effect sizes of all pairs, {in_text(effects.name)}",
        effects.hedges,
        *PAIR,
        Numbers("Hedges' g", lambda pair: cell_of(pair.effect, lambda effect: decimal(effect.g)), "perceived"),
        Numbers("95% CI", lambda pair: cell_of(pair.effect, lambda effect: limits(effect.interval))),
        *((reason,) if has_reasons else ()),
        note="g is the difference of means in pooled standard deviations of the two, corrected for bias (exact "
        "correction); limits by the noncentral t distribution, for each pair separately.",
        is_quiet=lambda pair: isinstance(pair.effect, Undefined),
    )


def _ordinal_table(effects: Effects, model: OrdinalResult) -> Table:
    return table(
        f"{effects.key}-ordinal",
        f"Ordinal model, {in_text(effects.name)}: every algorithm against {model.reference}",
        model.effects,
        Words("Algorithm", lambda shift: shift.condition),
        Numbers("Shift, log odds", lambda shift: decimal(shift.estimate), "perceived"),
        Numbers("SE", lambda shift: decimal(shift.se)),
        Numbers("95% CI", lambda shift: interval_cell(shift.ci_low, shift.ci_high)),
        Numbers("Odds ratio", lambda shift: decimal(shift.odds_ratio)),
        Numbers("p", lambda shift: probability(shift.p)),
        note="Cumulative logit model: an odds ratio of 2 doubles the odds of an answer above any step of the scale. "
        "p by Wald's test, not adjusted.",
    )


def _shares_table(effects: Effects, model: OrdinalResult) -> Table:
    columns: list[Numbers[str]] = []
    for index, category in enumerate(model.categories):
        predicted = {name: share_cell(shares[index]) for name, shares in model.shares.items()}
        observed = {name: share_cell(counts[index] / sum(counts)) for name, counts in model.counts.items()}
        columns.append(Numbers(f"{category:g}, predicted", predicted.__getitem__, "perceived"))
        columns.append(Numbers("observed", observed.__getitem__))
    return table(
        f"{effects.key}-ordinal-shares",
        f"Predicted and observed shares of each answer, {in_text(effects.name)}",
        (model.reference, *(shift.condition for shift in model.effects)),
        Words[str]("Algorithm", str),
        *columns,
    )


def _correlations_table(
    correlations: Sequence[CorrelatedVariables], novelty: NoveltyCorrelation | None, words: ItemWords
) -> Table:
    parts = {"within": "Within algorithms", "between": "Between the means of algorithms", "overall": "All participants"}
    pairs: list[tuple[str, CorrelatedVariables | NoveltyCorrelation]] = [
        (f"{first.name} and {second.in_text}", pair) for pair in correlations for first, second in (pair.variables,)
    ]
    if novelty is not None:
        pairs.insert(0, (f"First-order novelty and share unheard of among {words.other_items}", novelty))
    lines: list[tuple[str, str, CorrelationResult | Undefined, float | None]] = [
        (part, name, getattr(pair, key), getattr(pair.p_holm, key, None))
        for key, part in parts.items()
        for name, pair in pairs
    ]
    return table(
        "correlations",
        "Correlations of every pair of variables",
        lines,
        Words("Variables", lambda line: line[1]),
        Numbers("n", lambda line: cell_of(line[2], lambda result: whole(result.n))),
        Numbers("r", lambda line: cell_of(line[2], lambda result: decimal(result.coefficient, 2, True)), "perceived"),
        Numbers("95% CI", lambda line: cell_of(line[2], lambda result: limits(result.interval, 2, True))),
        Numbers("p", lambda line: cell_of(line[2], lambda result: probability(result.p))),
        Numbers("p, Holm", lambda line: probability(line[3])),
        note="Within: participants of the same algorithm, deviations from its mean. Between: one point per algorithm. "
        "All participants: both combined. Two-sided p; Holm's correction is over all rows. Intervals by Fisher's z; a "
        "dash where a variable does not vary.",
        group_name="Part",
        group=lambda line: line[0],
        is_quiet=lambda line: isinstance(line[2], Undefined),
    )


def _distribution(model: ItemEffectsResult) -> str:
    if model.df_denominator is None:
        return "the normal distribution"
    return "the t distribution with Satterthwaite's degrees of freedom"
