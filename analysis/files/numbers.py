"""The report's numbers that the package's scripts recompute: one per line, under the names that both scripts use."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import chain
from typing import Any

from analysis.enums import Metric
from analysis.results.comparison import Comparison, Equivalence, MatrixCell, PlannedContrast
from analysis.results.follow_up import CorrectedParts, CorrelatedVariables, NoveltyCorrelation, VariableEffects
from analysis.results.lists_shown import ListsShown
from analysis.results.objective import ProfileLength
from analysis.results.perceived import PerceivedVariable
from analysis.results.report import Results
from inference.agreement import MOST_PERMUTED
from inference.item_effects import ItemEffectsResult
from inference.ordinal import OrdinalResult
from inference.results import AgreementResult, Interval, PairwiseResult, Undefined
from studies.data.codebook.cells import cell

Line = tuple[str, str, str, str, str, float]
HEADS = ("of", "test", "a", "b", "statistic", "value")
DESCRIBED = ("n", "mean", "sd", "median", "q1", "q3", "ci_low", "ci_high")
DESCRIBED_LISTS = ("n", "mean", "sd", "ci_low", "ci_high")
PARTS = ("overall", "within", "between")  # of a correlation
F_TEST = ("f", "df_between", "df_within", "p")
PER_CONTRAST = ("t", "df", "p", "ci_low", "ci_high")
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
    for pair in results.correlations:
        if pair.p_holm is not None:
            yield from _of_correlation(pair.a, pair.b, pair, pair.p_holm)
    if results.novelty is not None:
        yield from _of_correlation("fon", "unheard_of_unwatched", results.novelty, results.novelty.p_holm)
    if results.lists_shown is not None:
        yield from _of_lists(results.lists_shown)
    if isinstance(results.nested, ItemEffectsResult):
        yield from _of_items(results.nested)
    for length in results.objective.lengths:
        for kind in results.objective.tested:
            yield from _of_metric(length, kind, Metric(kind, length.profile_length, results.objective.n).key)
    if results.advantage is not None and results.primary is not None:
        names = (results.primary.metric_key, "")
        statistics = ("value", "se", "df", "t", "p")
        yield from _statistics(
            results.primary.variable_key, "advantage", names, results.advantage.overall, statistics
        )  # fmt: skip
    if results.contrast is not None:
        yield from _of_contrast(results.contrast)
    if results.equivalence is not None:
        yield from _of_equivalence(results.equivalence)
    # The scripts enumerate the orders of up to eight algorithms; with more, only the coefficients are compared.
    cells = _other_cells(results)
    pairs: list[Comparison | MatrixCell] = [*results.comparisons, *cells]
    tested = [pair.tau for pair in pairs if isinstance(pair.tau, AgreementResult)]
    is_exact = all(tau.n <= MOST_PERMUTED for tau in tested)
    for comparison in results.comparisons:
        yield from _of_agreement(comparison, comparison.metric_key, is_exact)
    for each in cells:
        yield from _of_agreement(each, each.metric, is_exact)


def _statistics(
    key: str, test: str, names: tuple[str, str], result: Any, statistics: tuple[str, ...]
) -> Iterator[Line]:
    """The named fields of a result that have a value."""
    if not isinstance(result, Undefined):
        values = ((statistic, getattr(result, statistic)) for statistic in statistics)
        yield from ((key, test, *names, statistic, value) for statistic, value in values if value is not None)


def _of_variable(variable: PerceivedVariable) -> Iterator[Line]:
    key, nothing = variable.key, ("", "")
    for name in variable.conditions:
        if name in variable.described:
            yield from _statistics(key, "described", (name, ""), variable.described[name], DESCRIBED)
    yield from _statistics(key, "anova", nothing, variable.anova, (*F_TEST, "eta_squared"))
    yield from _statistics(key, "welch", nothing, variable.welch, F_TEST)
    yield from _statistics(key, "brown_forsythe", nothing, variable.brown_forsythe, F_TEST)
    yield from _statistics(key, "kruskal", nothing, variable.kruskal, ("h", "df", "p"))
    yield from _of_pairs(key, "tukey", variable.tests.tukey, ("difference", "p", "ci_low", "ci_high"))
    statistics = ("difference", "df", "p", "ci_low", "ci_high")
    yield from _of_pairs(key, "games_howell", variable.tests.games_howell, statistics)
    yield from _of_pairs(key, "dunn", variable.tests.dunn_holm, ("difference", "p"))


def _of_effects(effects: VariableEffects) -> Iterator[Line]:
    key = effects.key
    for pair in effects.hedges:
        if not isinstance(pair.effect, Undefined):
            yield key, "hedges", pair.a, pair.b, "g", pair.effect.g
            yield from _limits((key, "hedges", pair.a, pair.b), pair.effect.interval)
    if isinstance(effects.ordinal, OrdinalResult):
        yield from _statistics(key, "ordinal", ("", ""), effects.ordinal, ("log_likelihood",))
        for effect in effects.ordinal.effects:
            yield from _statistics(key, "ordinal", (effect.condition, ""), effect, ("estimate", "se"))
        yield from _of_pairs(key, "ordinal_pair", effects.ordinal.pairs, ("difference", "p"))


def _limits(names: tuple[str, str, str, str], interval: Interval | None) -> Iterator[Line]:
    if interval is not None:
        yield *names, "ci_low", interval.low
        yield *names, "ci_high", interval.high


def _of_correlation(
    a: str, b: str, correlated: CorrelatedVariables | NoveltyCorrelation, corrected: CorrectedParts
) -> Iterator[Line]:
    for part in PARTS:
        result, p = getattr(correlated, part), getattr(corrected, part)
        test = f"correlation_{part}"
        yield from _statistics(a, test, (b, ""), result, ("coefficient", "p"))
        if not isinstance(result, Undefined):
            yield from _limits((a, test, b, ""), result.interval)
            if p is not None:
                yield a, test, b, "", "p_holm", p


def _of_lists(lists: ListsShown) -> Iterator[Line]:
    """Metrics of the lists by condition, and their correlations; p of τ_b and corrected p as far as orders are few."""
    for measured in lists.metrics:
        for row in measured.conditions:
            if row.n:
                names = (row.condition, "")
                yield from _statistics(f"list.{measured.metric}", "described", names, row, DESCRIBED_LISTS)
    tested = [pair.between for pair in lists.correlations if isinstance(pair.between, AgreementResult)]
    is_exact = all(tau.n <= MOST_PERMUTED for tau in tested)
    for pair in lists.correlations:
        key, metric = pair.variable_key, f"list.{pair.metric}"
        yield from _statistics(key, "correlation_within", (metric, ""), pair.within, ("coefficient", "p"))
        if not isinstance(pair.within, Undefined):
            yield from _limits((key, "correlation_within", metric, ""), pair.within.interval)
        yield from _statistics(
            key, "tau_b", (metric, ""), pair.between, ("coefficient", "p") if is_exact else ("coefficient",)
        )
        for test, p_holm in (("correlation_within", pair.p_holm_within), ("tau_b", pair.p_holm_between)):
            if is_exact and p_holm is not None:
                yield key, test, metric, "", "p_holm", p_holm


def _of_items(model: ItemEffectsResult) -> Iterator[Line]:
    sds = ("log_likelihood", "sd_persons", "sd_items", "sd_residual")
    yield from _statistics("accuracy", "nested", ("", ""), model, sds)
    for condition in model.conditions:
        yield from _statistics("accuracy", "nested", (condition.condition, ""), condition, ("mean", "se"))


def _of_contrast(contrast: PlannedContrast) -> Iterator[Line]:
    key, result, nothing = contrast.variable_key, contrast.test.result, ("", "")
    if isinstance(result, Undefined):
        return
    yield from _statistics(key, "contrast", nothing, result, ("difference",))
    yield from _statistics(key, "contrast", nothing, result.pooled, PER_CONTRAST)
    if result.welch is not None:
        yield from _statistics(key, "contrast_welch", nothing, result.welch, PER_CONTRAST)


def _of_equivalence(tested: Equivalence) -> Iterator[Line]:
    key, result = tested.variable_key, tested.result
    if isinstance(result, Undefined):
        return
    for pair in result.pairs:
        names = (key, "equivalence", pair.a, pair.b)
        if not isinstance(pair.test, Undefined):
            yield from _limits(names, pair.test.interval)
        yield from _statistics(key, "equivalence", (pair.a, pair.b), pair, ("p_equivalence", "p_minimum"))
    if tested.contrast is not None:
        yield from _statistics(key, "equivalence", ("", ""), tested.contrast, ("p_equivalence", "p_minimum"))


def _of_metric(length: ProfileLength, kind: str, key: str) -> Iterator[Line]:
    for name, value in length.defined_values(kind).items():
        yield key, "value", name, "", kind, value
    yield from _of_pairs(key, "sign_test", length.tests(kind).sign_tests, PER_SIGN_TEST)


def _of_pairs(key: str, test: str, tests: PairwiseResult | Undefined, statistics: tuple[str, ...]) -> Iterator[Line]:
    if isinstance(tests, Undefined):
        return
    for pair in tests.pairs:
        if pair.p is not None:
            yield from _statistics(key, test, (pair.a, pair.b), pair, statistics)


def _other_cells(results: Results) -> list[MatrixCell]:
    """The cells of the matrix whose metrics have no comparison of their own."""
    if results.matrix is None:
        return []
    compared = {comparison.metric_key for comparison in results.comparisons}
    return [pair for pair in results.matrix.cells if pair.metric not in compared]


def _of_agreement(pair: Comparison | MatrixCell, metric: str, is_exact: bool) -> Iterator[Line]:
    if isinstance(pair.tau, Undefined):
        return
    names = (pair.variable_key, "tau_b", metric, "")
    statistics = ("coefficient", "p") if is_exact else ("coefficient",)
    yield from _statistics(*names[:2], names[2:], pair.tau, statistics)
