"""Tables of what a run measured, and of both sides together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.enums import VARIABLE_OF, Metric
from analysis.tables.cells import (
    NONE,
    Cell,
    Column,
    Row,
    Table,
    decimal,
    interval,
    probability,
    share_cell,
    text,
    whole,
    written,
)

Result = Mapping[str, Any]
KINDS = ("recall", "fallout", "precision", "f")
KIND_NAMES = {"recall": "Recall", "fallout": "Fallout", "precision": "Precision", "f": "F"}


def length_name(length: int) -> str:
    """How a profile length is named in headings."""
    return f"{length} ratings" if length else "whole profiles"


def table_2(objective: Result) -> Table:
    """Table 2: recall, fallout, precision and F of each algorithm at every profile length, with intervals."""
    lengths = objective["lengths"]
    columns = [Column("Algorithm")]
    for one in lengths:
        for kind in KINDS:
            suffix = f", {length_name(one['profile_length'])}" if one["profile_length"] else ""
            columns.append(Column(f"{KIND_NAMES[kind]}{suffix}", True, "objective"))
    rows = []
    for place, line in enumerate(lengths[0]["table"]):
        cells = [text(line["condition"])]
        for one in lengths:
            for kind in KINDS:
                cells.append(decimal(one["table"][place][kind], 3, is_share=True))
        rows.append(Row(tuple(cells)))
    return Table(
        "table-2",
        f"Table 2. Objective measures at N = {objective['n']}",
        tuple(columns),
        tuple(rows),
        "Precision after Raghavan, Bollmann and Jung: with mostly relevant cases it is close to 1, and F repeats "
        "recall; in comparisons the two count as one metric.",
    )


def intervals_table(objective: Result, place: int) -> Table:
    """Values of one profile length with their bootstrap intervals."""
    one = objective["lengths"][place]
    columns = [Column("Algorithm")]
    for kind in KINDS:
        columns += [Column(KIND_NAMES[kind], True, "objective"), Column("95 % CI", True)]
    rows = []
    for line in one["table"]:
        cells = [text(line["condition"])]
        for kind in KINDS:
            low, high = line["intervals"][kind] or (None, None)
            cells += [decimal(line[kind], 3, is_share=True), interval(low, high, 3, is_share=True)]
        rows.append(Row(tuple(cells)))
    return Table(
        f"objective-{_slug(one)}",
        f"Objective measures with intervals, {length_name(one['profile_length'])}",
        tuple(columns),
        tuple(rows),
        "Percentile intervals of resampled users; the share of relevant cases that precision uses is held.",
    )


def curve_table(objective: Result, place: int, kind: str) -> Table:
    """Values at every N, the numbers of a chart of curves."""
    one = objective["lengths"][place]
    lines = one["by_n"][kind]
    n_values = max((len(line) for line in lines.values()), default=0)
    in_order = [(name, lines[name]) for name in one["conditions"]]
    columns = (Column("Algorithm"), *(Column(str(n), True) for n in range(1, n_values + 1)))
    rows = tuple(Row((text(name), *(decimal(value, 3, is_share=True) for value in line))) for name, line in in_order)
    return Table(f"{kind}-by-n-{_slug(one)}", f"{KIND_NAMES[kind]} at every N", columns, rows)


def signs_table(one: Result, kind: str) -> Table | None:
    """Sign tests between every pair of algorithms; None where there is none."""
    found = one[kind]["sign_tests"]
    if not found["is_defined"]:
        return None
    less = kind == "fallout"
    rows = tuple(
        Row(
            (
                text(pair["a"]),
                text(pair["b"]),
                whole(pair["n_a"]),
                whole(pair["n_b"]),
                whole(pair["n_ties"]),
                probability(pair["p_unadjusted"]),
                probability(pair["p"]),
            ),
            is_quiet=not pair["is_significant"],
        )
        for pair in found["pairs"]
    )
    more = "more fallout for" if less else "better served by"
    columns = (
        Column("Algorithm A"), Column("Algorithm B"), Column(f"Users {more} A", True, "objective"),
        Column(f"Users {more} B", True, "objective"), Column("Ties", True), Column("p, two-sided", True),
        Column("p, Holm", True),
    )  # fmt: skip
    return Table(
        f"signs-{kind}-{_slug(one)}",
        f"Sign tests on {kind} by user, {length_name(one['profile_length'])}",
        columns,
        rows,
        f"{one[kind]['n_users']:,} users with {one[kind]['n_cases']:,} cases. Ties are left out of a test and counted. "
        "Holm's correction is over all pairs.",
    )


def objective_order(one: Result, kind: str) -> Table:
    """The partial order by sign tests: tiers, counts of dominance, letters."""
    order = one[kind]["order"]
    ranks = one[kind]["bootstrap"].get("rank_bounds", {})
    names = {"maximal": "Maximal", "intermediate": "Intermediate", "minimal": "Minimal"}
    names["unordered"] = "Unordered: told apart from nobody"
    rows = []
    for tier, title in names.items():
        for name in order["best_first"]:
            if order["tiers"][name] != tier:
                continue
            low, high = ranks.get(name, (None, None))
            rows.append(
                Row(
                    (
                        text(name),
                        decimal(order["locations"][name], 3, is_share=True),
                        whole(len(order["dominates"][name])),
                        whole(len(order["dominated_by"][name])),
                        text(order["letters"][name]),
                        Cell(NONE if low is None else (f"{low}" if low == high else f"{low} to {high}"), low),
                    ),
                    group=title,
                )
            )
    columns = (
        Column("Algorithm"), Column(kind.capitalize(), True, "objective"), Column("Dominates", True),
        Column("Dominated by", True), Column("Letters"), Column("Rank, 95 % of resamples", True),
    )  # fmt: skip
    better = "lower fallout" if kind == "fallout" else "higher recall"
    return Table(
        f"order-{kind}-{_slug(one)}",
        f"Who is told apart from whom, {kind}, {length_name(one['profile_length'])}",
        columns,
        tuple(rows),
        f"One algorithm dominates another where more users have {better} with it, by sign tests after Holm.",
        "Tier",
    )


def _slug(one: Result) -> str:
    return f"profile-{one['profile_length']}" if one["profile_length"] else "whole"


def comparisons_table(comparisons: Sequence[Result], n: int) -> Table:
    """Every variable with every metric: coefficients, exact p, and pairs that point the same way."""
    rows = []
    for one in comparisons:
        tau, rho, directions, drawn = one["tau"], one["rho"], one["directions"], one["tau_bootstrap"]
        same = f"{directions['same']} of {directions['n_pairs']}" if directions["is_defined"] else NONE
        rows.append(
            Row(
                (
                    text(VARIABLE_OF[one["variable"]].name),
                    text(Metric(one["kind"], one["profile_length"], n).name),
                    decimal(tau.get("coefficient"), 2, is_share=True),
                    interval(drawn.get("ci_low"), drawn.get("ci_high"), 2, is_share=True),
                    probability(tau.get("p")),
                    Cell("primary", None) if one["is_primary"] else probability(one["p_holm"]),
                    decimal(tau.get("smallest_detectable"), 2, is_share=True),
                    decimal(rho.get("coefficient"), 2, is_share=True),
                    probability(rho.get("p")),
                    Cell(same, directions.get("same")),
                    probability(directions.get("p")),
                ),
                group="Primary pair" if one["is_primary"] else "Exploratory pairs",
            )
        )
    columns = (
        Column("Variable", side="perceived"), Column("Metric", side="objective"), Column("τ_b", True),
        Column("95 % of resamples", True), Column("p, τ_b", True), Column("p, Holm", True),
        Column("Least |τ_b| with p < .05", True), Column("ρ", True), Column("p, ρ", True),
        Column("Pairs alike", True), Column("p, pairs", True),
    )  # fmt: skip
    return Table(
        "comparisons",
        "Perceived against objective, every variable with every metric",
        columns,
        tuple(rows),
        "All p are exact, by permutation. Both sides with the better first: fallout is turned over, and more novelty "
        "counts as more. Holm's correction "
        "is over the exploratory pairs. Resampled τ_b shrinks toward 0, because resampling adds noise to "
        "both rankings.",
        "Family",
    )


def verdicts_table(comparison: Result) -> Table:
    """Every pair of algorithms: what people tell apart, and what the metric does."""
    rows = tuple(
        Row(
            (
                text(pair["a"]),
                text(pair["b"]),
                probability(pair["perceived_p"]),
                probability(pair["objective_p"]),
                text(VERDICTS[pair["verdict"]]),
            ),
            is_quiet=pair["verdict"] == "neither",
        )
        for pair in comparison["orders"]["pairs"]
    )
    columns = (
        Column("The better"), Column("and"), Column("p, participants", True, "perceived"),
        Column("p, users", True, "objective"), Column("Told apart"),
    )  # fmt: skip
    return Table(
        "verdicts",
        "Pair by pair, the primary pair of measures",
        columns,
        rows,
        "The better is named by participants where they tell the two apart, else by the metric.",
    )


def contradictions_table(comparisons: Sequence[Result], n: int) -> Table:
    """What participants and a metric tell apart in opposite directions, over the exploratory pairs of measures."""
    rows = tuple(
        Row(
            (
                text(pair["a"]),
                text(pair["b"]),
                text(VARIABLE_OF[one["variable"]].name),
                probability(pair["perceived_p"]),
                text(Metric(one["kind"], one["profile_length"], n).name),
                probability(pair["objective_p"]),
            )
        )
        for one in comparisons
        for pair in one["orders"]["pairs"]
        if not one["is_primary"] and pair["verdict"] == "contradicted"
    )
    columns = (
        Column("Participants find"), Column("above"), Column("in", side="perceived"), Column("p, participants", True),
        Column("the opposite says", side="objective"), Column("p, users", True),
    )  # fmt: skip
    return Table(
        "contradictions",
        f"Contradictions in the exploratory pairs of measures ({len(rows)})",
        columns,
        rows,
        "Each p is adjusted within its own test; over the pairs of measures nothing is adjusted here.",
    )


VERDICTS = {
    "agreed": "by both alike",
    "perceived only": "by participants only",
    "objective only": "by the metric only",
    "contradicted": "by both, in opposite directions",
    "neither": "by neither",
}


def ranks_table(comparison: Result) -> Table:
    """The two rankings side by side with the ranks that 95 % of resamples give."""
    rows = []
    for name in sorted(comparison["conditions"], key=lambda one: comparison["ranks"]["perceived"][one]):
        cells = [text(name)]
        for side in ("perceived", "objective"):
            found = comparison["ranks_resampled"][side]
            rank = comparison["ranks"][side][name]
            low, high = found["bounds"].get(name, (None, None))
            cells.append(Cell(written(rank, 0 if float(rank).is_integer() else 1), rank))
            cells.append(Cell(NONE if low is None else f"{low} to {high}", None if low is None else f"{low} {high}"))
            cells.append(share_cell(found["best"].get(name)))
        rows.append(Row(tuple(cells)))
    columns = [Column("Algorithm")]
    for side in ("perceived", "objective"):
        columns += [
            Column(f"Rank, {side}", True, "perceived" if side == "perceived" else "objective"),
            Column("95 % of resamples", True),
            Column("Best in", True),
        ]
    return Table("ranks", "The two rankings", tuple(columns), tuple(rows))
