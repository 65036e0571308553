"""Tables of what a run measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
)
from evaluation.tables import POOLED

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
        f"Values are {POOLED}: a user with many cases weighs more. "
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
        f"Values are {POOLED}. Percentile intervals of resampled users; the share of relevant cases that precision "
        "uses is held.",
    )


def served_table(objective: Result) -> Table | None:
    """Recall and fallout with ties and empty slots as participants meet them; None where the run has none."""
    lengths = [one for one in objective["lengths"] if one.get("served")]
    if not lengths:
        return None
    columns = [Column("Algorithm")]
    rows: dict[str, list[Cell]] = {name: [text(name)] for name in lengths[0]["conditions"]}
    for one in lengths:
        suffix = f", {length_name(one['profile_length'])}" if one["profile_length"] else ""
        values = {line["condition"]: line for line in one["table"]}
        for kind in ("recall", "fallout"):
            if kind not in one["served"]:
                continue
            columns += [
                Column(f"{KIND_NAMES[kind]}{suffix}", True, "objective"),
                Column(f"as served{suffix}", True, "objective"),
            ]
            for name, cells in rows.items():
                cells.append(decimal(values[name][kind], 3, is_share=True))
                cells.append(decimal(one["served"][kind][name], 3, is_share=True))
        if "filled" in one["served"]:
            columns.append(Column(f"Slots filled{suffix}", True))
            for name, cells in rows.items():
                cells.append(share_cell(one["served"]["filled"][name]))
    return Table(
        "as-served",
        "The same lists as they are served",
        tuple(columns),
        tuple(Row(tuple(cells)) for cells in rows.values()),
        "The protocol counts items of equal score by chance; served lists put them in a fixed order, and fill slots "
        "that an algorithm has no score for by popularity.",
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
        Column("Algorithm"), Column(f"{kind.capitalize()}, {POOLED}", True, "objective"), Column("Dominates", True),
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
