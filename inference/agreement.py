"""Agreement of two measures over the same few algorithms: rank correlation with exact p, and pairwise verdicts.

No p value is approximated by a normal or t distribution. Up to eight algorithms all orders are enumerated: with seven,
a perfect order has p = 2 / 5040. More algorithms are counted exactly where no values are tied, and otherwise compared
under 100,000 seeded random orders.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.errors import DataError
from inference.corrections import check_alpha
from inference.exact import Number, exact
from inference.permutations import (
    MOST_PERMUTED,
    SAMPLED,
    Null,
    codes,
    concordance_without_ties,
    directions,
    doubled_ranks,
    permuted_concordance,
    permuted_products,
)
from inference.results import AgreementResult, Undefined

KENDALL = "Kendall's tau-b"
SPEARMAN = "Spearman's rho"
DIRECTIONS = "Agreement of pair directions"
MOST_COUNTED = 50  # algorithms without ties

PERMUTED = "exact permutation"
COUNTED = "exact"


def kendall(x: Iterable[Number], y: Iterable[Number], alpha: float = 0.05) -> AgreementResult | Undefined:
    r"""Kendall's rank correlation tau-b.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(N - T_x)(N - T_y)}}

    with C concordant and D discordant of the N pairs, and T the pairs tied on a measure. The two measures are of the
    same algorithms in the same order, finite. Equal values are ties, so pass means that were rounded once, as
    `inference.descriptive` does. Up to 8 algorithms p is the share of all orders with an absolute tau at least as
    large. With more it is exact without ties (up to 50), else the share of 100,000 orders, the observed one and 99,999
    drawn at random with a fixed seed. `alpha`, in (0, 1), is the level for
    ``smallest_detectable``. Undefined with fewer than two algorithms, or when a measure is constant. Raises
    ParameterError or DataError for another `alpha`, lists of different length, or values that are not finite. Source:
    Kendall (1945), Biometrika 33(3):239-251.

    Examples
    --------
    >>> result = kendall([1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 7, 6])
    >>> round(result.coefficient, 3), round(result.p, 4), round(result.smallest_detectable, 3)
    (0.905, 0.0028, 0.714)
    """
    check_alpha(alpha)
    read = _read(x, y, KENDALL)
    if isinstance(read, Undefined):
        return read
    of_x, of_y = directions(read.x), directions(read.y)
    s = int((of_x * of_y).sum())
    scale = math.sqrt(int(np.count_nonzero(of_x)) * int(np.count_nonzero(of_y)))
    if read.is_counted:
        null = concordance_without_ties(read.n)
    else:
        concordant, discordant = permuted_concordance(read.x, read.y)
        null = Null.of(concordant - discordant)
    return _tested(s, scale, null, read.method, n=read.n, alpha=alpha)


def spearman(x: Iterable[Number], y: Iterable[Number], alpha: float = 0.05) -> AgreementResult | Undefined:
    """Spearman's rank correlation: Pearson's of the mean ranks.

    Parameters, result and errors as for `kendall`; with more than 8 algorithms p is always the share of 100,000 orders.
    Source: Spearman (1904), American Journal of Psychology 15(1):72-101.

    Examples
    --------
    >>> result = spearman([1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7])
    >>> result.coefficient, round(result.p * 5040)
    (1.0, 2)
    """
    check_alpha(alpha)
    read = _read(x, y, SPEARMAN)
    if isinstance(read, Undefined):
        return read
    n = read.n
    ranks_x, ranks_y = doubled_ranks(read.x), doubled_ranks(read.y)
    # Both lists of doubled ranks sum to n (n + 1); times n, the covariance is an integer.
    middle = (n * (n + 1)) ** 2
    covariance = n * int(ranks_x @ ranks_y) - middle
    scale = math.sqrt((n * int(ranks_x @ ranks_x) - middle) * (n * int(ranks_y @ ranks_y) - middle))
    null = Null.of(n * permuted_products(ranks_x, ranks_y) - middle)
    return _tested(covariance, scale, null, PERMUTED if n <= MOST_PERMUTED else SAMPLED, n=n, alpha=alpha)


@dataclass(frozen=True)
class _Coded:
    """Two measures as small integers: only order and ties matter."""

    x: list[int]
    y: list[int]

    @property
    def n(self) -> int:
        return len(self.x)

    @property
    def is_counted(self) -> bool:
        """Without ties the distribution of tau is known without going through the orders."""
        has_ties = min(len(set(self.x)), len(set(self.y))) < self.n
        return MOST_PERMUTED < self.n <= MOST_COUNTED and not has_ties

    @property
    def method(self) -> str:
        if self.is_counted:
            return COUNTED
        return PERMUTED if self.n <= MOST_PERMUTED else SAMPLED


def _read(x: Iterable[Number], y: Iterable[Number], procedure: str) -> _Coded | Undefined:
    first = [exact(value, "the first measure") for value in x]
    second = [exact(value, "the second measure") for value in y]
    if len(first) != len(second):
        raise DataError(f"There are {len(first)} algorithms on one side and {len(second)} on the other.")
    if len(first) < 2:
        return Undefined(f"A comparison of orders needs two algorithms; there are {len(first)}.", procedure)
    for values, which in ((first, "first"), (second, "second")):
        if len(set(values)) == 1:
            return Undefined(f"All algorithms have the same value on the {which} measure.", procedure)
    return _Coded(codes(first), codes(second))


def _tested(statistic: int, scale: float, null: Null, method: str, *, n: int, alpha: float) -> AgreementResult:
    distances = null.distances()
    smallest = distances.smallest_with_tail_below(alpha)
    return AgreementResult(
        coefficient=_bounded(statistic / scale),
        p=distances.share_at_least(abs(statistic)),
        p_method=method,
        n=n,
        smallest_detectable=None if smallest is None else _bounded(smallest / scale),
    )


def _bounded(coefficient: float) -> float:
    """Keep a rounding error from stepping over 1."""
    return max(-1.0, min(1.0, coefficient))
