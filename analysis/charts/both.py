"""Charts of both sides together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.charts.estimates import around, axis, means_of
from analysis.enums import Metric, variable_of
from charting import marks
from charting.theme import Side, Spec

Result = Mapping[str, Any]


def slope(comparison: Result, title: str, n: int) -> Spec | None:
    """The two rankings side by side; None with fewer than two algorithms to rank."""
    names = comparison["conditions"]
    if len(names) < 2:
        return None
    sides = {}
    for side in ("perceived", "objective"):
        bounds = comparison["ranks_resampled"][side]["bounds"]
        sides[side] = {name: around(comparison["ranks"][side][name], bounds.get(name)) for name in names}
    contradicted = [(one["a"], one["b"]) for one in comparison["orders"]["pairs"] if one["verdict"] == "contradicted"]
    metric = Metric(comparison["kind"], comparison["profile_length"], n)
    return marks.slope(
        sides["perceived"],
        sides["objective"],
        title=title,
        perceived_title=variable_of(comparison["variable"], comparison).in_text,
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
    means = means_of(variable)
    return marks.scatter(
        {name: means[name] for name in names},
        {name: around(lines[name][metric.kind], lines[name]["intervals"][metric.kind]) for name in names},
        title=title,
        perceived_title=axis(variable),
        objective_title=metric.name,
        decimals=2,
    )


def rank_strip(comparison: Result, side: Side, title: str, subtitle: str) -> Spec | None:
    """How probable each rank is on one side, the best on top; None where nothing was resampled."""
    found = comparison["ranks_resampled"][side].get("probabilities", {})
    names = sorted(comparison["conditions"], key=lambda name: comparison["ranks"][side][name])
    if len(names) < 2 or not all(name in found for name in names):
        return None
    return marks.rank_strip({name: found[name] for name in names}, title=title, subtitle=subtitle, side=side)
