"""Values with their intervals, as charts take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.enums import variable_of

Result = Mapping[str, Any]
Triple = tuple[float, float, float]


def around(value: float, bounds: Sequence[float] | None) -> Triple:
    """A value with its interval; one that resampling missed is widened to hold the value."""
    low, high = bounds or (value, value)
    return value, min(low, value), max(high, value)


def means_of(variable: Result) -> dict[str, Triple]:
    """Means of a variable by condition, with their 95 % intervals where they have one."""
    found = {}
    for name in variable["conditions"]:
        if name not in variable["described"]:
            continue
        one = variable["described"][name]
        bounds = None if one["ci_low"] is None else (one["ci_low"], one["ci_high"])
        found[name] = around(one["mean"], bounds)
    return found


def axis(variable: Result) -> str:
    """What stands at the axis of a variable: its name and unit."""
    defined = variable_of(variable["key"], variable)
    return f"{defined.name}, {defined.unit}"
