"""Tables behind figures that no other table holds the numbers of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.tables.cells import Column, Row, Side, Table, decimal, share_cell, text, whole
from studies.plans import in_text

Result = Mapping[str, Any]


def steps_table(variable: Result, steps: Sequence[int], counts: Mapping[str, Mapping[int, int]]) -> Table:
    """How often each step of a scale was chosen in each condition."""
    rows = []
    for name in variable["conditions"]:
        n = sum(counts[name].values())
        mean = sum(step * count for step, count in counts[name].items()) / n if n else None
        rows.append(Row((text(name), *(whole(counts[name][step]) for step in steps), whole(n), decimal(mean))))
    columns = (
        Column("Algorithm"), *(Column(f"Answer {step}", True) for step in steps), Column("n", True),
        Column("M", True, "perceived"),
    )  # fmt: skip
    return Table(f"{variable['key']}-steps", f"Answers by step, {in_text(variable['name'])}", columns, tuple(rows))


def rank_table(comparison: Result, side: Side) -> Table:
    """How probable each rank is for each algorithm, on one side."""
    found = comparison["ranks_resampled"][side].get("probabilities", {})
    names = sorted(
        (name for name in comparison["conditions"] if name in found),
        key=lambda name: comparison["ranks"][side][name],
    )
    ranks = len(names)
    return Table(
        f"rank-probabilities-{side}",
        f"Probability of each rank, {side}",
        (Column("Algorithm"), *(Column(f"Rank {rank}", True, side) for rank in range(1, ranks + 1))),
        tuple(Row((text(name), *(share_cell(p) for p in found[name]))) for name in names),
        "Share of resamples; algorithms that tie in one share its ranks.",
    )


def power_table(found: Result) -> Table:
    """Power at every size that the curve is drawn at."""
    effects = found["effects"]
    rows = tuple(
        Row((whole(n), *(decimal(one["power"][place], 2, is_share=True) for one in effects)))
        for place, n in enumerate(found["n_values"])
    )
    columns = (Column("Participants per condition", True), *(Column(one["name"], True) for one in effects))
    return Table("power", "Power of the analysis of variance", columns, rows)
