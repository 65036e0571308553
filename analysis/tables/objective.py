"""Tables of what a run measured."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.results.objective import KINDS, ObjectiveSide, ProfileLength
from analysis.results.report import ConditionFacts
from analysis.tables.cells import NONE, decimal, interval, listed, ranks_cell, share_cell
from analysis.tables.orders import dominance_cells, tiered_names
from documents.tables import Cell, Column, Row, Table, text
from evaluation.reported_kinds import ERRORS, HITS, LOWER_IS_BETTER, kind_name, kind_word
from evaluation.tables import POOLED
from inference.pair_decisions import OfflinePairs
from inference.rank_sets import relation_rank_sets
from inference.results import Undefined
from recommenders.registry import families

TYPES = {
    "The same for everyone": "non-personalised",
    "Neighbourhoods of items": "collaborative",
    "Neighbourhoods of users": "collaborative",
    "Latent factors": "collaborative",
    "Linear models": "collaborative",
    "Item features": "content",
}
RATES_NOTE = (
    f"Values are {POOLED}: a user with many cases has more weight. Exact limits (Clopper and Pearson) with the "
    "effective number of cases, as cases of one user are not independent."
)
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


def table_2(objective: ObjectiveSide, conditions: Sequence[ConditionFacts]) -> Table:
    """Table 2: the tested metrics of each algorithm with their limits at every profile length."""
    columns = [Column("Algorithm"), Column("Type")]
    for length in objective.lengths:
        for kind in objective.tested:
            columns += [Column(_header(kind, length), True, "objective"), Column("95% CI", True)]
    types = {facts.label: type_of(facts.algorithm) for facts in conditions}
    rows = []
    for lines in zip(*(length.table for length in objective.lengths), strict=True):
        cells = [text(lines[0].condition), text(types.get(lines[0].condition, NONE))]
        for line in lines:
            for kind in objective.tested:
                low, high = line.intervals[kind] or (None, None)
                cells += [_value(line.value(kind), kind), interval(low, high, 3, is_share=kind not in ERRORS)]
        rows.append(Row(tuple(cells)))
    return Table(
        "table-2",
        "Table 2. Objective measures"
        if objective.kinds == ERRORS
        else f"Table 2. Objective measures at N = {objective.n}",
        tuple(columns),
        tuple(rows),
        f"{_means_note(objective) if objective.is_by_user else RATES_NOTE}{_rare_note(objective)}",
    )


def type_of(algorithm: str) -> str:
    """The type of an algorithm as the paper has it, by its family in the registry; a dash where it has none there."""
    return next((TYPES.get(title, NONE) for title, keys in families().items() if algorithm in keys), NONE)


def _rare_note(objective: ObjectiveSide) -> str:
    rare = [
        f"{_header(kind, length).removesuffix(', pooled')} of {listed(names)}"
        for length in objective.lengths
        for kind, names in length.rare.items()
        if names
    ]
    return f" Fewer than 10 events: {'; '.join(rare)}." if rare else ""


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
        f"{'' if length.is_by_user else POOLED_NOTE} Recall and fallout have exact limits, the others percentile "
        "intervals over resampled users.",
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


def objective_order(length: ProfileLength, kind: str) -> Table:
    """The partial order of the algorithms: tiers, counts of dominance, letters, and sets of ranks."""
    tests = length.tests(kind)
    order, pairs = tests.order, tests.pairs
    sets = relation_rank_sets(order.dominates, 1 - length.alpha).sets if order.names else {}
    rows = tuple(
        Row(
            (
                text(name),
                _value(order.locations[name], kind),
                *dominance_cells(order, name),
                ranks_cell(sets[name]),
            ),
            group=tier,
        )
        for tier, name in tiered_names(order)
    )
    columns = (
        Column("Algorithm"), Column(f"{kind_name(kind)}, {length.aggregation}", True, "objective"),
        Column("Dominates", True), Column("Dominated by", True), Column("Letters"),
        Column("Rank confidence set", True),
    )  # fmt: skip
    better = f"{'lower' if kind in LOWER_IS_BETTER else 'higher'} {kind_word(kind)}"
    return Table(
        f"order-{kind}-{_slug(length)}",
        f"Pairwise comparisons, {kind_word(kind)}, {length_name(length.profile_length)}",
        columns,
        rows,
        f"One algorithm dominates another where it has a significantly {better}, {_method(pairs)}",
        "Tier",
    )


def _method(pairs: OfflinePairs | Undefined | None) -> str:
    """By which test pairs are ordered; reports of earlier versions have sign tests."""
    if not isinstance(pairs, OfflinePairs):
        return "by sign tests over users with Holm's correction."
    few = [f"{pair.a} and {pair.b}" for pair in pairs.pairs if pair.p_sign_flip is not None]
    method = "by single-step max-|t| over all pairs, clustered by user."
    if not few:
        return method
    return f"{method} Fewer than 25 users differ between {listed(few)}, where sign flips must be significant too."
