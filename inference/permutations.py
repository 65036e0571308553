"""Distribution of rank statistics of two short lists whose orders are unrelated.

Up to `MOST_PERMUTED` values all orders are enumerated; longer lists are compared under `DRAWN` random orders and the
order observed. Statistics are integers, so "at least as far from 0 as observed" needs no tolerance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, combinations, permutations

import numpy as np
from numpy.typing import NDArray

from inference.results import Integers

MOST_PERMUTED = 8  # 40,320 orders
DRAWN = 99_999  # random orders of a longer list; with the observed one 100,000
SEED = 20110905
SAMPLED = "Monte Carlo"  # the method, in results


@dataclass(frozen=True)
class Null:
    """Distribution of an integer statistic: value -> number of orders that give it."""

    counts: dict[int, int]

    @classmethod
    def of(cls, statistics: Integers) -> Null:
        """Count the statistics of all orders."""
        values, counts = np.unique(statistics, return_counts=True)
        return cls(dict(zip(values.tolist(), counts.tolist(), strict=True)))

    @property
    def total(self) -> int:
        """Number of orders."""
        return sum(self.counts.values())

    def share_at_least(self, observed: int) -> float:
        """Share of orders with a statistic of `observed` or more."""
        return float(Fraction(sum(n for value, n in self.counts.items() if value >= observed), self.total))

    def distances(self) -> Null:
        """The distribution of the absolute value."""
        folded: Counter[int] = Counter()
        for value, n in self.counts.items():
            folded[abs(value)] += n
        return Null(dict(folded))

    def smallest_with_tail_below(self, alpha: float) -> int | None:
        """The smallest value whose share at or above it is below `alpha`, if there is one."""
        descending = sorted(self.counts, reverse=True)
        tails = accumulate(self.counts[value] for value in descending)
        most = alpha * self.total
        below = [value for value, tail in zip(descending, tails, strict=True) if tail < most]
        return below[-1] if below else None


def codes(values: Sequence[Fraction]) -> list[int]:
    """Number the distinct values from 0, ascending; equal values get one number.

    Examples
    --------
    >>> codes([Fraction(5), Fraction(2), Fraction(5)])
    [1, 0, 1]
    """
    number = {value: index for index, value in enumerate(sorted(set(values)))}
    return [number[value] for value in values]


def doubled_ranks(coded: Sequence[int]) -> Integers:
    """Mean ranks times two, so that they are integers.

    They are from 2 to 2n and sum to n (n + 1). `coded` is as `codes` gives it.

    Examples
    --------
    >>> doubled_ranks([1, 0, 1]).tolist()
    [5, 2, 5]
    """
    array = np.array(coded, dtype=np.int64)
    below = (array[None, :] < array[:, None]).sum(axis=1)
    equal = (array[None, :] == array[:, None]).sum(axis=1)
    return np.asarray(2 * below + equal + 1, dtype=np.int64)


def directions(coded: Sequence[int]) -> Integers:
    """Direction of every pair (i, j), i < j.

    1 where j has the larger value, -1 where i has, 0 for a tie; shape (n (n - 1) / 2,). `coded` is as `codes` gives it.
    """
    first, second = pair_places(len(coded))
    array = np.array(coded, dtype=np.int64)
    return np.asarray(np.sign(array[second] - array[first]), dtype=np.int64)


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


def permuted_concordance(x: Sequence[int], y: Sequence[int]) -> tuple[Integers, Integers]:
    """Count the concordant and the discordant pairs under the orders of `y`.

    Both lists are as `codes` gives them; both results have shape (n_orders,).
    """
    rearranged = np.array(y, dtype=np.int16)[_orders(len(y))]
    of_x = np.array(x, dtype=np.int16)
    concordant, discordant = (np.zeros(len(rearranged), dtype=np.int64) for _ in range(2))
    for at in range(len(y) - 1):
        products = np.sign(rearranged[:, at + 1 :] - rearranged[:, at, None]) * np.sign(of_x[at + 1 :] - of_x[at])
        concordant += (products > 0).sum(axis=1)
        discordant += (products < 0).sum(axis=1)
    return concordant, discordant


def permuted_products(x: Integers, y: Integers) -> Integers:
    """Sum the products of `x` with `y` under the orders of `y`. Both arrays have shape (n,), the result (n_orders,)."""
    return np.asarray(y[_orders(y.size)] @ x, dtype=np.int64)


@lru_cache(maxsize=64)
def concordance_without_ties(n: int) -> Null:
    """Distribution of concordant minus discordant pairs over all orders of `n` distinct values.

    Counted by inserting one value after another: the i-th adds 0 to i - 1 inversions. Source: Kendall (1938),
    Biometrika 30(1/2):81-93.

    Examples
    --------
    >>> concordance_without_ties(3).counts
    {3: 1, 1: 2, -1: 2, -3: 1}
    """
    counts = [1]
    for size in range(2, n + 1):
        wider = [0] * (len(counts) + size - 1)
        for inversions, n_ways in enumerate(counts):
            for added in range(size):
                wider[inversions + added] += n_ways
        counts = wider
    n_pairs = n * (n - 1) // 2
    return Null({n_pairs - 2 * inversions: n_ways for inversions, n_ways in enumerate(counts)})
