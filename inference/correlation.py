"""How two measurements of the same participants go together: over all, within conditions, between their means.

Pooled over conditions, a correlation mixes two things: participants who answer high on both, and algorithms that
score high on both. So the within part (deviations from the condition's own means) and the between part (the means
themselves) are computed apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.errors import DataError
from inference.groups import Groups, GroupValues, Number, exact, in_words
from inference.results import Floats, Interval, Undefined

CONFIDENCE = 0.95
EQUAL = 1e-12  # of the largest mean: means that differ by less are equal on paper
PERFECT = 1e-20  # share of variance below which what is left is rounding


@dataclass(frozen=True)
class CorrelationResult:
    """A correlation with its interval."""

    coefficient: float  # in [-1, 1]
    p: float  # two-sided, of Student's t
    t: float | None  # the statistic; None for a perfect correlation
    # Degrees of freedom of t: pairs less 2, and less one more for each condition beyond the first within conditions.
    df: int
    n: int  # pairs of values
    interval: Interval | None  # 95 %; None for a perfect correlation and with one degree of freedom
    left_out: tuple[str, ...] = ()  # conditions that could say nothing


def pearson(x: Iterable[Number], y: Iterable[Number]) -> CorrelationResult | Undefined:
    """Pearson's correlation of two measurements in one order, with Fisher's interval. Undefined with fewer than three
    pairs, or when all values of a measurement are equal. Raises DataError for values that are not finite numbers.
    Source: Fisher (1921), Metron 1:3-32.

    Examples
    --------
    >>> result = pearson([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    >>> round(result.coefficient, 3), round(result.p, 4), round(result.interval.low, 3)
    (0.8, 0.1041, -0.28)
    """
    first = np.array([float(exact(value, "the first measurement")) for value in x])
    second = np.array([float(exact(value, "the second measurement")) for value in y])
    return _pearson(first, second)


def _pearson(x: Floats, y: Floats) -> CorrelationResult | Undefined:
    if len(x) < 3:
        return Undefined(f"A correlation needs three pairs of values; there are {len(x)}.")
    for which, values in (("first", x), ("second", y)):
        if not np.ptp(values):
            return Undefined(f"All values of the {which} measurement are equal: no correlation exists.")
    return _of_deviations(x - x.mean(), y - y.mean(), len(x) - 2)


def _of_deviations(x: Floats, y: Floats, df: int, left_out: tuple[str, ...] = ()) -> CorrelationResult:
    """The correlation of distances from means, with its t test and Fisher's interval."""
    from scipy import special

    # Scaled first: products of large deviations, and their squares, could leave the range of floats.
    unit_x, unit_y = x / np.linalg.norm(x), y / np.linalg.norm(y)
    r = float(unit_x @ unit_y)
    # More accurate than 1 - r² where r is near 1.
    rest = float(np.square(unit_y - r * unit_x).sum())
    if rest < PERFECT:
        return CorrelationResult(math.copysign(1.0, r), 0.0, None, df, len(x), None, left_out)
    t = r * math.sqrt(df / rest)
    interval = None
    if df > 1:
        half = float(special.ndtri((1 + CONFIDENCE) / 2)) / math.sqrt(df - 1)
        interval = Interval(math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))
    return CorrelationResult(r, 2 * float(special.stdtr(df, -abs(t))), t, df, len(x), interval, left_out)


def over_all(x: GroupValues, y: GroupValues) -> CorrelationResult | Undefined:
    """Pearson's correlation of all participants, whatever their condition; errors as in `within_conditions`."""
    of_x, of_y, _left_out = _read(x, y)
    if not of_x:
        return Undefined("There are no participants.")
    return _pearson(np.concatenate(list(of_x.values())), np.concatenate(list(of_y.values())))


def within_conditions(x: GroupValues, y: GroupValues) -> CorrelationResult | Undefined:
    """The correlation of participants inside their conditions: of deviations from the condition's own means.

    `x` and `y` map each condition to a measurement of its participants, both in one order. Conditions with fewer than
    two participants are left out by name. Undefined when nothing varies inside any condition, or too little is left.
    Raises DataError when conditions or numbers of participants do not match. Source: Snedecor & Cochran (1967),
    Statistical Methods, 6th edition, section 14.7: sums of squares and products within.

    Examples
    --------
    >>> result = within_conditions({"A": [1, 2, 3], "B": [11, 12, 13]}, {"A": [2, 1, 3], "B": [1, 3, 2]})
    >>> round(result.coefficient, 3), result.df
    (0.5, 3)
    """
    of_x, of_y, left_out = _read(x, y, least_n=2)
    if not of_x:
        return Undefined("No condition has two participants.")
    for which, side in (("first", of_x), ("second", of_y)):
        if not any(np.ptp(own) for own in side.values()):
            return Undefined(f"Within every condition all values of the {which} measurement are equal.")
    deviations = [np.concatenate([own - own.mean() for own in side.values()]) for side in (of_x, of_y)]
    n, k = len(deviations[0]), len(of_x)
    # Each condition's mean is estimated, which uses up one degree of freedom of the pairs for each beyond the first.
    df = n - k - 1
    if df < 1:
        return Undefined(f"With {n} participants in {k} conditions no degrees of freedom are left for a correlation.")
    return _of_deviations(deviations[0], deviations[1], df, left_out)


def within_each(x: GroupValues, y: GroupValues) -> dict[str, CorrelationResult | Undefined]:
    """The correlation inside each condition alone, in the order of `x`; errors as in `within_conditions`.

    Examples
    --------
    >>> found = within_each({"A": [1, 2, 3]}, {"A": [4, 4, 4]})
    >>> found["A"].reason
    'All values of the second measurement are equal: no correlation exists.'
    """
    of_x, of_y, _left_out = _read(x, y)
    empty = Undefined("There are no participants.")
    return {name: _pearson(of_x[name], of_y[name]) if name in of_x else empty for name in x}


def between_conditions(x: GroupValues, y: GroupValues) -> CorrelationResult | Undefined:
    """The correlation of the conditions' means, one pair of means a condition; errors as in `within_conditions`. Empty
    conditions are left out by name. Undefined with fewer than three conditions, or when all have the same mean of a
    measurement.

    Examples
    --------
    >>> result = between_conditions({"A": [1, 3], "B": [4], "C": [6]}, {"A": [1, 1], "B": [2], "C": [3]})
    >>> result.coefficient, result.n
    (1.0, 3)
    """
    of_x, of_y, left_out = _read(x, y)
    if len(of_x) < 3:
        return Undefined(f"A correlation needs three conditions with participants; there are {len(of_x)}.")
    means_x, means_y = (np.array([own.mean() for own in side.values()]) for side in (of_x, of_y))
    for which, means in (("first", means_x), ("second", means_y)):
        # Means of equal answers in groups of different sizes differ by rounding, and would correlate perfectly.
        if np.ptp(means) <= EQUAL * np.abs(means).max():
            return Undefined(f"All conditions have the same mean on the {which} measurement.")
    return _of_deviations(means_x - means_x.mean(), means_y - means_y.mean(), len(of_x) - 2, left_out)


def _read(
    x: GroupValues, y: GroupValues, least_n: int = 1
) -> tuple[dict[str, Floats], dict[str, Floats], tuple[str, ...]]:
    """Both measurements of the conditions with that many participants, and the conditions with fewer.

    Refused where they are not of the same participants.
    """
    if list(x) != list(y):
        raise DataError("Both measurements must have the same conditions in the same order.")
    read_x, read_y = Groups.read(x, least_n), Groups.read(y, least_n)
    of_x, of_y = ({own.name: own.floats for own in side.members} for side in (read_x, read_y))
    differing = [name for name in x if len(of_x.get(name, ())) != len(of_y.get(name, ()))]
    if differing:
        raise DataError(f"{in_words(differing)}: the measurements are of different numbers of participants.")
    return of_x, of_y, read_x.left_out
