"""Numbers with their intervals, and the checks that every chart makes before it draws.

The word `what` names the quantity in the error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from charting.frame import number
from core.errors import DataError


class Estimate(NamedTuple):
    """A value and the ends of its interval, in one unit; ``low <= value <= high``."""

    value: float
    low: float
    high: float


def interval_text(estimate: Estimate, decimals: int, *, is_share: bool = False) -> str:
    """The interval of an estimate in brackets.

    Examples
    --------
    >>> interval_text(Estimate(0.29, 0.28, 0.3), 2, is_share=True)
    '[.28, .30]'
    """
    low, high = (number(end, decimals, is_share=is_share) for end in (estimate.low, estimate.high))
    return f"[{low}, {high}]"


def checked_number(value: float, *, what: str) -> float:
    """A number as a float. Raises DataError when it is NaN or infinite.

    Examples
    --------
    >>> checked_number(3, what="the mean of TopPop")
    3.0
    """
    converted = float(value)
    if not math.isfinite(converted):
        raise DataError(f"A chart cannot draw {converted} for {what}: omit it, or state why there is no value.")
    return converted


def checked_estimates(estimates: Mapping[str, Sequence[float]], *, what: str) -> dict[str, Estimate]:
    """Estimates by name. Raises DataError when there are none, or a number is not finite or outside its interval.

    Examples
    --------
    >>> checked_estimates({"LSA": (0.01, 0.0, 0.02)}, what="recall")
    {'LSA': Estimate(value=0.01, low=0.0, high=0.02)}
    """
    if not estimates:
        raise DataError(f"There is no {what} to draw.")
    checked: dict[str, Estimate] = {}
    for name, numbers in estimates.items():
        checked[name] = checked_estimate(numbers, what=f"{what} of {name}")
    return checked


def checked_estimate(numbers: Sequence[float], *, what: str) -> Estimate:
    """A value with the ends of its interval. Raises DataError for a number that is not finite or outside it."""
    value, low, high = (checked_number(part, what=f"the {what}") for part in numbers)
    # Sums taken in another order may differ in the last digit.
    slack = 1e-9 * max(1.0, abs(value))
    if not low - slack <= value <= high + slack:
        raise DataError(f"The {what} is {value:g}, outside its interval from {low:g} to {high:g}.")
    return Estimate(value, low, high)
