"""Charts of what a run measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.charts.estimates import around
from charting import marks
from charting.theme import Spec

Result = Mapping[str, Any]


def bars(lengths: Sequence[Result], kind: str, title: str, n: int) -> Spec | None:
    """A metric by algorithm, with whole profiles and with the participants' own length below."""
    series = {}
    for one in lengths[:2]:
        name = f"profiles of {one['profile_length']} ratings" if one["profile_length"] else "whole profiles"
        values = {
            line["condition"]: around(line[kind], line["intervals"][kind])
            for line in one["table"]
            if line[kind] is not None
        }
        if values:
            series[name] = values
    if not series:
        return None
    return marks.bars(series, title=title, x_title=f"{kind.capitalize()} at {n}", decimals=3)


def curves(length: Result, kind: str, title: str, n: int) -> Spec | None:
    """A metric against the length of the list."""
    lines = {name: length["by_n"][kind][name] for name in length["conditions"]}
    lines = {name: line for name, line in lines.items() if line and None not in line}
    if not lines:
        return None
    return marks.curves(lines, title=title, y_title=kind.capitalize(), at_n=n)


def hasse(length: Result, kind: str, title: str, n: int) -> Spec | None:
    """Who dominates whom by sign tests, on the scale of the metric; None where that scale cannot show it.

    Sign tests count users, so now and then what they order stands the other way round in the metric itself,
    or in a circle: `objective_order` has it then, and no picture claims it.
    """
    order = length[kind]["order"]
    values = {line["condition"]: line for line in length["table"] if line[kind] is not None}
    if order["is_empty"] or order["cycle"]:
        return None
    higher_is_better = kind != "fallout"
    edges = [(above, below) for above, below in order["covers"]]
    for above, below in edges:
        better, worse = (above, below) if higher_is_better else (below, above)
        if not values[better][kind] > values[worse][kind]:
            return None
    words = "" if higher_is_better else "; lower is better, and up"
    return marks.hasse(
        {name: around(line[kind], line["intervals"][kind]) for name, line in values.items()},
        edges,
        title=title,
        y_title=f"{kind.capitalize()} at {n}{words}",
        side="objective",
        higher_is_better=higher_is_better,
        decimals=3,
    )
