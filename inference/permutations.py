"""What rank statistics of two short lists look like when their orders have nothing to do with each other.

Statistics are integers here, so "at least as far from 0 as observed" is counted without a tolerance.
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

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Null:
    """Distribution of an integer statistic: value -> number of orders that give it."""

    counts: dict[int, int]

    @classmethod
    def of(cls, statistics: Integers) -> Null:
        """Count the statistics of all orders.

        Parameters
        ----------
        statistics : int array
            One of each order.

        Returns
        -------
        Null
        """
        values, counts = np.unique(statistics, return_counts=True)
        return cls(dict(zip(values.tolist(), counts.tolist(), strict=True)))

    @property
    def total(self) -> int:
        """Number of orders."""
        return sum(self.counts.values())

    def share_at_least(self, observed: int) -> float:
        """Share of orders with a statistic of `observed` or more.

        Parameters
        ----------
        observed : int

        Returns
        -------
        float
            In [0, 1].
        """
        return float(Fraction(sum(n for value, n in self.counts.items() if value >= observed), self.total))

    def distances(self) -> Null:
        """The distribution of the absolute value."""
        folded: Counter[int] = Counter()
        for value, n in self.counts.items():
            folded[abs(value)] += n
        return Null(dict(folded))

    def smallest_with_tail_below(self, alpha: float) -> int | None:
        """The smallest value whose share at or above it is below `alpha`, if there is one.

        Parameters
        ----------
        alpha : float
            A share of the orders.

        Returns
        -------
        int or None
        """
        descending = sorted(self.counts, reverse=True)
        tails = accumulate(self.counts[value] for value in descending)
        below = [value for value, tail in zip(descending, tails, strict=True) if tail < alpha * self.total]
        return below[-1] if below else None


def codes(values: Sequence[Fraction]) -> list[int]:
    """Number the distinct values from 0, ascending; equal values get one number.

    Parameters
    ----------
    values : sequence of Fraction

    Returns
    -------
    list of int
        In the order given.

    Examples
    --------
    >>> codes([Fraction(5), Fraction(2), Fraction(5)])
    [1, 0, 1]
    """
    number = {value: index for index, value in enumerate(sorted(set(values)))}
    return [number[value] for value in values]


def doubled_ranks(coded: Sequence[int]) -> Integers:
    """Mean ranks times two, so that they are integers.

    Parameters
    ----------
    coded : sequence of int, length n
        As `codes` gives them.

    Returns
    -------
    int64 array, shape (n,)
        2 to 2n; they sum to n (n + 1).

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

    Parameters
    ----------
    coded : sequence of int, length n
        As `codes` gives them.

    Returns
    -------
    int64 array, shape (n (n - 1) / 2,)
        1 where j has the larger value, -1 where i has, 0 for a tie.
    """
    first, second = _pair_places(len(coded))
    array = np.array(coded, dtype=np.int64)
    return np.asarray(np.sign(array[second] - array[first]), dtype=np.int64)


@lru_cache(maxsize=16)
def _pair_places(n: int) -> tuple[Integers, Integers]:
    places = np.array(list(combinations(range(n), 2)), dtype=np.int64)
    return places[:, 0], places[:, 1]


@lru_cache(maxsize=8)
def _orders(n: int) -> Integers:
    return np.array(list(permutations(range(n))), dtype=np.int64)


def permuted_directions(coded: Sequence[int]) -> Integers:
    """Directions of every pair under every order.

    Parameters
    ----------
    coded : sequence of int, length n
        As `codes` gives them; n! rows have to fit in memory.

    Returns
    -------
    int64 array, shape (n!, n (n - 1) / 2)
        As `directions` gives them.
    """
    first, second = _pair_places(len(coded))
    rearranged = np.array(coded, dtype=np.int64)[_orders(len(coded))]
    return np.asarray(np.sign(rearranged[:, second] - rearranged[:, first]), dtype=np.int64)


def permuted_products(x: Integers, y: Integers) -> Integers:
    """Sum of products of `x` with `y` under every order of `y`.

    Parameters
    ----------
    x, y : int64 array, shape (n,)
        n! numbers have to fit in memory.

    Returns
    -------
    int64 array, shape (n!,)
    """
    return np.asarray(y[_orders(y.size)] @ x, dtype=np.int64)


@lru_cache(maxsize=64)
def concordance_without_ties(n: int) -> Null:
    """Distribution of concordant minus discordant pairs over all orders of `n` distinct values.

    Counted by inserting one value after another: the i-th adds 0 to i - 1 inversions.

    Parameters
    ----------
    n : int
        >= 1.

    Returns
    -------
    Null
        Of n (n - 1) / 2 pairs.

    References
    ----------
    Kendall (1938), Biometrika 30(1/2):81-93.

    Examples
    --------
    >>> concordance_without_ties(3).counts
    {3: 1, 1: 2, -1: 2, -3: 1}
    """
    ways = [1]
    for size in range(2, n + 1):
        wider = [0] * (len(ways) + size - 1)
        for inversions, n_ways in enumerate(ways):
            for added in range(size):
                wider[inversions + added] += n_ways
        ways = wider
    n_pairs = n * (n - 1) // 2
    return Null({n_pairs - 2 * inversions: n_ways for inversions, n_ways in enumerate(ways)})


def concordance_variance(x: Sequence[int], y: Sequence[int]) -> Fraction:
    """Variance of concordant minus discordant pairs under chance, with ties.

    Parameters
    ----------
    x, y : sequence of int, length n
        As `codes` gives them; n >= 3.

    Returns
    -------
    Fraction
        In pairs squared.

    References
    ----------
    Kendall (1970), Rank Correlation Methods, 4th edition, section 4.3.

    Examples
    --------
    >>> concordance_variance([0, 1, 2], [0, 1, 2])
    Fraction(11, 3)
    """
    n = len(x)
    runs_x, runs_y = Counter(x).values(), Counter(y).values()
    fixed = sum(t * (t - 1) * (2 * t + 5) for runs in (runs_x, runs_y) for t in runs)
    pairs_x, pairs_y = (sum(t * (t - 1) for t in runs) for runs in (runs_x, runs_y))
    triples_x, triples_y = (sum(t * (t - 1) * (t - 2) for t in runs) for runs in (runs_x, runs_y))
    return (
        Fraction(n * (n - 1) * (2 * n + 5) - fixed, 18)
        + Fraction(pairs_x * pairs_y, 2 * n * (n - 1))
        + Fraction(triples_x * triples_y, 9 * n * (n - 1) * (n - 2))
    )
