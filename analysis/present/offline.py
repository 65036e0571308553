"""Differences between algorithms on the objective side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.present.objective import length_name
from analysis.present.words import (
    MISSING,
    decimal,
    interval_cell,
    length_words,
    probability,
    ranks_cell,
    share_cell,
    whole,
)
from analysis.results.objective import MEANS
from analysis.results.offline import OfflineEffect, OfflineMetric, PooledMetric, RepeatedMetric, Repeats
from analysis.results.report import Results
from documents.blocks import Section
from documents.numbers import capital, interval, number, percent, plural
from documents.tables import Cell, Column, Row, Table, text
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
    for sentence in repeats(results, repetitions):
        section.say(sentence)
    for measured in repetitions.metrics:
        is_folded = measured.kind != repetitions.metrics[0].kind or bool(measured.profile_length)
        section.put(repeats_table(repetitions, measured, is_by_user=is_by_user), is_folded=is_folded)
        section.put(repeated_effects_table(measured, is_by_user=is_by_user), is_folded=True)
    section.put(seeds_table(repetitions), is_folded=True)
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


NO_EFFECT = (MISSING, MISSING)


def effects_table(measured: OfflineMetric, *, is_by_user: bool = False) -> Table | None:
    """Tied users, effect size and difference of every pair, by one metric of the run.

    `is_by_user`: values are means over users; else they pool the cases of all users.
    """
    heading = _Heading(
        key=f"effects-{measured.kind}-{_slug(measured.profile_length)}",
        title=f"Effect sizes of the sign tests on {kind_word(measured.kind)}, {length_name(measured.profile_length)}",
        kind=kind_word(measured.kind),
        method="for all pairs at once, clustered by user (single-step max-|t|)",
        values=_values(is_by_user),
    )
    return _effects_table(measured.effects, heading)


def _slug(profile_length: int) -> str:
    return f"profile-{profile_length}" if profile_length else "whole"


@dataclass(frozen=True, kw_only=True)
class _Heading:
    """What heads a table of effects, and how its intervals of differences were computed."""

    key: str
    title: str
    kind: str
    method: str
    values: str


def _values(is_by_user: bool) -> str:
    return MEANS if is_by_user else "pooled values"


def _effects_table(
    effects: Sequence[OfflineEffect], heading: _Heading, p: Mapping[tuple[str, str], Cell] | None = None
) -> Table | None:
    if not effects:
        return None
    kind = heading.kind
    rows = tuple(
        Row(
            (
                text(pair.a),
                text(pair.b),
                *_effect_cells(pair.effect),
                decimal(pair.difference, 3, True),
                MISSING if pair.interval is None else interval_cell(pair.interval.low, pair.interval.high, 3, True),
                *(() if p is None else (p[pair.a, pair.b],)),
            ),
            is_quiet=isinstance(pair.effect, Undefined),
        )
        for pair in effects
    )
    columns = (
        Column("Algorithm A"), Column("Algorithm B"), Column("Tied users", True),
        Column(f"Higher {kind} with A", True, "objective"), Column("95% CI", True),
        Column(f"Difference in {kind}", True, "objective"), Column("95% CI of the difference", True),
        *(() if p is None else (Column("p, Holm", True),)),
    )  # fmt: skip
    return Table(
        heading.key,
        heading.title,
        columns,
        rows,
        f"Tied users: share of users with equal {kind} under both algorithms. Higher {kind} with A: share of the other "
        "users; .50 where neither algorithm is ahead; exact limits (Clopper and Pearson). The difference is that of "
        f"the {heading.values}, with limits {heading.method}.",
    )


def _effect_cells(effect: SignEffect | Undefined) -> tuple[Cell, ...]:
    if isinstance(effect, Undefined):
        return (share_cell(1.0), *NO_EFFECT)
    limits = effect.interval
    return (
        share_cell(effect.tied),
        decimal(effect.superiority, 2, True),
        interval_cell(limits.low, limits.high, 2, True),
    )


def repeats_table(repeats: Repeats, measured: RepeatedMetric, *, is_by_user: bool = False) -> Table | None:
    """One metric over all repetitions; None where it is not pooled."""
    result = measured.result
    if isinstance(result, Undefined):
        return None
    sets = {} if isinstance(result.rank_sets, Undefined) else result.rank_sets.sets
    rows = tuple(
        Row(
            (
                text(row.condition),
                decimal(row.by_repetition[0], 3, True),
                decimal(row.pooled.value, 3, True),
                decimal(row.pooled.se, 3, True),
                interval_cell(row.pooled.interval.low, row.pooled.interval.high, 3, True),
                decimal(row.pooled.se_users, 3, True),
                decimal(row.sd, 3, True),
                ranks_cell(row.ranks),
                ranks_cell(sets[row.condition]) if row.condition in sets else MISSING,
            )
        )
        for row in result.rows
    )
    kind = kind_name(measured.kind)
    together = "Hits over cases of all repetitions together."
    if is_by_user:
        together = "Means over the users of all repetitions together."
    columns = (
        Column("Algorithm"), Column(f"{kind}, this run", True, "objective"),
        Column("All repetitions", True, "objective"), Column("SE", True), Column("95% CI", True),
        Column("SE, users alone", True), Column("SD of repetitions", True), Column("Ranks observed", True),
        Column("Ranks, simultaneous confidence set", True),
    )  # fmt: skip
    return Table(
        f"repeats-{measured.kind}-{_slug(measured.profile_length)}",
        f"{kind} over {repeats.n} repetitions, {length_name(measured.profile_length)}",
        columns,
        rows,
        f"{result.n_users:,} users. {together} The standard error has users as "
        "clusters over all repetitions and repetitions as clusters over all users (Cameron, Gelbach and Miller, 2011); "
        "intervals by Student's t with Satterthwaite's degrees of freedom.",
    )


def repeated_effects_table(measured: RepeatedMetric, *, is_by_user: bool = False) -> Table | None:
    """Sign tests of users' values over all repetitions, with their effect sizes; None where there are none."""
    result = measured.result
    if isinstance(result, Undefined) or isinstance(result.sign_tests, Undefined):
        return None
    heading = _Heading(
        key=f"repeats-signs-{measured.kind}-{_slug(measured.profile_length)}",
        title=f"Sign tests on {kind_word(measured.kind)} by user over all repetitions, "
        f"{length_name(measured.profile_length)}",
        kind=kind_word(measured.kind),
        method="for each pair separately, over users and repetitions (Student's t)",
        values=_values(is_by_user),
    )
    return _effects_table(result.effects, heading, _holm_cells(result))


def _holm_cells(result: PooledMetric) -> dict[tuple[str, str], Cell]:
    tests = result.sign_tests
    return {} if isinstance(tests, Undefined) else {(pair.a, pair.b): probability(pair.p) for pair in tests.pairs}


def seeds_table(repeats: Repeats) -> Table:
    """The seed of every repetition."""
    rows = tuple(Row((whole(number), text(f"{seed}"))) for number, seed in enumerate(repeats.seeds, start=1))
    return Table("repeats-seeds", "Seeds of the repetitions", (Column("Repetition", True), Column("Seed")), rows)
