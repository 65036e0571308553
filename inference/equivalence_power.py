"""Power of an equivalence test of two conditions that are truly equal."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.errors import ParameterError
from inference.power import check_design, check_participants

NODES = 200
LARGEST_BOUND = 1e6  # in standard deviations
TARGET = 0.8


def equivalence_power(bound: float, n_per_condition: int, *, alpha: float = 0.05, pairs: int = 1) -> float:
    r"""Power of two one-sided t tests when the two conditions have the same mean.

    .. math:: E_S\left[\max\left(0, 2 \Phi\left(\sqrt{n / 2}\, \Delta - t\, S\right) - 1\right)\right], \qquad
        2(n - 1) S^2 \sim \chi^2_{2(n - 1)}

    with t the critical value at `alpha`, or at `alpha` over `pairs`, which is the first step of Holm's correction.
    `bound` is the smallest effect of interest Δ in standard deviations of a participant's value, above 0. Raises
    ParameterError for a number outside its range. Source: Phillips (1990), Journal of Pharmacokinetics and
    Biopharmaceutics 18(2):137-144, for a true difference of 0.

    Examples
    --------
    >>> round(equivalence_power(0.5, 70), 3), round(equivalence_power(0.5, 70, pairs=21), 3)
    (0.806, 0.099)
    """
    from scipy import special

    check_design(2, alpha)
    check_participants(n_per_condition)
    if not 0 < bound <= LARGEST_BOUND or pairs < 1:
        raise ParameterError(
            f"An equivalence test has a bound above 0 and up to {LARGEST_BOUND:g} standard deviations, and at least 1 "
            f"pair; got {bound:g} and {pairs}."
        )
    df = 2 * (n_per_condition - 1)
    critical = float(special.stdtrit(df, 1 - alpha / pairs))
    nodes, weights = _quadrature()
    spread = np.sqrt(special.gammaincinv(df / 2, (nodes + 1) / 2) * 2 / df)
    inside = 2 * special.ndtr(np.sqrt(n_per_condition / 2) * bound - critical * spread) - 1
    return float((weights / 2 * np.maximum(0.0, inside)).sum())


@cache
def _quadrature() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of Gauss and Legendre."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return np.asarray(nodes), np.asarray(weights)


def needed_bound(n_per_condition: int, *, power: float = TARGET, alpha: float = 0.05, pairs: int = 1) -> float:
    """The bound, in standard deviations, with which equal conditions are shown to be equivalent with this power.

    Raises ParameterError as `equivalence_power`, and for a `power` outside (0, 1).

    Examples
    --------
    >>> round(needed_bound(70), 3)
    0.497
    """
    from scipy import optimize

    if not 0 < power < 1:
        raise ParameterError(f"The target power must lie between 0 and 1; got {power:g}.")
    equivalence_power(1.0, n_per_condition, alpha=alpha, pairs=pairs)  # checks the design

    def missing(bound: float) -> float:
        return equivalence_power(bound, n_per_condition, alpha=alpha, pairs=pairs) - power

    return float(optimize.brentq(missing, 1e-9, LARGEST_BOUND, xtol=1e-12))
