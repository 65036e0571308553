r"""The distribution of the studentized range, by two trapezoidal rules in one pass over arrays.

.. math:: P(Q > q) = 1 - \int_0^\infty f_\nu(s)\, k \int \varphi(z)\,[\Phi(z) - \Phi(z - qs)]^{k-1}\,dz\,ds

A report asks for it hundreds of times, and for an adaptive quadrature each time is tens of milliseconds. Both
integrands are smooth and die away faster than exponentially (the outer one on the logarithm of s), which is where
equal steps converge geometrically: a tail is good to about 1e-13, in a fraction of a millisecond.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from inference.results import Floats

SMALLEST_TAIL = 1e-300  # keeps the logarithm of a tail that vanished finite
INNER_STEP, INNER_END = 0.08, 8.6  # the normal density is 1e-16 of its height beyond
OUTER_STEP = 0.07  # on log s, where the density of few degrees of freedom is wide
STEPS_IN_SPREAD = 3.0  # outer steps in one standard deviation, where it is narrow
NEGLIGIBLE = 38.0  # nats: 3e-17 of the height


def upper_tail(q: float, k: int, df: float) -> float:
    """Probability that the studentized range of `k` means exceeds `q`, which is in standard errors of a mean. Good to
    about 1e-13 absolute: a smaller one says no more than that. `df`, of the variance, is at least 1 and may be
    infinite. Sources: Trefethen & Weideman (2014), SIAM Review 56(3):385-458, on the rule; Copenhaver & Holland (1988),
    Journal of Statistical Computation and Simulation 30:1-15, on the distribution.

    Examples
    --------
    >>> round(upper_tail(3.0, 7, 203), 6)
    0.344167
    """
    from scipy import special

    if k == 2:
        t = q / math.sqrt(2)
        return 2 * float(special.ndtr(-t) if math.isinf(df) else special.stdtr(df, -t))
    scales, weights = _scales(df)
    below = float(weights @ _ranges(k, q * scales))
    return min(1.0, max(0.0, 1.0 - below))


@lru_cache(maxsize=512)
def _scales(df: float) -> tuple[Floats, Floats]:
    """Values of s with their shares: the standard deviation over its true value."""
    if math.isinf(df):
        return np.ones(1), np.ones(1)
    spread = 1 / math.sqrt(2 * df)
    reach = math.sqrt(NEGLIGIBLE / df)
    step = min(OUTER_STEP, spread / STEPS_IN_SPREAD)
    # To the left the density falls as s to the power of the degrees of freedom alone.
    x = np.arange(-math.ceil((reach + NEGLIGIBLE / df) / step), math.ceil(reach / step) + 1) * step
    weights = np.exp(df * (x - np.expm1(2 * x) / 2))
    # The rule integrates the density itself as well as it does anything: its own sum is the better constant.
    return np.exp(x), weights / weights.sum()


@lru_cache(maxsize=1)
def _normal() -> tuple[Floats, Floats, Floats]:
    from scipy import special

    steps = round(INNER_END / INNER_STEP)
    z = np.asarray(np.arange(-steps, steps + 1) * INNER_STEP, dtype=np.float64)
    weights = np.asarray(np.exp(-z * z / 2) * (INNER_STEP / math.sqrt(2 * math.pi)), dtype=np.float64)
    return z, weights, np.asarray(special.ndtr(z), dtype=np.float64)


def _ranges(k: int, w: Floats) -> Floats:
    """Probability that the range of `k` standard normal values stays below each of `w`."""
    from scipy import special

    z, weights, below = _normal()
    inside = below - special.ndtr(z - w[:, None])
    return np.asarray(k * (inside ** (k - 1) @ weights), dtype=np.float64)


@lru_cache(maxsize=4096)
def critical_range(alpha: float, k: int, df: float) -> float:
    """Studentized range of `k` means, in standard errors of a mean, that is exceeded with probability `alpha`; `df` is
    above 0. Solved in logarithms, where the tail is nearly a straight line, between two bounds from Student's t: a
    single pair below, Bonferroni's inequality above.

    Examples
    --------
    >>> round(critical_range(0.05, 7, 203), 6)
    4.211736
    """
    from scipy import optimize

    single_pair = math.sqrt(2) * _t_beyond(alpha / 2, df)
    if k == 2:
        return single_pair
    bonferroni = math.sqrt(2) * _t_beyond(alpha / (k * (k - 1)), df)

    def excess(log_q: float) -> float:
        return math.log(max(upper_tail(math.exp(log_q), k, df), SMALLEST_TAIL) / alpha)

    root = optimize.brentq(excess, math.log(single_pair), math.log(bonferroni), xtol=1e-13, rtol=1e-13)
    return math.exp(float(root))


def _t_beyond(tail: float, df: float) -> float:
    from scipy import special

    return -float(special.ndtri(tail) if math.isinf(df) else special.stdtrit(df, tail))
