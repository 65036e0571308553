"""Values with their intervals, as charts need them."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.results.perceived import PerceivedVariable

Triple = tuple[float, float, float]


def around(value: float, bounds: Sequence[float] | None) -> Triple:
    """A value with its interval; an interval that misses the value is widened to include it."""
    low, high = bounds or (value, value)
    return value, min(low, value), max(high, value)


def means_of(variable: PerceivedVariable) -> dict[str, Triple]:
    """Means of a variable by condition, with their 95% intervals where they have one."""
    means = {}
    for name in variable.conditions:
        if name not in variable.described:
            continue
        numbers = variable.described[name]
        has_bounds = numbers.ci_low is not None and numbers.ci_high is not None
        means[name] = around(numbers.mean, (numbers.ci_low or 0.0, numbers.ci_high or 0.0) if has_bounds else None)
    return means


def axis(variable: PerceivedVariable) -> str:
    """The title of a variable's axis: its name and unit."""
    return f"{variable.variable.name}, {variable.variable.unit}"
