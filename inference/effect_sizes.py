"""How large a difference of two conditions is: Hedges' g with the exact correction and a noncentral t interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

from inference.groups import Group, Groups, GroupValues
from inference.results import Interval, Undefined

CONFIDENCE = 0.95
# Beyond this t the noncentral distribution is no longer evaluated reliably, and the effect is beyond doubt.
LARGEST_T_FOR_INTERVAL = 500.0


@dataclass(frozen=True)
class EffectSize:
    """The standardised difference of two conditions."""

    # `a`, `b`: the two conditions; the effect is that of `a` over `b`.
    a: str
    b: str
    g: float  # Hedges' g: Cohen's d without its bias
    d: float  # Cohen's d: the difference of means in pooled standard deviations
    correction: float  # the factor between them, in (0, 1)
    # 95 % interval of g: limits of d by the noncentral t distribution times the same correction. None where the
    # difference is too large in its own spread for that distribution to be evaluated.
    interval: Interval | None
    # `n_a`, `n_b`: observations of either condition.
    n_a: int
    n_b: int


def hedges_g_between(groups: GroupValues) -> tuple[EffectSize | Undefined, ...]:
    r"""Hedges' g of every pair of conditions, standardised by the pair's own pooled standard deviation.

    .. math:: g = J(\nu)\,\frac{\bar y_a - \bar y_b}{s_p}, \qquad
        J(\nu) = \frac{\Gamma(\nu/2)}{\sqrt{\nu/2}\,\Gamma((\nu-1)/2)}, \qquad \nu = n_a + n_b - 2

    A pair is undefined if either condition has fewer than two observations or neither has any variance; the reason
    names the conditions. Sources: Hedges (1981), Journal of Educational Statistics 6(2):107-128, equation 6e, with the
    exact correction; for the interval Cumming & Finch (2001), Educational and Psychological Measurement 61(4):532-574.

    Examples
    --------
    >>> (result,) = hedges_g_between({"A": [4, 5, 6], "B": [1, 2, 3]})
    >>> round(result.g, 4), round(result.interval.low, 2), round(result.interval.high, 2)
    (2.3937, 0.31, 4.39)
    >>> [found.reason for found in hedges_g_between({"A": [3, 3], "B": [4, 4]})]
    ['Neither A nor B has any variance: the standardised difference cannot be computed.']
    """
    read = Groups.read(groups)
    by_name = {group.name: group for group in read.members}
    every = [by_name.get(name, Group(name, (), 1)) for name in groups]
    return tuple(_of_pair(a, b) for a, b in combinations(every, 2))


def _of_pair(a: Group, b: Group) -> EffectSize | Undefined:
    for group in (a, b):
        if group.n < 2:
            had = "no observations" if group.n == 0 else "one observation"
            return Undefined(f"{group.name} has {had}: an effect size needs two.")
    df = a.n + b.n - 2
    variance = (a.squares + b.squares) / df
    if variance == 0:
        reason = f"Neither {a.name} nor {b.name} has any variance: the standardised difference cannot be computed."
        return Undefined(reason)
    d = float(a.mean - b.mean) / math.sqrt(variance)
    correction = exact_correction(df)
    # t is d times this, and a limit of t's noncentrality divided by it a limit of d.
    root = math.sqrt(a.n * b.n / (a.n + b.n))
    limits = noncentral_t_limits(d * root, df)
    interval = None if limits is None else Interval(correction * limits.low / root, correction * limits.high / root)
    return EffectSize(a.name, b.name, correction * d, d, correction, interval, a.n, b.n)


def exact_correction(df: int) -> float:
    """The factor that takes the bias out of Cohen's d, exactly (not 1 - 3 / (4 df - 1)): in [0, 1), and 0 for one
    degree of freedom. `df`, at least 1, belongs to the standard deviation. Source: Hedges (1981).

    Examples
    --------
    >>> round(exact_correction(58), 12)
    0.987003581028
    """
    if df == 1:
        return 0.0  # the mean of d does not exist; the limit of the formula
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


def noncentral_t_limits(t: float, df: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Noncentralities under which t would lie at the upper and at the lower limit of its distribution; None beyond a
    `|t|` of 500. `df` is at least 1. Source: Cumming & Finch (2001).

    Examples
    --------
    >>> limits = noncentral_t_limits(2.0, 58)
    >>> round(limits.low, 4), round(limits.high, 4)
    (-0.0017, 3.985)
    """
    from scipy import optimize, special

    if abs(t) > LARGEST_T_FOR_INTERVAL:
        return None
    tail = (1 - confidence) / 2
    size = abs(t)

    def limit(share: float) -> float:
        def excess(shift: float) -> float:
            below = float(special.nctdtr(df, shift, size))
            # Far from t the series gives up, where nothing is left of one of the tails.
            return (float(shift < size) if math.isnan(below) else below) - share

        # Near a normal distribution around t; the bracket widens where few degrees of freedom spread it.
        low, high, step = size - 4.0, size + 4.0, 2.0
        while excess(low) < 0:
            low, step = low - step, 1.5 * step
        while excess(high) > 0:
            high, step = high + step, 1.5 * step
        return float(optimize.brentq(excess, low, high, xtol=1e-12, rtol=1e-12))

    low, high = limit(1 - tail), limit(tail)
    return Interval(low, high) if t >= 0 else Interval(-high, -low)
