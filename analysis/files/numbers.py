"""The report's numbers that the package's scripts recompute: one per line, under the names that both scripts use."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import chain
from typing import Any

from analysis.enums import Metric
from analysis.results.choices import ComparedShares
from analysis.results.comparison import Comparison, Equivalence, MatrixCell, PlannedContrast
from analysis.results.factorial import Factorial
from analysis.results.follow_up import CorrelatedVariables, NoveltyCorrelation, VariableEffects
from analysis.results.lists_shown import Dose, ListsShown
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from analysis.results.side_by_side import Preference
from inference.agreement import MOST_PERMUTED, SAMPLED
from inference.item_effects import ItemEffectsResult
from inference.ordinal import OrdinalResult
from inference.paired import SignEffect
from inference.results import AgreementResult, PairwiseResult, Undefined
from inference.sequences import WithinResult
from studies.data.codebook.cells import cell

Names = tuple[str, str, str, str]  # what is tested, the test, and the conditions
Line = tuple[str, str, str, str, str, float]
HEADS = ("of", "test", "a", "b", "statistic", "value")
LIMITS = ("ci_low", "ci_high")
DESCRIBED = ("n", "mean", "sd", "median", "q1", "q3", *LIMITS)
TAU = ("coefficient", "p")
PARTS = ("overall", "within", "between")  # of a correlation
F_TEST = ("f", "df_between", "df_within", "p")
PER_CONTRAST = ("t", "df", "p", *LIMITS)
PER_EFFECT = ("value", "se", "df", "t", "p", *LIMITS)
REPEATED = ("n", "f", "df", "df_within", "p", "epsilon", "p_corrected", "partial_eta_squared")
PER_SIGN_TEST = ("n_a", "n_b", "n_ties", "p_unadjusted", "p")


def numbers_csv(results: Results) -> str:
    """Every such number with all its digits; what has no value has no line."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADS)
    for of, test, a, b, statistic, value in lines_of(results):
        writer.writerow([of, test, cell(a), cell(b), statistic, value])
    return stream.getvalue()


def lines_of(results: Results) -> Iterator[Line]:
    """The lines of the file: variables, correlations, items, metrics, planned contrast, rank correlations."""
    yield from chain.from_iterable(map(_of_variable, results.variables))
    yield from chain.from_iterable(map(_of_effects, results.effects))
    yield from chain.from_iterable(map(_of_shares, results.shares))
    for pair in results.correlations:
        if pair.p_holm is not None:
            yield from _of_correlation(pair.a, pair.b, pair)
    if results.novelty is not None:
        yield from _of_correlation("fon", "unheard_of_unwatched", results.novelty)
    if results.lists_shown is not None:
        yield from _of_lists(results.lists_shown)
    yield from chain.from_iterable(map(_of_dose, results.doses))
    if isinstance(results.nested, ItemEffectsResult):
        sds = ("log_likelihood", "sd_persons", "sd_items", "sd_residual")
        yield from _statistics(("accuracy", "nested", "", ""), results.nested, sds)
        for condition in results.nested.conditions:
            yield from _statistics(("accuracy", "nested", condition.condition, ""), condition, ("mean", "se"))
    for length in results.objective.lengths:
        for kind in results.objective.tested:
            key = Metric(kind, length.profile_length, results.objective.n).key
            for name, value in length.defined_values(kind).items():
                yield key, "value", name, "", kind, value
            yield from _of_pairs(key, "sign_test", length.tests(kind).sign_tests, PER_SIGN_TEST)
            for name, (low, high) in length.bounds.get(kind, {}).items():
                yield key, "bounds", name, "", "low", low
                yield key, "bounds", name, "", "high", high
        for name, coverage in length.coverage.items():
            of_lists = Metric("lists", length.profile_length, results.objective.n).key
            yield from _statistics((of_lists, "coverage", name, ""), coverage, ("profiles", "cases", "items"))
    if results.advantage is not None and results.primary is not None:
        test = "advantage" if not results.is_in_turn else "mixed_contrast"
        names = (results.primary.variable_key, test, results.primary.metric_key, "")
        yield from _statistics(names, results.advantage.overall, ("value", "se", "df", "t", "p"))
    if results.contrast is not None:
        yield from _of_contrast(results.contrast, is_in_turn=results.is_in_turn)
    if results.factorial is not None:
        yield from _of_factors(results.factorial, "mixed_contrast" if results.is_in_turn else "effect")
    if results.equivalence is not None:
        yield from _of_equivalence(results.equivalence, "mixed_equivalence" if results.is_in_turn else "equivalence")
    yield from chain.from_iterable(map(_of_preference, results.preferences))
    # The scripts enumerate the orders of up to eight algorithms; with more, only the coefficients are compared.
    cells = _other_cells(results)
    pairs: list[Comparison | MatrixCell] = [*results.comparisons, *cells]
    tested = [pair.tau for pair in pairs if isinstance(pair.tau, AgreementResult)]
    is_exact = all(tau.n <= MOST_PERMUTED for tau in tested)
    for comparison in results.comparisons:
        names = (comparison.variable_key, "tau_b", comparison.metric_key, "")
        yield from _statistics(names, comparison.tau, TAU if is_exact else TAU[:1])
    for each in cells:
        yield from _statistics((each.variable_key, "tau_b", each.metric, ""), each.tau, TAU if is_exact else TAU[:1])


