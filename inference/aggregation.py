r"""One relation at several levels of aggregation: does it hold within conditions as it does over all answers?

An association over all answers can be weaker, absent or reversed inside each condition (Simpson's paradox): it then
comes from differences between conditions. Slopes of one answer on one characteristic of it are computed over all
answers, within conditions, within participants, and between the means of conditions.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from inference.ancova import ParticipantValues, read_conditions
from inference.correlation import CorrelationResult, pearson
from inference.covariates import numbered
from inference.groups import finite
from inference.results import Floats, Integers, Interval, Undefined
from inference.t_tests import t_test

SMALLEST = 1e-12  # variation below this share of that over all answers is none


@dataclass(frozen=True)
class LevelSlope:
    """A least squares slope with the robust error of answers clustered in participants."""

    estimate: float
    se: float
    df: int  # participants less 1
    p: float
    interval: Interval  # 95%


@dataclass(frozen=True)
class ConditionSlope:
    """The slope inside one condition; None where the characteristic or the answers do not vary."""

    condition: str
    slope: float | None


@dataclass(frozen=True)
class AggregationResult:
    """A relation over all answers, within conditions, within participants and between conditions."""

    total: LevelSlope
    within_conditions: LevelSlope | Undefined
    within_participants: LevelSlope | Undefined
    between_slope: float | None  # of the conditions' means, each condition counted once
    between: CorrelationResult | Undefined
    by_condition: tuple[ConditionSlope, ...]
    is_reversed: bool  # over all answers and within conditions, both significantly, in opposite directions
    is_reversed_between: bool  # the means of conditions relate in the direction opposite to that within conditions
    opposite: tuple[str, ...]  # conditions whose slope has another sign than that over all answers


def aggregation(
    values: Sequence[float],
    by: Sequence[float],
    conditions: Sequence[str],
    persons: Sequence[Hashable],
    *,
    alpha: float = 0.05,
) -> AggregationResult | Undefined:
    """Relate answers to a characteristic at each level; sequences of shape (n_answers,).

    Errors are those of Liang & Zeger (1986, Biometrika 73(1):13-22) with the usual correction for G clusters and K
    coefficients, G / (G - 1) · (n - 1) / (n - K); intercepts of participants do not count in K. Undefined with fewer
    than three participants, or if the answers or the characteristic are all equal. Raises DataError for values that are
    not finite.

    Examples
    --------
    >>> by, conditions = [1, 2, 3, 6, 7, 8], ["A"] * 3 + ["B"] * 3
    >>> result = aggregation([3, 2.5, 1, 8, 7, 6.5], by, conditions, range(6))
    >>> round(result.total.estimate, 2), round(result.within_conditions.estimate, 2), result.opposite
    (0.82, -0.88, ('A', 'B'))
    """
    names, condition, y, _left_out = read_conditions(ParticipantValues(values, conditions, ()))
    x, person = finite(by, "A value is not a finite number: exclude missing values first."), numbered(persons)
    if not len(y) or person.max() < 2:
        return Undefined("A relation needs three participants.")
    total = _slope(x, y, np.zeros_like(condition), person, 2)
    if isinstance(total, Undefined):
        return total
    k = len(names)
    within = _slope(x, y, condition, person, k + 1)
    means_x, means_y = _means(x, condition), _means(y, condition)
    between = pearson(means_x.tolist(), means_y.tolist())
    between_slope = _plain_slope(means_x, means_y)
    slopes = [_plain_slope(x[condition == index], y[condition == index]) for index in range(k)]
    own, p_own = (within.estimate, within.p) if isinstance(within, LevelSlope) else (0.0, 1.0)
    return AggregationResult(
        total=total,
        within_conditions=within,
        within_participants=_slope(x, y, person, person, 2),
        between_slope=between_slope,
        between=between,
        by_condition=tuple(ConditionSlope(name, slope) for name, slope in zip(names, slopes, strict=True)),
        is_reversed=own * total.estimate < 0 and max(p_own, total.p) < alpha,
        is_reversed_between=between_slope is not None and own * between_slope < 0,
        opposite=tuple(
            name for name, slope in zip(names, slopes, strict=True) if slope is not None and slope * total.estimate < 0
        ),
    )


def _means(values: Floats, group: Integers) -> Floats:
    return np.asarray(np.bincount(group, values) / np.bincount(group))


def _plain_slope(x: Floats, y: Floats) -> float | None:
    dx, dy = x - x.mean(), y - y.mean()
    if dx @ dx <= SMALLEST * max(float(x @ x), 1.0) or not np.ptp(y):
        return None
    return float(dx @ dy / (dx @ dx))


def _slope(x: Floats, y: Floats, group: Integers, person: Integers, n_coefficients: int) -> LevelSlope | Undefined:
    """The slope with an intercept of each group."""
    n, g = len(y), int(person.max()) + 1
    dx, dy = x - _means(x, group)[group], y - _means(y, group)[group]
    spread = float(dx @ dx)
    if spread <= SMALLEST * max(float(x @ x), 1.0):
        return Undefined("The characteristic does not vary at this level.")
    estimate = float(dx @ dy) / spread
    rest = dy - estimate * dx
    scores = np.bincount(person, dx * rest)
    if n <= n_coefficients or scores @ scores <= SMALLEST * spread * max(float(dy @ dy), SMALLEST):
        return Undefined("The answers leave no residual variance at this level.")
    se = math.sqrt(g / (g - 1) * (n - 1) / (n - n_coefficients) * float(scores @ scores)) / spread
    return LevelSlope(estimate, se, g - 1, *t_test(estimate, se, g - 1))
