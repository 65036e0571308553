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

from inference.agreement import pair_indexes
from inference.bootstrap import finite_means
from inference.groups import finite
from inference.results import Floats, Undefined

Ranks = tuple[int, int]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class RankSets:
    """A set of ranks for each algorithm; all contain the true ranks at once with the stated confidence."""

    sets: dict[str, Ranks]  # lowest and highest rank, 1 the best
    confidence: float
    n_decided: int  # pairs of algorithms whose order is significant
    resamples: int = 0  # 0 where the sets follow from another test

    @property
    def best(self) -> tuple[str, ...]:
        """The algorithms that may be the best, in the order of the data."""
        return tuple(name for name, (low, _high) in self.sets.items() if low == 1)


def relation_rank_sets(dominates: Mapping[str, Sequence[str]], confidence: float) -> RankSets:
    """Sets of ranks from the significant pairs of a test that controls the error of all pairs, such as Tukey's HSD.

    `dominates` maps every condition to those significantly below it.

    Examples
    --------
    >>> relation_rank_sets({"A": ["C"], "B": ["C"], "C": []}, 0.95).sets
    {'A': (1, 2), 'B': (1, 2), 'C': (3, 3)}
    """
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
    Raises DataError for a value that is not finite. Source of the steps: Romano & Wolf (2005), Econometrica
    73(4):1237-1282, algorithm 4.1.

    Examples
    --------
    >>> draws = np.random.default_rng(1).normal([0.1, 0.2, 0.9], 0.1, (999, 3))
    >>> rank_sets({"A": 0.1, "B": 0.2, "C": 0.9}, draws).sets
    {'A': (2, 3), 'B': (2, 3), 'C': (1, 1)}
    """
    array = finite_means(draws)
    estimates = finite(list(values.values()), "A value is not finite: leave algorithms without a value out.")
    if estimates.size < 2:
        return Undefined(f"A ranking needs two algorithms; there are {estimates.size}.")
    first, second = pair_indexes(estimates.size)
    above, below = _rejected(estimates, array, confidence)
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


def _rejected(estimates: Floats, draws: Floats, confidence: float) -> tuple[Flags, Flags]:
    """The pairs (i, j), i < j, in which the first is significantly larger, and those in which the second is."""
    first, second = pair_indexes(estimates.size)
    centred = draws - estimates
    apart = centred[:, first] - centred[:, second]
    spread = apart.std(axis=0)
    # Rounding leaves about 1e-16 of the values where the difference is the same in every draw.
    is_varying = spread > 1e-12 * np.abs(draws).max()
    scale = np.where(is_varying, spread, 1.0)
    apart, statistic = apart / scale, np.where(is_varying, (estimates[first] - estimates[second]) / scale, 0.0)
    above, below = np.zeros_like(is_varying), np.zeros_like(is_varying)
    # The estimate counts as one more draw; with too few draws for this quantile nothing is rejected.
    position = math.ceil(confidence * (len(draws) + 1)) - 1
    while True:
        # The quantile of the largest statistic over the hypotheses that still stand.
        upper = apart[:, is_varying & ~above].max(axis=1, initial=-math.inf)
        lower = (-apart[:, is_varying & ~below]).max(axis=1, initial=-math.inf)
        limit = float(np.sort(np.maximum(upper, lower))[position]) if position < len(draws) else math.inf
        more_above, more_below = is_varying & (statistic > limit), is_varying & (-statistic > limit)
        # Stepping down: each rejection leaves fewer hypotheses, whose largest statistic is smaller, so the next limit
        # may reject more.
        if not ((more_above & ~above) | (more_below & ~below)).any():
            return above, below
        above, below = above | more_above, below | more_below
