"""Agreement of two measures over the same few algorithms: rank correlation with exact p.

No p value is approximated by a normal or t distribution. Up to `MOST_PERMUTED` algorithms all orders are enumerated:
with seven, a perfect order has p = 2 / 5040. More algorithms are counted exactly where no values are tied, and
otherwise compared under `DRAWN` seeded random orders and the order observed. Statistics are integers, so "at least as
far from 0 as observed" needs no tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference.groups import Number, exact
from inference.results import AgreementResult, Integers, Undefined

MOST_PERMUTED = 8  # 40,320 orders
DRAWN = 99_999  # random orders of a longer list; with the observed one 100,000
SEED = 20110905
SAMPLED = "Monte Carlo"  # the method, in results


@dataclass(frozen=True)
class Null:
    """Distribution of the distance of an integer statistic from 0 over the orders of a list."""

    distances: Integers  # ascending
    n_orders: NDArray[Any]  # that give each distance or a larger one; integers of any size

    @classmethod
    def of(cls, statistics: Integers, n_orders: NDArray[Any] | None = None) -> Null:
        """Count statistics of single orders, or those with `n_orders` orders each."""
        distances, position = np.unique(np.abs(statistics), return_inverse=True)
        # Python's integers: 50! orders do not fit in 64 bits.
        counts = np.zeros(len(distances), dtype=object if n_orders is not None else np.int64)
        np.add.at(counts, position, 1 if n_orders is None else n_orders)
        return cls(distances, np.cumsum(counts[::-1])[::-1])

    def share_at_least(self, distance: int) -> float:
        """Share of orders with a statistic that far from 0, or farther."""
        beyond = self.n_orders[self.distances >= distance]
        return float(beyond[0] / self.n_orders[0]) if len(beyond) else 0.0

    def smallest_with_tail_below(self, alpha: float) -> int | None:
        """The smallest distance whose share at or beyond it is below `alpha`, if there is one."""
        # The first entry counts all orders: every statistic is at least the smallest distance from 0.
        below = self.distances[self.n_orders < alpha * self.n_orders[0]]
        return int(below[0]) if len(below) else None


@lru_cache(maxsize=16)
def pair_indexes(n: int) -> tuple[Integers, Integers]:
    """Positions of both members of every pair (i, j), i < j, of `n` values."""
    pairs = np.array(list(combinations(range(n), 2)), dtype=np.int64)
    return pairs[:, 0], pairs[:, 1]


@lru_cache(maxsize=8)
def _orders(n: int) -> NDArray[np.int16]:
    """The orders that a statistic is compared under, shape (n_orders, n); the first is the one given."""
    if n <= MOST_PERMUTED:
        return np.array(list(permutations(range(n))), dtype=np.int16)
    orders = np.tile(np.arange(n, dtype=np.int16), (DRAWN + 1, 1))
    # The observed order stays the first: with it among those counted, p is valid and never 0.
    orders[1:] = np.random.default_rng(SEED).permuted(orders[1:], axis=1)
    return orders


def permuted_concordance(x: Integers, y: Integers) -> Integers:
    """Concordant less discordant pairs under the orders of `y`; shape (n_orders,), the observed order first.

    Of both lists, shape (n,), only order and ties count.
    """
    rearranged, of_x = y.astype(np.int16)[_orders(len(y))], x.astype(np.int16)
    balance = np.zeros(len(rearranged), dtype=np.int64)
    for at in range(len(y) - 1):
        products = np.sign(rearranged[:, at + 1 :] - rearranged[:, at, None]) * np.sign(of_x[at + 1 :] - of_x[at])
        balance += products.sum(axis=1)
    return balance


@lru_cache(maxsize=64)
def concordance_without_ties(n: int) -> Null:
    """Distribution of concordant less discordant pairs over all orders of `n` distinct values.

    Counted by inserting one value after another: the i-th adds 0 to i - 1 inversions. Source: Kendall (1938),
    Biometrika 30(1/2):81-93.

    Examples
    --------
    >>> concordance_without_ties(3).distances.tolist(), concordance_without_ties(3).n_orders.tolist()
    ([1, 3], [6, 2])
    """
    counts = np.ones(1, dtype=object)
    for size in range(2, n + 1):
        counts = np.convolve(counts, np.ones(size, dtype=object))
    n_pairs = n * (n - 1) // 2
    return Null.of(n_pairs - 2 * np.arange(n_pairs + 1), counts)


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
    drawn at random with a fixed seed. `alpha` is the level for ``smallest_detectable``. Undefined with fewer than two
    algorithms, or when a measure is constant. Raises DataError for values that are not finite. Source: Kendall (1945),
    Biometrika 33(3):239-251.

    Examples
    --------
    >>> result = kendall([1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 7, 6])
    >>> round(result.coefficient, 3), round(result.p, 4), round(result.smallest_detectable, 3)
    (0.905, 0.0028, 0.714)
    """
    read = _read(x, y)
    if isinstance(read, Undefined):
        return read
    n, (first, second) = len(read[0]), pair_indexes(len(read[0]))
    of_x, of_y = (np.sign(coded[second] - coded[first]) for coded in read)
    scale = math.sqrt(int(np.count_nonzero(of_x)) * int(np.count_nonzero(of_y)))
    # The count by inversions is of distinct values: ties would need every pattern of its own.
    has_ties = min(np.count_nonzero(of_x), np.count_nonzero(of_y)) < len(first)
    if MOST_PERMUTED < n <= MOST_COUNTED and not has_ties:
        return _tested(int(of_x @ of_y), scale, concordance_without_ties(n), COUNTED, n=n, alpha=alpha)
    null = Null.of(permuted_concordance(*read))
    return _tested(int(of_x @ of_y), scale, null, _method(n), n=n, alpha=alpha)


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
    from scipy import stats

    read = _read(x, y)
    if isinstance(read, Undefined):
        return read
    n = len(read[0])
    # Mean ranks times two are integers, and both lists of them sum to n (n + 1); times n, so is the covariance.
    ranks_x, ranks_y = (np.rint(2 * stats.rankdata(coded)).astype(np.int64) for coded in read)
    middle = (n * (n + 1)) ** 2
    covariance = n * int(ranks_x @ ranks_y) - middle
    scale = math.sqrt((n * int(ranks_x @ ranks_x) - middle) * (n * int(ranks_y @ ranks_y) - middle))
    null = Null.of(n * np.asarray(ranks_y[_orders(n)] @ ranks_x, dtype=np.int64) - middle)
    return _tested(covariance, scale, null, _method(n), n=n, alpha=alpha)


