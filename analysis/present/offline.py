"""Differences between algorithms on the objective side."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.present.objective import length_name, slug
from analysis.present.words import (
    cell_of,
    decimal,
    length_words,
    limits,
    probability,
    ranks_cell,
    share_cell,
    whole,
)
from analysis.results.objective import MEANS, OfflineEffect, OfflineMetric, RepeatedMetric, Repeats
from analysis.results.report import Results
from documents.blocks import Section
from documents.numbers import capital, interval, number, percent, plural
from documents.tables import Numbers, Table, Words, table
from evaluation.reported_kinds import kind_name, kind_word
from inference.paired import SignEffect
from inference.results import Undefined


def effects_section(results: Results) -> Section:
    """Effect sizes of the sign tests of every pair."""
    section = Section("offline-effects", "Effect sizes by user", "objective")
    for measured in results.offline_effects:
        section.say(tied(measured, results.objective.n))
        section.put(effects_table(measured, is_by_user=results.objective.is_by_user), is_folded=True)
    return section


def repeats_section(results: Results) -> Section:
    """The run repeated with other splits and training seeds; nothing where it has no repetitions."""
    section = Section("repeats", "Repeated splits and training seeds", "objective")
    repetitions = results.repeats
    if repetitions is None:
        return section
    is_by_user = results.objective.is_by_user
    section.say(*repeats(results, repetitions))
    for measured in repetitions.metrics:
        is_folded = measured.kind != repetitions.metrics[0].kind or bool(measured.profile_length)
        section.put(repeats_table(repetitions, measured, is_by_user=is_by_user), is_folded=is_folded)
        section.put(repeated_effects_table(measured, is_by_user=is_by_user), is_folded=True)
    seeds = table(
        "repeats-seeds",
        "Seeds of the repetitions",
        enumerate(repetitions.seeds, start=1),
        Numbers("Repetition", lambda row: whole(row[0])),
        Words("Seed", lambda row: f"{row[1]}"),
    )
    section.put(seeds, is_folded=True)
    return section


# Sentences


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
        f"{interval(*limits, 2, True)}."
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
        f"Over all repetitions {metric} ranges from {number(values[low], 3, True)} ({low}) to "
        f"{number(values[high], 3, True)} ({high}); {result.same_ranking} of {n_repeats} repetitions have the ranking "
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


# Tables


def effects_table(measured: OfflineMetric, *, is_by_user: bool) -> Table | None:
    """Tied users, effect size and difference of every pair, by one metric of the run.

    `is_by_user`: values are means over users; else they pool the cases of all users.
    """
    return _effects_table(
        f"effects-{measured.kind}-{slug(measured.profile_length)}",
        f"Effect sizes of the sign tests on {kind_word(measured.kind)}, {length_name(measured.profile_length)}",
        measured.effects,
        kind_word(measured.kind),
        f"{_values(is_by_user)}, with limits for all pairs at once, clustered by user (single-step max-|t|)",
    )


def _values(is_by_user: bool) -> str:
    return MEANS if is_by_user else "pooled values"


def _effects_table(
    key: str, title: str, effects: Sequence[OfflineEffect], kind: str, differences: str, *more: Numbers[OfflineEffect]
) -> Table | None:
    """The table of effects; `differences` says of what they are and how their intervals were computed."""
    if not effects:
        return None
    return table(
        key,
        title,
        effects,
        Words("Algorithm A", lambda pair: pair.a),
        Words("Algorithm B", lambda pair: pair.b),
        Numbers("Tied users", lambda pair: share_cell(1.0 if isinstance(pair.effect, Undefined) else pair.effect.tied)),
        Numbers(
            f"Higher {kind} with A",
            lambda pair: cell_of(pair.effect, lambda effect: decimal(effect.superiority, 2, True)),
            "objective",
        ),
        Numbers("95% CI", lambda pair: cell_of(pair.effect, lambda effect: limits(effect.interval, 2, True))),
        Numbers(f"Difference in {kind}", lambda pair: decimal(pair.difference, 3, True), "objective"),
        Numbers("95% CI of the difference", lambda pair: limits(pair.interval, 3, True)),
        *more,
        note=f"Tied users: share of users with equal {kind} under both algorithms. Higher {kind} with A: share of the "
        "other users; .50 where neither algorithm is ahead; exact limits (Clopper and Pearson). The difference is that "
        f"of the {differences}.",
        is_quiet=lambda pair: isinstance(pair.effect, Undefined),
    )


def repeats_table(repeats: Repeats, measured: RepeatedMetric, *, is_by_user: bool) -> Table | None:
    """One metric over all repetitions; None where it is not pooled."""
    result = measured.result
    if isinstance(result, Undefined):
        return None
    sets = {} if isinstance(result.rank_sets, Undefined) else result.rank_sets.sets
    kind = kind_name(measured.kind)
    values = "Means over the users" if is_by_user else "Hits over cases"
    return table(
        f"repeats-{measured.kind}-{slug(measured.profile_length)}",
        f"{kind} over {repeats.n} repetitions, {length_name(measured.profile_length)}",
        result.rows,
        Words("Algorithm", lambda row: row.condition),
        Numbers(f"{kind}, this run", lambda row: decimal(row.by_repetition[0], 3, True), "objective"),
        Numbers("All repetitions", lambda row: decimal(row.pooled.value, 3, True), "objective"),
        Numbers("SE", lambda row: decimal(row.pooled.se, 3, True)),
        Numbers("95% CI", lambda row: limits(row.pooled.interval, 3, True)),
        Numbers("SE, users alone", lambda row: decimal(row.pooled.se_users, 3, True)),
        Numbers("SD of repetitions", lambda row: decimal(row.sd, 3, True)),
        Numbers("Ranks observed", lambda row: ranks_cell(row.ranks)),
        Numbers("Ranks, simultaneous confidence set", lambda row: cell_of(sets.get(row.condition), ranks_cell)),
        note=f"{result.n_users:,} users. {values} of all repetitions together. The standard error has users as "
        "clusters over all repetitions and repetitions as clusters over all users (Cameron, Gelbach and Miller, 2011); "
        "intervals by Student's t with Satterthwaite's degrees of freedom.",
    )


def repeated_effects_table(measured: RepeatedMetric, *, is_by_user: bool) -> Table | None:
    """Sign tests of users' values over all repetitions, with their effect sizes; None where there are none."""
    result = measured.result
    if isinstance(result, Undefined) or isinstance(result.sign_tests, Undefined):
        return None
    p_of = {(pair.a, pair.b): pair.p for pair in result.sign_tests.pairs}
    return _effects_table(
        f"repeats-signs-{measured.kind}-{slug(measured.profile_length)}",
        f"Sign tests on {kind_word(measured.kind)} by user over all repetitions, "
        f"{length_name(measured.profile_length)}",
        result.effects,
        kind_word(measured.kind),
        f"{_values(is_by_user)}, with limits for each pair separately, over users and repetitions (Student's t)",
        Numbers("p, Holm", lambda pair: probability(p_of[pair.a, pair.b])),
    )