def _statistics(names: Names, result: Any, statistics: tuple[str, ...]) -> Iterator[Line]:
    """The named fields of a result that have a value; the limits may be those of its interval."""
    if isinstance(result, Undefined):
        return
    for statistic in statistics:
        has_own = statistic not in LIMITS or hasattr(result, statistic)
        value = getattr(result, statistic) if has_own else getattr(result.interval, statistic[3:], None)
        if value is not None:
            yield *names, statistic, value


def _of_variable(variable: PerceivedVariable) -> Iterator[Line]:
    key = variable.key
    for name in variable.conditions:
        if name in variable.described:
            yield from _statistics((key, "described", name, ""), variable.described[name], DESCRIBED)
    yield from _statistics((key, "anova", "", ""), variable.anova, (*F_TEST, "eta_squared"))
    yield from _statistics((key, "welch", "", ""), variable.welch, F_TEST)
    yield from _statistics((key, "brown_forsythe", "", ""), variable.brown_forsythe, F_TEST)
    yield from _statistics((key, "kruskal", "", ""), variable.kruskal, ("h", "df", "p"))
    yield from _of_pairs(key, "tukey", variable.tests.tukey, ("difference", "p", *LIMITS))
    yield from _of_pairs(key, "games_howell", variable.tests.games_howell, ("difference", "df", "p", *LIMITS))
    yield from _of_pairs(key, "dunn", variable.tests.dunn_holm, ("difference", "p"))
    if variable.in_turn is None:
        return
    model = variable.in_turn.model
    yield from _statistics((key, "repeated_measures", "", ""), variable.in_turn.repeated, REPEATED)
    yield from _statistics((key, "friedman", "", ""), variable.in_turn.friedman, ("chi_squared", "df", "p"))
    yield from _of_pairs(key, "nemenyi", variable.in_turn.nemenyi, ("difference", "p"))
    if isinstance(model, WithinResult):
        yield from _statistics((key, "mixed", "", ""), model, ("log_likelihood", "sd_participants", "sd_residual"))
        yield from _statistics((key, "mixed", "", ""), model.test, F_TEST)
        for mean in model.means:
            yield from _statistics((key, "mixed", mean.condition, ""), mean, ("adjusted", "se"))
        yield from _of_pairs(key, "mixed_pair", model.pairs, ("difference", "se", "df", "p", *LIMITS))


def _of_shares(compared: ComparedShares) -> Iterator[Line]:
    key, result = compared.variable_key, compared.result
    if isinstance(result, Undefined):
        return
    # The scripts draw no tables at random.
    statistics = ("statistic", "df", "df_within", "p") if result.method != SAMPLED else ("statistic", "df")
    yield from _statistics((key, "shares", "", ""), result, statistics)
    if result.method != SAMPLED:
        yield from _of_pairs(key, "shares_pair", result.pairs, ("difference", "p", *LIMITS))


def _of_effects(effects: VariableEffects) -> Iterator[Line]:
    key = effects.key
    for pair in effects.hedges:
        yield from _statistics((key, "hedges", pair.a, pair.b), pair.effect, ("g", *LIMITS))
    if isinstance(effects.ordinal, OrdinalResult):
        yield from _statistics((key, "ordinal", "", ""), effects.ordinal, ("log_likelihood",))
        for effect in effects.ordinal.effects:
            yield from _statistics((key, "ordinal", effect.condition, ""), effect, ("estimate", "se"))
        yield from _of_pairs(key, "ordinal_pair", effects.ordinal.pairs, ("difference", "p"))


def _of_correlation(a: str, b: str, correlated: CorrelatedVariables | NoveltyCorrelation) -> Iterator[Line]:
    for part in PARTS:
        names = (a, f"correlation_{part}", b, "")
        yield from _statistics(names, getattr(correlated, part), ("coefficient", "p", *LIMITS))
        if (p := getattr(correlated.p_holm, part)) is not None:
            yield *names, "p_holm", p


