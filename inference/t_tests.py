"""The t test and the t interval of an estimate with a standard error."""

from __future__ import annotations

from inference.results import Interval

CONFIDENCE = 0.95


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
    p = 2 * float(special.stdtr(df, -abs(estimate / se))) if se else float(estimate == 0)
    return p, Interval(estimate - half, estimate + half)
