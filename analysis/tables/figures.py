"""Tables of the numbers in figures that no other table holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.results.follow_up import Power
from analysis.results.perceived import PerceivedVariable
from analysis.tables.cells import decimal, whole
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


def power_table(power: Power) -> Table:
    """Power at every size that the curve is drawn at."""
    rows = tuple(
        Row((whole(n), *(decimal(curve.power[index], 2, is_share=True) for curve in power.effects)))
        for index, n in enumerate(power.n_values)
    )
    columns = (Column("Participants per condition", True), *(Column(curve.name, True) for curve in power.effects))
    return Table("power", "Power of the analysis of variance", columns, rows)
