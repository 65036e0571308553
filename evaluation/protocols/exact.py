"""The 1 + N protocol without its sampling noise: what the sampled recall is on average, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.hits import GroupMeans, Ties

FEW_TIES = 8  # more are summed by the closed form
Ints = NDArray[np.integer[Any]]


def exact_hit_probability(
    above: Ints, tied: Ints, n_unrated: Ints, negatives: int, ns: Sequence[int], *, ties: Ties = "expected"
) -> NDArray[np.float64]:
    r"""Chance that each test item is in a list of n, over all draws of the candidates and orders of ties.

    .. math:: h_n = \frac{1}{E + 1} \sum_{j=0}^{E} P(X_{G+j} < n), \quad X_g \sim \text{Hyp}(M, g, m)

    With G of M unrated items scored above the test item and E the same, the number of items before it among the m
    sampled ones is hypergeometric. Source: Cremonesi, Garzotto, Negro, Papadopoulos & Turrin (2011), INTERACT, section
    5.1, whose recall this is the mean of. Many ties are summed by the mean of the place of the n-th sampled item
    (negative hypergeometric).

    `above`, `tied`: int array, shape (n_cases,); g and E, counted among all unrated items, the test item not included.
    `n_unrated`: int array, shape (n_cases,); M. `negatives`: candidates wanted; m is the smaller of it and M. >= 1.
    `ties`: {"expected", "worst", "best"}; "worst" puts the test item behind all it is tied with, "best" before them.
    Returns a float array, shape (n_cases, n_lengths), in [0, 1], never NaN; right to 1e-11 with some thousand items, to
    1e-9 with 100,000. A constant scorer gets n/(m + 1) to the last bit.

    Examples
    --------
    >>> exact_hit_probability(np.array([1]), np.array([0]), np.array([4]), 2, [1, 2]).round(6).tolist()
    [[0.5, 1.0]]
    """
    from evaluation.protocols.kernels import exact_hits

    first = above + tied if ties == "worst" else above
    together = tied if ties == "expected" else np.zeros_like(tied)
    longest = max(ns)
    hits = np.empty((len(above), longest), dtype=np.float64)
    exact_hits(
        np.ascontiguousarray(first, dtype=np.int32),
        np.ascontiguousarray(together, dtype=np.int32),
        np.ascontiguousarray(n_unrated, dtype=np.int32),
        negatives,
        FEW_TIES,
        _log_factorials(int(n_unrated.max(initial=0)) + 3),
        hits,
    )
    return hits[:, np.asarray(ns) - 1]


@lru_cache(maxsize=4)
def _log_factorials(n: int) -> NDArray[np.float64]:
    """Logarithms of 0!, 1!, … (n - 1)!, summed in long doubles."""
    logs = np.log(np.arange(1, n, dtype=np.longdouble))
    return np.concatenate([[0.0], np.cumsum(logs)]).astype(np.float64)


def mean_probabilities(groups: Ints, hits: NDArray[np.float64]) -> GroupMeans:
    """Mean of each group's hit probabilities, at every list length.

    Added in the order of the cases; a mean of equal numbers is that number to the last bit.

    `groups`: int array, shape (n_cases,); the group of each case (a user, or everyone), >= 0. `hits`: float array,
    shape (n_cases, n_lengths).
    """
    names, n_cases = np.unique(groups, return_counts=True)
    if not len(names):
        return GroupMeans(groups=names, n_cases=n_cases.astype(np.int64), values=np.zeros((0, hits.shape[1])))
    ordered = hits[np.argsort(groups, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(n_cases)])[:-1]
    # Added from the least one up, so that equal numbers add to nothing at all.
    least = np.minimum.reduceat(ordered, starts, axis=0)
    excess = np.add.reduceat(ordered - np.repeat(least, n_cases, axis=0), starts, axis=0)
    values = np.minimum(least + excess / n_cases[:, None], 1.0)
    return GroupMeans(groups=names, n_cases=n_cases.astype(np.int64), values=values)


def filled_share(scored: Ints, n_items: Ints, ns: Sequence[int]) -> NDArray[np.float64]:
    """Mean share of a list's slots that the model has no score for, at every length.

    `scored`: int array, shape (n_cases,); items with a score in the list drawn from, the test item included. `n_items`:
    int array, shape (n_cases,); all of them, the test item not included. Returns a float array, shape (n_lengths,), in
    [0, 1]; NaN without a case.

    Examples
    --------
    >>> filled_share(np.array([3, 9]), np.array([20, 20]), [2, 5]).tolist()
    [0.0, 0.2]
    """
    if not len(scored):
        return np.full(len(ns), np.nan)
    slots = np.minimum(np.asarray(ns)[None, :], np.asarray(n_items)[:, None] + 1)
    empty = np.maximum(slots - np.asarray(scored)[:, None], 0)
    share: NDArray[np.float64] = (empty / slots).mean(axis=0)
    return share
