"""Which chart shows which result. Pure; `charting` draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.enums import VARIABLE_OF, Metric
from charting import marks
from charting.theme import Spec

Result = Mapping[str, Any]
Triple = tuple[float, float, float]


def _around(value: float, bounds: Sequence[float] | None) -> Triple:
    """A value with its interval; one that resampling missed is widened to hold the value."""
    low, high = bounds or (value, value)
    return value, min(low, value), max(high, value)


def _means(variable: Result) -> dict[str, Triple]:
    found = {}
    for name in variable["conditions"]:
        if name not in variable["described"]:
            continue
        one = variable["described"][name]
        bounds = None if one["ci_low"] is None else (one["ci_low"], one["ci_high"])
        found[name] = _around(one["mean"], bounds)
    return found


def _axis(variable: Result) -> str:
    defined = VARIABLE_OF[variable["key"]]
    return f"{defined.name}, {defined.unit}"


def box(variable: Result, title: str) -> Spec | None:
    """The paper's box plot of one variable, with every participant beside it."""
    if not variable["described"]:
        return None
    per = variable["points_per_unit"]
    values = {name: [point / per for point in variable["points"][name]] for name in variable["conditions"]}
    has_letters = variable["tests"]["tukey"]["is_defined"]
    letters = variable["orders"]["tukey"]["letters"] if has_letters else None
    return marks.box_plot(
        values,
        title=title,
        y_title=_axis(variable),
        domain=(variable["low"], variable["high"]),
        letters=letters,
    )


def hasse(variable: Result, title: str) -> Spec | None:
    """Who dominates whom, on the true scale; None where no order can be claimed."""
    order = variable["orders"]["tukey"]
    if order["is_empty"]:
        return None
    edges = [(above, below) for above, below in order["covers"]]
    return marks.hasse(_means(variable), edges, title=title, y_title=_axis(variable))


def slope(comparison: Result, title: str, n: int) -> Spec | None:
    """The two rankings side by side; None with fewer than two algorithms to rank."""
    names = comparison["conditions"]
    if len(names) < 2:
        return None
    sides = {}
    for side in ("perceived", "objective"):
        bounds = comparison["ranks_resampled"][side]["bounds"]
        sides[side] = {name: _around(comparison["ranks"][side][name], bounds.get(name)) for name in names}
    contradicted = [(one["a"], one["b"]) for one in comparison["orders"]["pairs"] if one["verdict"] == "contradicted"]
    metric = Metric(comparison["kind"], comparison["profile_length"], n)
    return marks.slope(
        sides["perceived"],
        sides["objective"],
        title=title,
        perceived_title=VARIABLE_OF[comparison["variable"]].in_text,
        objective_title=f"{metric.kind} at {n}",
        contradicted=contradicted,
    )


def scatter(comparison: Result, variable: Result, length: Result, title: str, n: int) -> Spec | None:
    """One dot an algorithm, with both intervals; None with fewer than two."""
    names = comparison["conditions"]
    if len(names) < 2:
        return None
    metric = Metric(comparison["kind"], comparison["profile_length"], n)
    lines = {line["condition"]: line for line in length["table"]}
    means = _means(variable)
    return marks.scatter(
        {name: means[name] for name in names},
        {name: _around(lines[name][metric.kind], lines[name]["intervals"][metric.kind]) for name in names},
        title=title,
        perceived_title=_axis(variable),
        objective_title=metric.name,
        decimals=2,
    )


def bars(lengths: Sequence[Result], kind: str, title: str, n: int) -> Spec | None:
    """A metric by algorithm, with whole profiles and with the participants' own length below."""
    series = {}
    for one in lengths[:2]:
        name = f"profiles of {one['profile_length']} ratings" if one["profile_length"] else "whole profiles"
        values = {
            line["condition"]: _around(line[kind], line["intervals"][kind])
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
