"""The t test and the t interval of an estimate with a standard error, and degrees of freedom of a sum of variances."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from inference.results import Interval

CONFIDENCE = 0.95


class Contrast(NamedTuple):
    """An estimate with its two-sided t test and 95% interval."""

    value: float
    se: float
    df: float
    p: float
    interval: Interval


def t_test(estimate: float, se: float, df: float, confidence: float = CONFIDENCE) -> tuple[float, Interval]:
    """Two-sided p of a difference from 0, and the interval; infinite `df` are the normal distribution.

    Examples
    --------
    >>> p, interval = t_test(0.5, 0.2, 40)
    >>> round(p, 4), round(interval.low, 3), round(interval.high, 3)
    (0.0166, 0.096, 0.904)
    """
    from scipy import special

    half = float(special.stdtrit(df, (1 + confidence) / 2)) * se
    # Without an error any difference is certain, and no difference is none; the quotient would be infinite or
    # undefined.
    p = 2 * float(special.stdtr(df, -abs(estimate / se))) if se else float(estimate == 0)
    return p, Interval(estimate - half, estimate + half)


def satterthwaite_df(parts: Iterable[tuple[float, int]]) -> float:
    """Degrees of freedom of a sum of independent variances, each with its own, after Welch (1938) and Satterthwaite
    (1946), Biometrics Bulletin 2(6):110-114. At least one variance is above 0.

    Examples
    --------
    >>> satterthwaite_df([(0.25, 9), (0.25, 9)])
    18.0
    """
    variances = list(parts)
    total = math.fsum(variance for variance, _df in variances)
    # Matches the first two moments of the sum to those of a multiple of χ².
    return total**2 / math.fsum(variance**2 / df for variance, df in variances)
