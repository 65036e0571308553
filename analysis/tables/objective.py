"""Tables of what a run measured."""

from __future__ import annotations

from analysis.results.objective import KINDS, ObjectiveSide, ProfileLength
from analysis.tables.cells import MISSING, decimal, interval, listed, probability, share_cell, whole
from analysis.tables.orders import dominance_cells, tiered_names
from documents.tables import Cell, Column, Row, Table, text
from evaluation.reported_kinds import ERRORS, HITS, kind_name, kind_word
from evaluation.tables import POOLED
from inference.results import Undefined

POOLED_NOTE = (
    f"Values are {POOLED}: a user with many cases has more weight. "
    "Precision after Raghavan, Bollmann and Jung: where most cases are relevant it is close to 1 and F is close to "
    "recall, so comparisons count the two as one metric."
)


ERRORS_NOTE = (
    "Values are means over the users for whom every algorithm with a value predicts ratings, in rating points; lower "
    "is better. In the run's own table every rating has the same weight. An algorithm without predictions has no value."
)


def length_name(length: int) -> str:
    """A profile length in a heading."""
    return f"{length} ratings" if length else "whole profiles"


def _suffix(length: ProfileLength) -> str:
    return f", {length_name(length.profile_length)}" if length.profile_length else ""


def _header(kind: str, length: ProfileLength) -> str:
    """A metric with the length of the profiles and what is averaged."""
    return f"{kind_name(kind)}{_suffix(length)}, {length.averaged}"


def _slug(length: ProfileLength) -> str:
    return f"profile-{length.profile_length}" if length.profile_length else "whole"


def table_2(objective: ObjectiveSide) -> Table:
    """Table 2: recall, fallout, precision and F, or errors, of each algorithm at every profile length."""
    columns = [Column("Algorithm")]
    for length in objective.lengths:
        columns += [Column(_header(kind, length), True, "objective") for kind in objective.kinds]
    rows = []
    for lines in zip(*(length.table for length in objective.lengths), strict=True):
        cells = [_value(line.value(kind), kind) for line in lines for kind in objective.kinds]
        rows.append(Row((text(lines[0].condition), *cells)))
    return Table(
        "table-2",
        "Table 2. Objective measures"
        if objective.kinds == ERRORS
        else f"Table 2. Objective measures at N = {objective.n}",
        tuple(columns),
        tuple(rows),
        _means_note(objective) if objective.is_by_user else POOLED_NOTE,
    )


def _value(value: float | None, kind: str) -> Cell:
    return decimal(value, 3, is_share=kind not in ERRORS)


def _means_note(objective: ObjectiveSide) -> str:
    if objective.kinds == ERRORS:
        return ERRORS_NOTE
    measured = [kind for kind in KINDS if any(length.defined_values(kind) for length in objective.lengths)]
    missing = [kind_name(kind) for kind in KINDS if kind not in measured and kind not in HITS]
    note = (
        "Values are means over users: each user with a relevant case has the same weight. Recall is the share of the "
        "user's relevant cases in the list, precision the share of the list that is relevant cases; unrated items "
        "count as not relevant."
    )
    return f"{note} The run did not measure {listed(missing)}." if missing else note


def intervals_table(length: ProfileLength) -> Table:
    """Values at one profile length with their bootstrap intervals."""
    columns = [Column("Algorithm")]
    kinds = ERRORS if length.errors else KINDS
    for kind in kinds:
        columns += [Column(f"{kind_name(kind)}, {length.averaged}", True, "objective"), Column("95% CI", True)]
    rows = []
    for line in length.table:
        cells = [text(line.condition)]
        for kind in kinds:
            low, high = line.intervals[kind] or (None, None)
            cells += [_value(line.value(kind), kind), interval(low, high, 3, is_share=kind not in ERRORS)]
        rows.append(Row(tuple(cells)))
    return Table(
        f"objective-{_slug(length)}",
        f"Objective measures with intervals, {length_name(length.profile_length)}",
        tuple(columns),
        tuple(rows),
        f"Values are {length.aggregation}. Percentile intervals over resampled users"
        f"{'.' if length.is_by_user else '; the share of relevant cases in precision is fixed.'}",
    )