def _of_lists(lists: ListsShown) -> Iterator[Line]:
    """Metrics of the lists by condition, and their correlations; p of τ_b and corrected p as far as orders are few."""
    for measured in lists.metrics:
        for row in measured.conditions:
            if row.n:
                names = (f"list.{measured.metric}", "described", row.condition, "")
                yield from _statistics(names, row, ("n", "mean", "sd", *LIMITS))
    tested = [pair.between for pair in lists.correlations if isinstance(pair.between, AgreementResult)]
    is_exact = all(tau.n <= MOST_PERMUTED for tau in tested)
    for pair in lists.correlations:
        within, tau = ((pair.variable_key, test, f"list.{pair.metric}", "") for test in ("correlation_within", "tau_b"))
        yield from _statistics(within, pair.within, ("coefficient", "p", *LIMITS))
        yield from _statistics(tau, pair.between, TAU if is_exact else TAU[:1])
        for names, p_holm in ((within, pair.p_holm_within), (tau, pair.p_holm_between)):
            if is_exact and p_holm is not None:
                yield *names, "p_holm", p_holm


def _of_dose(dose: Dose) -> Iterator[Line]:
    """The differences between a re-ranked condition's lists and those of its base, in standard deviations."""
    for change in dose.changes:
        if change.in_sd is not None:
            yield f"list.{change.metric}", "dose", dose.condition, dose.base, "difference_sd", change.in_sd


def _of_contrast(contrast: PlannedContrast, *, is_in_turn: bool) -> Iterator[Line]:
    key, result = contrast.variable_key, contrast.test.result
    if is_in_turn and not isinstance(result, Undefined):
        names = (key, "mixed_contrast", "planned", "")
        yield *names, "value", result.difference
        yield from _statistics(names, result.pooled, ("se", "df", "t", "p"))
        return
    if not isinstance(result, Undefined):
        yield from _statistics((key, "contrast", "", ""), result, ("difference",))
        yield from _statistics((key, "contrast", "", ""), result.pooled, PER_CONTRAST)
        if result.welch is not None:
            yield from _statistics((key, "contrast_welch", "", ""), result.welch, PER_CONTRAST)


def _of_factors(effects: Factorial, test: str) -> Iterator[Line]:
    """Contrasts, marginal means and the joint test of each term; of a trend the departure from a straight line."""
    for of, name, contrast in effects.weighted:
        yield from _statistics((of.variable_key, test, name, ""), contrast, PER_EFFECT)
    for of in effects.variables:
        for name, term in of.terms.items():
            yield from _statistics((of.variable_key, "joint", name, ""), term.joint, ("f", "df", "df_within", "p"))


def _of_preference(preference: Preference) -> Iterator[Line]:
    key, model = preference.variable_key, preference.model
    for pair in preference.pairs:
        if isinstance(pair.effect, SignEffect):
            names = (key, "preference", pair.a, pair.b)
            yield from _statistics(names, pair, ("n_a", "n_b"))
            yield *names, "n_ties", pair.steps[2]
            yield *names, "share", pair.effect.superiority
            yield from _statistics(names, pair.effect, LIMITS)
    if model is None:
        yield from _of_pairs(key, "sign", preference.tests, ("difference", "p"))
        return
    for name, worth in model.worths.items():
        yield key, "davidson", name, "", "worth", worth
    yield from _of_pairs(key, "davidson_pair", preference.tests, ("difference", "p", *LIMITS))
    yield from _statistics((key, "davidson", "", ""), model.test, ("f", "df", "df_within", "p"))
    yield from _statistics((key, "davidson_side", "", ""), model.side, ("value", "se", "df", "p", *LIMITS))


def _of_equivalence(tested: Equivalence, test: str) -> Iterator[Line]:
    key, families = tested.variable_key, ("p_equivalence", "p_minimum")
    if isinstance(tested.result, Undefined):
        return
    for pair in tested.result.pairs:
        names = (key, test, pair.a, pair.b)
        yield from _statistics(names, pair.test, LIMITS)
        yield from _statistics(names, pair, families)
    if tested.contrast is not None:
        yield from _statistics((key, test, "", ""), tested.contrast, families)


def _of_pairs(key: str, test: str, tests: PairwiseResult | Undefined, statistics: tuple[str, ...]) -> Iterator[Line]:
    for pair in () if isinstance(tests, Undefined) else tests.pairs:
        if pair.p is not None:
            yield from _statistics((key, test, pair.a, pair.b), pair, statistics)


def _other_cells(results: Results) -> list[MatrixCell]:
    """The cells of the matrix whose metrics have no comparison of their own."""
    if results.matrix is None:
        return []
    compared = {comparison.metric_key for comparison in results.comparisons}
    return [pair for pair in results.matrix.cells if pair.metric not in compared]
