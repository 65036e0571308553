"""Friedman's test of all algorithms on the same users, and Nemenyi's comparison of every pair after it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from inference.corrections import check_alpha
from inference.paired import by_algorithm, largest
from inference.results import Integers, Pair, PairwiseResult, Undefined
from inference.signed_rank import DECIMALS
from inference.studentized_range import critical_range, upper_tail

NEMENYI = "Nemenyi"


@dataclass(frozen=True)
class FriedmanResult:
    """Friedman's test, corrected for ties."""

    chi_squared: float
    p: float
    df: int  # algorithms less one
    # `iman_davenport_f`, `iman_davenport_p`: the F form, less conservative; None where all users order the algorithms
    # alike, as F is infinite.
    iman_davenport_f: float | None
    iman_davenport_p: float | None
    iman_davenport_df: tuple[int, int]
    kendalls_w: float  # agreement of users' orders, in [0, 1]
    # 1 for the smallest value, so the best algorithm has the largest one (of a metric that is better high).
    mean_ranks: dict[str, float]
    n: int  # users with a value for every algorithm
    n_left_out: int  # the others


@dataclass(frozen=True)
class NemenyiResult(PairwiseResult):
    """Nemenyi's comparisons."""

    critical_difference: float = 0.0  # mean ranks that differ by more are declared different


def _ranked(values: Mapping[str, ArrayLike]) -> tuple[Integers, int] | Undefined:
    """Mid-ranks times two, shape (n_users, n_algorithms), and the number of users who are left out."""
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
    doubled = np.rint(2 * stats.rankdata(complete, axis=1)).astype(np.int64)
    return doubled, len(table) - len(complete)


def friedman(values: Mapping[str, ArrayLike]) -> FriedmanResult | Undefined:
    r"""Friedman's test: do users rank the algorithms alike, with ties corrected for?

    .. math:: \chi^2_F = \frac{(k - 1) \sum_j (R_j - n (k + 1) / 2)^2}{\sum_{ij} r_{ij}^2 - n k (k + 1)^2 / 4},
              \quad F_F = \frac{(n - 1) \chi^2_F}{n (k - 1) - \chi^2_F}

    `values` maps each algorithm to a metric of each user, in one order of users; users with a NaN are left out as a
    whole. Values are rounded to a billionth of the largest, so that those equal on paper tie. Undefined with fewer than
    two algorithms or users, or where every user has ties only. Raises DataError for arrays of different lengths or with
    infinities. Sources: Friedman (1937), Journal of the American Statistical Association 32(200):675-701; Iman &
    Davenport (1980), Communications in Statistics A 9(6):571-595; Demšar (2006), JMLR 7:1-30.

    Examples
    --------
    >>> result = friedman({"A": [1, 1, 1, 2], "B": [2, 2, 2, 1], "C": [3, 3, 3, 3]})
    >>> result.chi_squared, result.df, result.mean_ranks["C"]
    (6.5, 2, 3.0)
    """
    from scipy import special

    ranks = _ranked(values)
    if isinstance(ranks, Undefined):
        return ranks
    doubled, n_left_out = ranks
    n, k = len(doubled), len(values)
    sums = doubled.sum(axis=0)
    spread = (k - 1) * sum(int(total - n * (k + 1)) ** 2 for total in sums.tolist())
    room = int((doubled**2).sum()) - n * k * (k + 1) ** 2
    chi_squared = spread / room
    f = f_p = None
    if spread < room * n * (k - 1):
        f = (n - 1) * chi_squared / (n * (k - 1) - chi_squared)
        f_p = float(special.fdtrc(k - 1, (k - 1) * (n - 1), f))
    means = (sums / (2 * n)).tolist()
    return FriedmanResult(
        chi_squared=chi_squared,
        p=float(special.chdtrc(k - 1, chi_squared)),
        df=k - 1,
        iman_davenport_f=f,
        iman_davenport_p=f_p,
        iman_davenport_df=(k - 1, (k - 1) * (n - 1)),
        kendalls_w=chi_squared / (n * (k - 1)),
        mean_ranks=dict(zip(values, means, strict=True)),
        n=n,
        n_left_out=n_left_out,
    )


def nemenyi(values: Mapping[str, ArrayLike], alpha: float = 0.05) -> NemenyiResult | Undefined:
    r"""Nemenyi's test of every pair of algorithms, by mean ranks over users.

    .. math:: q = \frac{|\bar R_a - \bar R_b|}{\sqrt{k (k + 1) / (6 n)}}

    referred to the studentized range over :math:`\sqrt 2` with infinitely many degrees of freedom. There is no
    correction for ties, which makes it cautious where there are many. ``locations`` are mean ranks, 1 for the smallest
    value; ``statistic`` is q. Values, errors and undefined cases as for `friedman`; raises ParameterError for an
    `alpha` outside (0, 1). Source: Demšar (2006), JMLR 7:1-30, section 3.2.2.

    Examples
    --------
    >>> result = nemenyi({"A": [1, 1, 1, 2], "B": [2, 2, 2, 1], "C": [3, 3, 3, 3]})
    >>> round(result.critical_difference, 3), [pair.is_significant for pair in result.pairs]
    (1.657, [False, True, False])
    """
    check_alpha(alpha)
    ranks = _ranked(values)
    if isinstance(ranks, Undefined):
        return ranks
    doubled, _n_left_out = ranks
    n, k = len(doubled), len(values)
    sums = dict(zip(values, doubled.sum(axis=0).tolist(), strict=True))
    error = math.sqrt(k * (k + 1) / (6 * n))
    pairs = []
    for a, b in combinations(values, 2):
        difference = (sums[a] - sums[b]) / (2 * n)
        q = abs(difference) / error
        p = upper_tail(q * math.sqrt(2), k, math.inf)
        pairs.append(Pair(a, b, difference, p, p < alpha, statistic=q, se=error))
    return NemenyiResult(
        test=NEMENYI,
        alpha=alpha,
        pairs=tuple(pairs),
        location_name="mean rank",
        locations={name: total / (2 * n) for name, total in sums.items()},
        n=dict.fromkeys(values, n),
        critical_difference=critical_range(alpha, k, math.inf) / math.sqrt(2) * error,
    )
