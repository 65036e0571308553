"""Charts of what a run measured."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.charts.estimates import Triple, around
from analysis.results.objective import ProfileLength
from charting import marks
from charting.theme import Spec
from evaluation.reported_kinds import ERRORS, LOWER_IS_BETTER, kind_at, kind_name


def _estimates(length: ProfileLength, kind: str) -> dict[str, Triple]:
    intervals = {line.condition: line.intervals[kind] for line in length.table}
    return {name: around(value, intervals[name]) for name, value in length.defined_values(kind).items()}


def bars(lengths: Sequence[ProfileLength], kind: str, title: str, n: int) -> Spec | None:
    """A metric by algorithm, with whole profiles and with profiles of the participants' length below."""
    series = {}
    for length in lengths[:2]:
        name = f"profiles of {length.profile_length} ratings" if length.profile_length else "whole profiles"
        if values := _estimates(length, kind):
            series[name] = values
    if not series:
        return None
    return marks.bars(series, title=title, x_title=kind_at(kind, n), decimals=3, is_share=kind not in ERRORS)


def curves(length: ProfileLength, kind: str, title: str, n: int) -> Spec | None:
    """A metric against the length of the list."""
    lines = length.curves(kind)
    if not lines:
        return None
    return marks.curves(lines, title=title, y_title=kind_name(kind), at_n=n)


def hasse(length: ProfileLength, kind: str, title: str, n: int) -> Spec | None:
    """The order by sign tests with the values of the metric; None where these contradict it.

    Sign tests count users, so that their order may be the reverse of the metric's, or a cycle. `objective_order` then
    has the order, and no picture claims it.
    """
    order, values = length.tests(kind).order, length.defined_values(kind)
    if order.is_empty or order.cycle:
        return None
    higher_is_better = kind not in LOWER_IS_BETTER
    for above, below in order.covers:
        better, worse = (above, below) if higher_is_better else (below, above)
        if not values[better] > values[worse]:
            return None
    words = "" if higher_is_better else ": lower is better, so the best are at the top"
    return marks.hasse(
        _estimates(length, kind),
        list(order.covers),
        title=title,
        y_title=f"{kind_at(kind, n)}{words}",
        side="objective",
        higher_is_better=higher_is_better,
        decimals=3,
        is_share=kind not in ERRORS,
    )
