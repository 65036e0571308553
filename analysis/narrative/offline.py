"""Sentences about effect sizes by user, confidence sets of ranks, and repetitions."""

from __future__ import annotations

from analysis.narrative.words import length_words, plural
from analysis.results.offline import OfflineEffect, OfflineMetric, RepeatedMetric, Repeats
from analysis.results.report import Results
from analysis.tables.cells import bracketed, capital, percent, written
from evaluation.reported_kinds import kind_word
from inference.results import Undefined
from inference.sign_effects import SignEffect

MOST_NAMED = 4


def tied(measured: OfflineMetric, n: int) -> str:
    """The share of tied users, and the largest effect size of a significant or other pair."""
    return _tied(measured.effects, measured.metric(n).in_text, "")


def _tied(effects: tuple[OfflineEffect, ...], metric: str, when: str) -> str:
    known = [(pair, pair.effect) for pair in effects if isinstance(pair.effect, SignEffect)]
    if not known:
        return ""
    shares = [effect.tied for _pair, effect in known]
    low, high = percent(min(shares)), percent(max(shares))
    between = low if low == high else f"{low} to {high}"
    pair, effect = max(known, key=lambda entry: abs(entry[1].superiority - 0.5))
    ahead, behind, share, limits = pair.a, pair.b, effect.superiority, (effect.interval.low, effect.interval.high)
    if share < 0.5:
        ahead, behind, share, limits = pair.b, pair.a, 1 - share, (1 - limits[1], 1 - limits[0])
    return (
        f"{between} of the users have equal {metric} under both algorithms of a pair{when}. The largest effect among "
        f"the others: {percent(share)} have more with {ahead} than with {behind}, 95% CI "
        f"{bracketed(*limits, 2, True)}."
    )


def repeats(results: Results, repetitions: Repeats) -> list[str]:
    """How often the run was repeated, and how stable the rankings are."""
    n, n_repeats = results.objective.n, repetitions.n
    sentences = [
        f"The run was measured {n_repeats} times with other splits and training seeds, which include the run of this "
        "report. Intervals are for other users, splits and seeds of this dataset; repetitions share most of their "
        "ratings, so a dataset of other ratings may give other values."
    ]
    for measured in repetitions.metrics:
        sentences += _repeated(measured, n_repeats, n)
    return sentences


def _repeated(measured: RepeatedMetric, n_repeats: int, n: int) -> list[str]:
    metric, result = measured.metric(n).in_text, measured.result
    if isinstance(result, Undefined):
        return [f"{capital(metric)} is not pooled. {result.reason}"]
    values = {row.condition: row.pooled.value for row in result.rows}
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    sentences = [
        f"Over all repetitions {metric} ranges from {written(values[low], 3, True)} ({low}) to "
        f"{written(values[high], 3, True)} ({high}); {result.same_ranking} of {n_repeats} repetitions have the ranking "
        "of the run of this report."
    ]
    tests = result.sign_tests
    if not isinstance(tests, Undefined):
        significant = sum(pair.is_significant for pair in tests.pairs)
        sentences.append(
            f"Sign tests of users' {kind_word(measured.kind)} over all repetitions, "
            f"{length_words(measured.profile_length)}, found significant differences in {significant} of "
            f"{plural(len(tests.pairs), 'pair')} after Holm's correction."
        )
    sentences.append(_tied(result.effects, metric, " over all repetitions"))
    return sentences
