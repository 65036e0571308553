"""Friedman's test of all algorithms on the same users, and Nemenyi's comparison of every pair after it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from inference.paired import DECIMALS, by_algorithm, largest
from inference.results import Integers, Pair, PairwiseResult, Undefined
from inference.studentized_range import upper_tail

NEMENYI = "Nemenyi"


@dataclass(frozen=True)
class FriedmanResult:
    """Friedman's test, corrected for ties."""

    chi_squared: float
    p: float
    df: int  # algorithms less one


def _ranked(values: Mapping[str, ArrayLike]) -> Integers | Undefined:
    """Mid-ranks times two, shape (n_users, n_algorithms), of the users with a value for every algorithm."""
    from scipy import stats

    columns = by_algorithm(values)
    if len(columns) < 2:
        return Undefined("A comparison needs two algorithms with values of users.")
    table = np.column_stack(list(columns.values()))
    complete = table[~np.isnan(table).any(axis=1)]
    complete = np.round(complete / (largest(complete) or 1.0), DECIMALS)
    if len(complete) < 2:
        return Undefined("Fewer than two users have a value for every algorithm.")
    if not np.ptp(complete, axis=1).any():
        return Undefined("Every user has the same value for all algorithms: there is nothing to rank.")
    return np.rint(2 * stats.rankdata(complete, axis=1)).astype(np.int64)


def friedman(values: Mapping[str, ArrayLike]) -> FriedmanResult | Undefined:
    r"""Friedman's test: do users rank the algorithms alike, with ties corrected for?

    .. math:: \chi^2_F = \frac{(k - 1) \sum_j (R_j - n (k + 1) / 2)^2}{\sum_{ij} r_{ij}^2 - n k (k + 1)^2 / 4}

    `values` maps each algorithm to a metric of each user, in one order of users; users with a NaN are left out as a
    whole. Values are rounded to a billionth of the largest, so that those equal on paper tie. Undefined with fewer than
    two algorithms or users, or where every user has ties only. Raises DataError for arrays of different lengths or with
    infinities. Sources: Friedman (1937), Journal of the American Statistical Association 32(200):675-701; Demšar
    (2006), JMLR 7:1-30.

    Examples
    --------
    >>> result = friedman({"A": [1, 1, 1, 2], "B": [2, 2, 2, 1], "C": [3, 3, 3, 3]})
    >>> result.chi_squared, result.df
    (6.5, 2)
    """
    from scipy import special

    doubled = _ranked(values)
    if isinstance(doubled, Undefined):
        return doubled
    n, k = len(doubled), len(values)
    sums = doubled.sum(axis=0)
    spread = (k - 1) * sum(int(total - n * (k + 1)) ** 2 for total in sums.tolist())
    room = int((doubled**2).sum()) - n * k * (k + 1) ** 2
    chi_squared = spread / room
    return FriedmanResult(chi_squared, float(special.chdtrc(k - 1, chi_squared)), k - 1)


def nemenyi(values: Mapping[str, ArrayLike], alpha: float = 0.05) -> PairwiseResult | Undefined:
    r"""Nemenyi's test of every pair of algorithms, by mean ranks over users.

    .. math:: q = \frac{|\bar R_a - \bar R_b|}{\sqrt{k (k + 1) / (6 n)}}

    referred to the studentized range over :math:`\sqrt 2` with infinitely many degrees of freedom. There is no
    correction for ties, which makes it cautious where there are many. ``locations`` are mean ranks, 1 for the smallest
    value; ``statistic`` is q. Values, errors and undefined cases as for `friedman`. Source: Demšar (2006), JMLR 7:1-30,
    section 3.2.2.

    Examples
    --------
    >>> result = nemenyi({"A": [1, 1, 1, 2], "B": [2, 2, 2, 1], "C": [3, 3, 3, 3]})
    >>> [pair.is_significant for pair in result.pairs]
    [False, True, False]
    """
    doubled = _ranked(values)
    if isinstance(doubled, Undefined):
        return doubled
    n, k = len(doubled), len(values)
    sums = dict(zip(values, doubled.sum(axis=0).tolist(), strict=True))
    error = math.sqrt(k * (k + 1) / (6 * n))
    pairs = []
    for a, b in combinations(values, 2):
        difference = (sums[a] - sums[b]) / (2 * n)
        q = abs(difference) / error
        p = upper_tail(q * math.sqrt(2), k, math.inf)
        pairs.append(Pair(a, b, difference, p, p < alpha, statistic=q, se=error))
    return PairwiseResult(
        test=NEMENYI,
        alpha=alpha,
        pairs=tuple(pairs),
        locations={name: total / (2 * n) for name, total in sums.items()},
        n=dict.fromkeys(values, n),
    )
