"""Distribution of rank statistics of two short lists whose orders are unrelated.

Up to `MOST_PERMUTED` values all orders are enumerated; longer lists are compared under `DRAWN` random orders and the
order observed. Statistics are integers, so "at least as far from 0 as observed" needs no tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference.results import Integers

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
        counts = np.zeros(len(distances), dtype=object if n_orders is not None else np.int64)
        np.add.at(counts, position, 1 if n_orders is None else n_orders)
        return cls(distances, np.cumsum(counts[::-1])[::-1])

    def share_at_least(self, distance: int) -> float:
        """Share of orders with a statistic that far from 0, or farther."""
        beyond = self.n_orders[self.distances >= distance]
        return float(beyond[0] / self.n_orders[0]) if len(beyond) else 0.0

    def smallest_with_tail_below(self, alpha: float) -> int | None:
        """The smallest distance whose share at or beyond it is below `alpha`, if there is one."""
        below = self.distances[self.n_orders < alpha * self.n_orders[0]]
        return int(below[0]) if len(below) else None


@lru_cache(maxsize=16)
def pair_places(n: int) -> tuple[Integers, Integers]:
    """Positions of both members of every pair (i, j), i < j, of `n` values."""
    pairs = np.array(list(combinations(range(n), 2)), dtype=np.int64)
    return pairs[:, 0], pairs[:, 1]


@lru_cache(maxsize=8)
def _orders(n: int) -> NDArray[np.int16]:
    """The orders that a statistic is compared under, shape (n_orders, n); the first is the one given."""
    if n <= MOST_PERMUTED:
        return np.array(list(permutations(range(n))), dtype=np.int16)
    orders = np.tile(np.arange(n, dtype=np.int16), (DRAWN + 1, 1))
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


def permuted_products(x: Integers, y: Integers) -> Integers:
    """Sum the products of `x` with `y` under the orders of `y`. Both arrays have shape (n,), the result (n_orders,)."""
    return np.asarray(y[_orders(y.size)] @ x, dtype=np.int64)


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
