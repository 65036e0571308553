"""Tables of the numbers in figures that no other table holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.results.comparison import Comparison, Half
from analysis.results.follow_up import Power
from analysis.results.perceived import PerceivedVariable
from analysis.tables.cells import decimal, share_cell, whole
from documents.tables import Column, Row, Table, text
from studies.plans import in_text


def steps_table(variable: PerceivedVariable, steps: Sequence[int], counts: Mapping[str, Mapping[int, int]]) -> Table:
    """How often each step of a scale was chosen in each condition."""
    rows = []
    for name in variable.conditions:
        n = sum(counts[name].values())
        mean = sum(step * count for step, count in counts[name].items()) / n if n else None
        rows.append(Row((text(name), *(whole(counts[name][step]) for step in steps), whole(n), decimal(mean))))
    columns = (
        Column("Algorithm"), *(Column(f"Answer {step}", True) for step in steps), Column("n", True),
        Column("M", True, "perceived"),
    )  # fmt: skip
    return Table(f"{variable.key}-steps", f"Answers by step, {in_text(variable.name)}", columns, tuple(rows))


def rank_table(comparison: Comparison, half: Half) -> Table:
    """The probability of each rank of each algorithm, on one side."""
    probabilities = comparison.ranks_resampled.of(half).probabilities
    names = sorted(
        (name for name in comparison.conditions if name in probabilities), key=comparison.ranks.of(half).__getitem__
    )
    return Table(
        f"rank-probabilities-{half}",
        f"Probability of each rank, {half}",
        (Column("Algorithm"), *(Column(f"Rank {rank}", True, half) for rank in range(1, len(names) + 1))),
        tuple(Row((text(name), *(share_cell(p) for p in probabilities[name]))) for name in names),
        "Share of resamples; algorithms that tie in a resample share its ranks.",
    )


def power_table(power: Power) -> Table:
    """Power at every size that the curve is drawn at."""
    rows = tuple(
        Row((whole(n), *(decimal(curve.power[index], 2, is_share=True) for curve in power.effects)))
        for index, n in enumerate(power.n_values)
    )
    columns = (Column("Participants per condition", True), *(Column(curve.name, True) for curve in power.effects))
    return Table("power", "Power of the analysis of variance", columns, rows)
