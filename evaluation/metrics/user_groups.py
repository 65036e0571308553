"""Groups of users by their profiles, within which metrics are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError

Floats = NDArray[np.float64]
MOST_GROUPS, FEWEST_USERS = 6, 10  # of an attribute; of a group
POPULAR = 0.2  # share of the items that count as popular


def quantile_groups(values: Floats, shares: Sequence[float]) -> tuple[NDArray[np.int64], tuple[float, ...]]:
    """Divide users at quantiles of a value; equal values stay together, so groups may differ in size.

    `values`: float array, shape (n_users,); NaN for users who belong to no group. `shares`: ascending shares of the
    users, in (0, 1). Returns each user's group, int array, shape (n_users,), from 0 for the lowest values, -1 for none;
    and the highest value of every group but the last. Raises DataError if a group would be empty.

    Examples
    --------
    >>> groups, limits = quantile_groups(np.array([5.0, 1.0, 2.0, 2.0, 9.0, np.nan]), [1 / 3, 2 / 3])
    >>> groups.tolist(), limits
    ([1, 0, 0, 0, 2, -1], (2.0, 5.0))
    """
    known = ~np.isnan(values)
    if not known.any():
        raise DataError("No user has a profile to be grouped by.")
    limits = np.quantile(values[known], shares, method="inverted_cdf")
    groups = np.full(len(values), -1, dtype=np.int64)
    groups[known] = np.searchsorted(limits, values[known], side="left")
    if len(np.unique(groups[known])) <= len(shares):
        raise DataError("Too many users have equal values to be divided into groups.")
    return groups, tuple(map(float, limits))


def frequent_groups(values: NDArray[np.str_]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Divide users by their values of an attribute: its most frequent ones, each of enough users.

    `values`: shape (n_users,); empty for users without one. Returns the names of the groups, at most 6, and each user's
    group, int array, shape (n_users,), -1 for users in none.

    Examples
    --------
    >>> names, groups = frequent_groups(np.array(["f", "m", "f", "m", ""] * 5))
    >>> names, groups[:5].tolist()
    (('f', 'm'), [0, 1, 0, 1, -1])
    """
    known, counts = np.unique(values[values != ""], return_counts=True)
    chosen = sorted(np.argsort(-counts, kind="stable")[:MOST_GROUPS])
    names = tuple(str(known[at]) for at in chosen if counts[at] >= FEWEST_USERS)
    groups = np.full(len(values), -1, dtype=np.int64)
    for at, name in enumerate(names):
        groups[values == name] = at
    return names, groups


def popular_shares(user_items: Any, item_counts: NDArray[np.integer[Any]]) -> Floats:
    """Share of each profile's items that are popular: among the 20% of items with the most ratings.

    Items with equal numbers of ratings are ordered by item number. Source: Abdollahpouri, Mansoury, Burke & Mobasher
    (2019), RMSE workshop at RecSys, arXiv:1907.13286. `user_items`: csr_array, shape (n_users, n_items). `item_counts`:
    int array, shape (n_items,). Returns a float array, shape (n_users,); NaN for an empty profile.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> profiles = csr_array(np.array([[5.0, 3, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0]]))
    >>> popular_shares(profiles, np.array([9, 1, 1, 1, 1])).tolist()
    [0.5, 0.0, nan]
    """
    counts = np.asarray(item_counts)
    is_popular = np.zeros(len(counts), dtype=np.float64)
    is_popular[np.argsort(-counts, kind="stable")[: round(POPULAR * len(counts))]] = 1.0
    sizes = np.diff(user_items.indptr)
    sums = np.bincount(
        np.repeat(np.arange(len(sizes)), sizes), weights=is_popular[user_items.indices], minlength=len(sizes)
    )
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)
