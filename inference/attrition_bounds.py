"""Bounds of a difference of two conditions that lost participants: worst case, and Lee's trimming.

The worst case puts the lowest or the highest possible value in the stead of each lost one and assumes nothing (Horowitz
& Manski, 2000, Journal of the American Statistical Association 95(449):77-84). Lee's bounds are of the difference among
participants who would stay in either condition. They assume random assignment, and that a condition affects staying in
one direction only (Lee, 2009, Review of Economic Studies 76(3):1071-1102).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from inference.groups import finite
from inference.results import Floats, Interval, Undefined

CONFIDENCE = 0.95
End = tuple[float, float]  # a bound and its standard error


@dataclass(frozen=True)
class Arm:
    """The observed values of one condition, and how many participants were assigned to it."""

    values: Sequence[float]
    n_assigned: int

    @property
    def observed(self) -> Floats:
        """The values as an array. Raises DataError where one is not finite."""
        return finite(self.values, "A value is not a finite number: leave missing values out.")


@dataclass(frozen=True)
class Bounds:
    """The lowest and the highest difference that the losses leave possible."""

    low: float
    high: float
    se_low: float
    se_high: float
    interval: Interval  # 95%, of the difference itself (Imbens & Manski, 2004)
    trimmed: float  # share of the condition with fewer losses that is trimmed; 0 for the worst case


def worst_case_bounds(a: Arm, b: Arm, low: float, high: float) -> Bounds | Undefined:
    """Bounds of the mean of `a` minus that of `b` on a scale from `low` to `high`.

    Undefined with fewer than two participants assigned to a condition. Raises DataError as `Arm.observed` does.

    Examples
    --------
    >>> bounds = worst_case_bounds(Arm([3, 4, 5], 4), Arm([1, 2, 3, 2], 4), 1, 5)
    >>> bounds.low, bounds.high
    (1.25, 2.25)
    """
    both = [a.observed, b.observed]
    if min(a.n_assigned, b.n_assigned) < 2:
        return Undefined("Bounds need two participants assigned to each condition.")
    ends = []
    for of_a, of_b in ((low, high), (high, low)):
        filled = [
            np.append(values, np.full(arm.n_assigned - len(values), end))
            for values, arm, end in zip(both, (a, b), (of_a, of_b), strict=True)
        ]
        variance = sum(float(values.var(ddof=1)) / len(values) for values in filled)
        ends.append((float(filled[0].mean() - filled[1].mean()), math.sqrt(variance)))
    return _bounds(ends[0], ends[1], 0.0)


def lee_bounds(a: Arm, b: Arm) -> Bounds | Undefined:
    """Lee's bounds of the mean of `a` minus that of `b`.

    The condition with fewer losses is trimmed by exactly its excess: a value on the edge counts in part. The errors are
    those of Lee's proposition 3, whose theory is of continuous values. Undefined with fewer than two values in a
    condition. Raises DataError as `Arm.observed` does.

    Examples
    --------
    >>> bounds = lee_bounds(Arm([1, 2, 3, 4], 4), Arm([2, 3], 4))
    >>> bounds.low, bounds.high, bounds.trimmed
    (-1.0, 1.0, 0.5)
    """
    values_a, values_b = a.observed, b.observed
    if min(len(values_a), len(values_b)) < 2:
        return Undefined("Lee's bounds need two observed values in each condition.")
    retained = len(values_a) / a.n_assigned, len(values_b) / b.n_assigned
    if retained[0] < retained[1]:
        low, high, trimmed = _lee_ends(b, a, values_b, values_a)
        return _bounds((-high[0], high[1]), (-low[0], low[1]), trimmed)
    return _bounds(*_lee_ends(a, b, values_a, values_b))


def _lee_ends(fuller: Arm, lost: Arm, values: Floats, shorter: Floats) -> tuple[End, End, float]:
    """Both ends of the first minus the second, and the share of the first, which lost fewer, that is trimmed."""
    retained = len(values) / fuller.n_assigned, len(shorter) / lost.n_assigned
    trimmed = 1 - retained[1] / retained[0]
    error_of_share = sum(
        (1 - share) / (arm.n_assigned * share) for share, arm in zip(retained, (fuller, lost), strict=True)
    )
    mean, variance = float(shorter.mean()), float(shorter.var(ddof=1)) / len(shorter)
    ascending = np.sort(values)
    low, high = (_trimmed_mean(ordered, trimmed, error_of_share) for ordered in (ascending, ascending[::-1]))
    return (low[0] - mean, math.sqrt(low[1] + variance)), (high[0] - mean, math.sqrt(high[1] + variance)), trimmed


def _trimmed_mean(ordered: Floats, trimmed: float, error_of_share: float) -> tuple[float, float]:
    """The mean of the first 1 - `trimmed` of the values, and its variance."""
    mass = (1 - trimmed) * len(ordered)
    weights = np.clip(mass - np.arange(len(ordered)), 0.0, 1.0)
    mean = float(weights @ ordered / mass)
    edge = float(ordered[np.flatnonzero(weights > 1e-9)[-1]])
    variance = float(weights @ (ordered - mean) ** 2) / mass / mass
    if trimmed > 0:
        variance += (edge - mean) ** 2 * (trimmed / mass + error_of_share)
    return mean, variance


def _bounds(low: End, high: End, trimmed: float) -> Bounds:
    """Both bounds with their standard errors, and the interval of Imbens & Manski (2004), Econometrica 72(6)."""
    from scipy import optimize

    largest, width = max(low[1], high[1]), high[0] - low[0]
    normal, critical = NormalDist(), 0.0
    if largest > 0:
        critical = float(
            optimize.brentq(lambda c: normal.cdf(c + width / largest) - normal.cdf(-c) - CONFIDENCE, 0.0, 4.0)
        )
    interval = Interval(low[0] - critical * low[1], high[0] + critical * high[1])
    return Bounds(low[0], high[0], low[1], high[1], interval, trimmed)