def _method(n: int) -> str:
    return PERMUTED if n <= MOST_PERMUTED else SAMPLED


def _read(x: Iterable[Number], y: Iterable[Number]) -> tuple[Integers, Integers] | Undefined:
    """Both measures as small integers: only order and ties count."""
    # As exact decimals: two means that are equal on paper must tie.
    first = [exact(value, "the first measure") for value in x]
    second = [exact(value, "the second measure") for value in y]
    if len(first) < 2:
        return Undefined(f"A comparison of orders needs two algorithms; there are {len(first)}.")
    of_x, of_y = (np.unique(np.array(values), return_inverse=True)[1] for values in (first, second))
    for coded, which in ((of_x, "first"), (of_y, "second")):
        if not coded.any():
            return Undefined(f"All algorithms have the same value on the {which} measure.")
    return of_x, of_y


def _tested(statistic: int, scale: float, null: Null, method: str, *, n: int, alpha: float) -> AgreementResult:
    smallest = null.smallest_with_tail_below(alpha)
    return AgreementResult(
        coefficient=_bounded(statistic / scale),
        p=null.share_at_least(abs(statistic)),
        p_method=method,
        n=n,
        smallest_detectable=None if smallest is None else _bounded(smallest / scale),
    )


def _bounded(coefficient: float) -> float:
    """Keep a rounding error from stepping over 1."""
    return max(-1.0, min(1.0, coefficient))