def served_table(objective: ObjectiveSide) -> Table | None:
    """Recall and fallout of the lists as participants saw them; None where the run has none."""
    lengths = [length for length in objective.lengths if length.served]
    if not lengths:
        return None
    columns = [Column("Algorithm")]
    rows: dict[str, list[Cell]] = {name: [text(name)] for name in lengths[0].conditions}
    for length in lengths:
        suffix = _suffix(length)
        for kind in HITS:
            if kind not in length.served:
                continue
            columns += [
                Column(_header(kind, length), True, "objective"),
                Column(f"as served{suffix}", True, "objective"),
            ]
            values = length.values(kind)
            for name, cells in rows.items():
                cells.append(decimal(values[name], 3, is_share=True))
                cells.append(decimal(length.served[kind][name], 3, is_share=True))
        if "filled" in length.served:
            columns.append(Column(f"Slots filled{suffix}", True))
            for name, cells in rows.items():
                cells.append(share_cell(length.served["filled"][name]))
    return Table(
        "as-served",
        "The same lists as they are served",
        tuple(columns),
        tuple(Row(tuple(cells)) for cells in rows.values()),
        "The protocol breaks ties of equal scores at random; served lists have a fixed order, and slots without a "
        "score are filled by popularity.",
    )


def curve_table(length: ProfileLength, kind: str) -> Table:
    """Values at every N."""
    lines = length.by_n[kind]
    n_values = max((len(line) for line in lines.values()), default=0)
    columns = (Column("Algorithm"), *(Column(str(n), True) for n in range(1, n_values + 1)))
    rows = tuple(
        Row((text(name), *(decimal(value, 3, is_share=True) for value in lines[name]))) for name in length.conditions
    )
    return Table(f"{kind}-by-n-{_slug(length)}", f"{kind_name(kind)} at every N, {length.averaged}", columns, rows)


def signs_table(length: ProfileLength, kind: str) -> Table | None:
    """Sign tests between every pair of algorithms; None where there is none."""
    tests = length.tests(kind)
    if isinstance(tests.sign_tests, Undefined):
        return None
    rows = tuple(
        Row(
            (
                text(pair.a),
                text(pair.b),
                whole(pair.n_a),
                whole(pair.n_b),
                whole(pair.n_ties),
                probability(pair.p_unadjusted),
                probability(pair.p),
            ),
            is_quiet=not pair.is_significant,
        )
        for pair in tests.sign_tests.pairs
    )
    with_cases = "" if length.is_by_user else f" with {tests.n_cases:,} cases"
    more = "more fallout for" if kind == "fallout" else "larger error for" if kind in ERRORS else "better served by"
    columns = (
        Column("Algorithm A"), Column("Algorithm B"), Column(f"Users {more} A", True, "objective"),
        Column(f"Users {more} B", True, "objective"), Column("Ties", True), Column("p, two-sided", True),
        Column("p, Holm", True),
    )  # fmt: skip
    return Table(
        f"signs-{kind}-{_slug(length)}",
        f"Sign tests on {kind_word(kind)} by user, {length_name(length.profile_length)}",
        columns,
        rows,
        f"{tests.n_users:,} users{with_cases}. Ties do not enter a test. Holm's correction is over all pairs.",
    )


def objective_order(length: ProfileLength, kind: str) -> Table:
    """The partial order by sign tests: tiers, counts of dominance, letters."""
    tests = length.tests(kind)
    order, draws = tests.order, tests.bootstrap.draws
    bounds = {} if isinstance(draws, Undefined) else draws.rank_bounds
    rows = tuple(
        Row(
            (
                text(name),
                _value(order.locations[name], kind),
                *dominance_cells(order, name),
                _rank_bounds(bounds.get(name)),
            ),
            group=tier,
        )
        for tier, name in tiered_names(order)
    )
    columns = (
        Column("Algorithm"), Column(f"{kind_name(kind)}, {length.aggregation}", True, "objective"),
        Column("Dominates", True), Column("Dominated by", True), Column("Letters"),
        Column("Rank, 95% bootstrap CI", True),
    )  # fmt: skip
    better = "higher recall" if kind == "recall" else f"lower {kind_word(kind)}"
    return Table(
        f"order-{kind}-{_slug(length)}",
        f"Pairwise comparisons, {kind_word(kind)}, {length_name(length.profile_length)}",
        columns,
        rows,
        f"One algorithm dominates another where significantly more users have {better} with it, by sign tests with "
        "Holm's correction.",
        "Tier",
    )


def _rank_bounds(bounds: tuple[int, int] | None) -> Cell:
    if bounds is None:
        return MISSING
    low, high = bounds
    return Cell(f"{low}" if low == high else f"{low} to {high}", low)
