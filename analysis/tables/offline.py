"""Tables of effect sizes by user, and repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.results.objective import MEANS
from analysis.results.offline import OfflineEffect, OfflineMetric, PooledMetric, RepeatedMetric, Repeats
from analysis.tables.cells import MISSING, decimal, interval, probability, ranks_cell, share_cell, whole
from analysis.tables.objective import length_name
from documents.tables import Cell, Column, Row, Table, text
from evaluation.reported_kinds import kind_name, kind_word
from inference.results import Undefined
from inference.sign_effects import SignEffect

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
                MISSING if pair.interval is None else interval(pair.interval.low, pair.interval.high, 3, True),
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
        interval(limits.low, limits.high, 2, True),
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
                interval(row.pooled.interval.low, row.pooled.interval.high, 3, True),
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
