"""Charts of who took part, and of what their number can show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from charting import marks
from charting.frame import number
from charting.theme import Spec
from studies.charts import consort_diagram

Result = Mapping[str, Any]


@dataclass(frozen=True)
class _Flow:
    opened: int | None
    declined: int
    consented: int
    left_before: Mapping[str, int]
    assigned: int
    left_after: Mapping[str, int]
    completed: int
    excluded: Mapping[str, int]
    analysed: int


def consort(results: Result) -> Spec | None:
    """The flow of participants; None where nobody came, or a report is older than the diagram."""
    flow = results["flow"]
    if not flow["consented"] or "left_before" not in flow:
        return None
    excluded = {one["reason"]: one["n"] for one in flow["excluded_for"]}
    if n := results["answers"]["n_incomplete"]:
        excluded["not all answers given"] = n
    return consort_diagram(
        _Flow(
            opened=None,  # openings are counted on when a report is made, so it would not stay the same
            declined=flow["declined"],
            consented=flow["consented"],
            left_before=dict(flow["left_before"]),
            assigned=flow["assigned"],
            left_after=dict(flow["left_after"]),
            completed=flow["completed"],
            excluded=excluded,
            analysed=flow["analysed"],
        )
    )


def power(found: Result, title: str) -> Spec | None:
    """Power against participants in each condition, a line an effect; None where there is no design to test."""
    if not found["is_defined"]:
        return None
    lines = {one["name"]: one["power"] for one in found["effects"]}
    n_values, n = found["n_values"], found["n_per_condition"]
    place = n_values.index(n)
    reached = ", ".join(f"{name} {number(line[place], 2, is_share=True)}" for name, line in lines.items())
    return marks.curves(
        lines,
        title=title,
        y_title="Power of the analysis of variance",
        n_values=n_values,
        at_n=n,
        emphasised=(found["stated"],),
        side="neutral",
        x_title="Participants per condition",
        description=f"Lines, power by participants per condition, {n_values[0]} to {n_values[-1]}. At {n}: {reached}.",
    )
