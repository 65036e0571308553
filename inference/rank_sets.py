r"""Simultaneous confidence sets for the ranks of algorithms or conditions.

The rank of j is one more than the number of k with a truly better value; equal values share a rank. Every algorithm has
a set of successive ranks, and with the stated confidence all sets contain the true ranks at once:

.. math:: R_j = \{1 + |\{k : k \succ j\}|, \ldots, p - |\{k : j \succ k\}|\}

where :math:`\succ` are the differences that a test finds significant, with the error of all pairs and both directions
controlled together. Source: Mogstad, Romano, Shaikh & Wilhelm (2024), Review of Economic Studies 91(1):476-518,
Theorem 3.1 and section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError
from inference.bootstrap import finite_means
from inference.corrections import check_confidence
from inference.exact import finite
from inference.permutations import pair_places
from inference.results import Floats, Result, Undefined

RANK_SETS = "Confidence sets for ranks"
CELLS = 2_000_000  # standardised differences at a time
Ranks = tuple[int, int]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class RankSets(Result):
    """A set of ranks for each algorithm; all contain the true ranks at once with the stated confidence."""

    sets: dict[str, Ranks]  # lowest and highest rank, 1 the best
    confidence: float
    n_decided: int  # pairs of algorithms whose order is significant
    resamples: int = 0  # 0 where the sets follow from another test

    @property
    def best(self) -> tuple[str, ...]:
        """The algorithms that may be the best, in the order of the data."""
        return tuple(name for name, (low, _high) in self.sets.items() if low == 1)

    @property
    def single(self) -> tuple[str, ...]:
        """The algorithms with one rank in their set, in the order of the data."""
        return tuple(name for name, (low, high) in self.sets.items() if low == high)


def relation_rank_sets(dominates: Mapping[str, Sequence[str]], confidence: float) -> RankSets:
    """Sets of ranks from the significant pairs of a test that controls the error of all pairs, such as Tukey's HSD.

    `dominates` maps every condition to those significantly below it. Raises ParameterError for a `confidence` outside
    (0, 1).

    Examples
    --------
    >>> relation_rank_sets({"A": ["C"], "B": ["C"], "C": []}, 0.95).sets
    {'A': (1, 2), 'B': (1, 2), 'C': (3, 3)}
    """
    check_confidence(confidence)
    above = {name: sum(name in below for below in dominates.values()) for name in dominates}
    k = len(dominates)
    sets = {name: (1 + above[name], k - len(below)) for name, below in dominates.items()}
    return RankSets(sets, confidence, sum(above.values()))


def rank_sets(
    values: Mapping[str, float],
    draws: ArrayLike,
    *,
    higher_is_better: bool = True,
    confidence: float = 0.95,
) -> RankSets | Undefined:
    r"""Sets of ranks from estimates of k algorithms, `values`, and their joint sampling distribution: `draws`, shape
    (resamples, k), all algorithms from one resample, columns in the order of `values`.

    The tests of all ordered pairs (j, k) step down over the distribution of the largest studentised difference:

    .. math:: \max_{(j,k)} \left((\hat\theta^*_j - \hat\theta^*_k) - (\hat\theta_j - \hat\theta_k)\right) / s_{jk}

    with :math:`s_{jk}` the standard deviation of the difference over the draws; each step leaves the rejected pairs
    out. A pair whose difference is the same in every draw is never rejected. Undefined with fewer than two algorithms.
    Raises ParameterError for a `confidence` outside (0, 1), and DataError for a value that is not finite,
    columns that do not match the values, or as `finite_means`. Source of the steps: Romano & Wolf (2005), Econometrica
    73(4):1237-1282, algorithm 4.1.

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal([0.1, 0.2, 0.9], 0.1, (999, 3))
    >>> rank_sets({"A": 0.1, "B": 0.2, "C": 0.9}, draws).sets
    {'A': (2, 3), 'B': (2, 3), 'C': (1, 1)}
    """
    check_confidence(confidence)
    array = finite_means(draws)
    estimates = finite(list(values.values()), "A value is not finite: leave algorithms without a value out.")
    if array.shape[1] != estimates.size:
        raise DataError(f"There are {estimates.size} values for {array.shape[1]} columns of draws.")
    if estimates.size < 2:
        return Undefined(f"A ranking needs two algorithms; there are {estimates.size}.", RANK_SETS)
    first, second = pair_places(estimates.size)
    above, below = _Studentised(estimates, array).rejected(confidence)
    better = (above, below) if higher_is_better else (below, above)
    names = list(values)
    dominates: dict[str, list[str]] = {name: [] for name in names}
    for at, (j, k) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        if better[0][at]:
            dominates[names[j]].append(names[k])
        elif better[1][at]:
            dominates[names[k]].append(names[j])
    result = relation_rank_sets(dominates, confidence)
    return RankSets(result.sets, confidence, result.n_decided, len(array))


class _Studentised:
    """Differences of every pair (i, j), i < j, in standard deviations of their draws."""

    def __init__(self, estimates: Floats, draws: Floats) -> None:
        first, second = pair_places(estimates.size)
        self.pairs = first, second
        self.centred = draws - estimates
        # Summed over parts of the draws, so that no array holds every pair of every draw.
        means, squares = self.centred.mean(axis=0), np.zeros(first.size)
        for start in range(0, len(draws), self._at_once):
            squares += np.square(self._differences(start) - (means[first] - means[second])).sum(axis=0)
        spread = np.sqrt(squares / len(draws))
        # Rounding leaves about 1e-16 of the values where the difference is the same in every draw.
        self.is_varying = spread > 1e-12 * np.abs(draws).max()
        self.scale = np.where(self.is_varying, spread, 1.0)
        self.statistic = np.where(self.is_varying, (estimates[first] - estimates[second]) / self.scale, 0.0)

    @property
    def _at_once(self) -> int:
        return max(1, CELLS // self.pairs[0].size)

    def _differences(self, start: int) -> Floats:
        part = self.centred[start : start + self._at_once]
        return np.asarray(part[:, self.pairs[0]] - part[:, self.pairs[1]])

    def rejected(self, confidence: float) -> tuple[Flags, Flags]:
        """The pairs in which the first is significantly larger, and those in which the second is."""
        above, below = np.zeros_like(self.is_varying), np.zeros_like(self.is_varying)
        while True:
            limit = self._critical(self.is_varying & ~above, self.is_varying & ~below, confidence)
            more_above = self.is_varying & (self.statistic > limit)
            more_below = self.is_varying & (-self.statistic > limit)
            if not ((more_above & ~above) | (more_below & ~below)).any():
                return above, below
            above, below = above | more_above, below | more_below

    def _critical(self, above: Flags, below: Flags, confidence: float) -> float:
        """The quantile of the largest statistic over the hypotheses that still stand."""
        largest = []
        for start in range(0, len(self.centred), self._at_once):
            part = self._differences(start) / self.scale
            upper = part[:, above].max(axis=1, initial=-math.inf)
            lower = (-part[:, below]).max(axis=1, initial=-math.inf)
            largest.append(np.maximum(upper, lower))
        ordered = np.sort(np.concatenate(largest))
        position = math.ceil(confidence * (len(ordered) + 1)) - 1
        return float(ordered[position]) if position < len(ordered) else math.inf
