"""Charts of the flow of participants and of power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.results.follow_up import Power
from analysis.results.report import Results
from charting import marks
from charting.frame import number
from charting.theme import Spec
from studies.monitoring.charts import consort_diagram


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


def consort(results: Results) -> Spec | None:
    """The flow of participants; None where there are none, or where a report is older than the diagram."""
    flow = results.flow
    if not flow.consented or flow.left_before is None:
        return None
    excluded = {reason.reason: reason.n for reason in flow.excluded_for}
    if n := results.answers.n_incomplete:
        excluded["not all answers given"] = n
    return consort_diagram(
        _Flow(
            opened=None,  # openings still grow after a report is built, so it would not stay the same
            declined=flow.declined,
            consented=flow.consented,
            left_before=dict(flow.left_before),
            assigned=flow.assigned,
            left_after=dict(flow.left_after or ()),
            completed=flow.completed,
            excluded=excluded,
            analysed=flow.analysed,
        )
    )


def power(result: Power, title: str) -> Spec | None:
    """Power against participants in each condition, one line per effect."""
    lines = {curve.name: curve.power for curve in result.effects}
    n_values, n = list(result.n_values), result.n_per_condition
    index = n_values.index(n)
    reached = ", ".join(f"{name} {number(line[index], 2, is_share=True)}" for name, line in lines.items())
    return marks.curves(
        lines,
        title=title,
        y_title="Power of the analysis of variance",
        n_values=n_values,
        at_n=n,
        emphasised=(result.stated,),
        side="neutral",
        x_title="Participants per condition",
        description=f"Line chart of power by participants per condition, {n_values[0]}–{n_values[-1]}; {n}: {reached}.",
    )
