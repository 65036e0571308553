"""Splits that hide ratings regardless of time: a random share of all or of each user's ratings, or a list of pairs."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.splitting.draws import smallest
from evaluation.splitting.partition import HIDDEN, TRAIN, Partition, partition_of
from evaluation.splitting.rows import RatingRows


def share_of_all(rows: RatingRows, *, share: float, seed: int, purpose: str = "holdout") -> Partition:
    """Hide round(share · n) of the n ratings that take part, drawn at random; halves round to even.

    Each rating has a random word that depends on (seed, purpose, user, item) alone; the ratings with the smallest words
    are hidden. Source: Cremonesi, Koren & Turrin (2010), RecSys, section 4 (1.4 % of MovieLens),
    doi:10.1145/1864708.1864721.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((4, 5), dtype=np.float32)))
    >>> len(share_of_all(rows, share=0.1, seed=1).hidden)
    2
    """
    open_indexes = np.flatnonzero(rows.is_open)
    chosen = smallest(rows.words(open_indexes, seed, purpose), round(share * len(open_indexes)))
    sides = np.full(len(rows), TRAIN, dtype=np.uint8)
    sides[open_indexes[chosen]] = HIDDEN
    return partition_of(rows, sides)


def share_within_users(rows: RatingRows, *, share: float, seed: int) -> Partition:
    """Hide round(share · n) of the n ratings of each user, drawn at random; halves round to even.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((4, 5), dtype=np.float32)))
    >>> np.bincount(rows.users[share_within_users(rows, share=0.2, seed=1).hidden]).tolist()
    [1, 1, 1, 1]
    """
    open_indexes = np.flatnonzero(rows.is_open)
    ranks = rows.rank_within_users(open_indexes, rows.words(open_indexes, seed, "holdout"))
    n_hidden = np.rint(share * rows.counts).astype(np.int64)
    sides = np.full(len(rows), TRAIN, dtype=np.uint8)
    sides[open_indexes[ranks < n_hidden[rows.users[open_indexes]]]] = HIDDEN
    is_spared = (n_hidden == 0) & (rows.counts > 0)
    counted = {"users with too few ratings to hide one": int(is_spared.sum())} if share > 0 else {}
    return partition_of(rows, sides, counted=counted)


def holdout(rows: RatingRows, *, share: float, within: Literal["all", "user"], seed: int) -> Partition:
    """`share_of_all` or `share_within_users`."""
    if within == "all":
        return share_of_all(rows, share=share, seed=seed)
    return share_within_users(rows, share=share, seed=seed)


def listed_probe(rows: RatingRows, users: NDArray[np.integer[Any]], items: NDArray[np.integer[Any]]) -> Partition:
    """Hide the ratings of a list of pairs, for example the Netflix Prize's probe. Listed pairs that are not ratings,
    are repeated, or belong to reserved users are counted.

    Raises DataError for arrays of different lengths, numbers outside the dataset, or a list that hides nothing.

    `users`, `items`: int array, shape (n_listed,); row and column numbers in the dataset; -1 for unknown ids.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> made = listed_probe(RatingRows.of(csr_array([[5.0, 1.0], [3.0, 0.0]])), np.array([0, 1]), np.array([1, 1]))
    >>> made.hidden.tolist(), made.counted["listed pairs that are no rating"]
    ([1], 1)
    """
    users, items = np.asarray(users, dtype=np.int64), np.asarray(items, dtype=np.int64)
    if users.shape != items.shape:
        raise DataError(f"The list has {len(users)} users and {len(items)} items: they must have the same length.")
    is_outside = (users < -1) | (users >= rows.n_users) | (items < -1) | (items >= rows.n_items)
    if is_outside.any():
        raise DataError(f"The list contains a user or item outside the dataset's {rows.n_users:,} × {rows.n_items:,}.")
    is_known = (users >= 0) & (items >= 0)
    # In 64 bits: users times items overflows 32 in every large dataset.
    keys = users[is_known] * rows.n_items + items[is_known]
    wanted = np.unique(keys)
    is_listed = np.isin(rows.users.astype(np.int64) * rows.n_items + rows.items, wanted)
    sides = np.where(is_listed, HIDDEN, TRAIN).astype(np.uint8)
    if not (is_listed & rows.is_open).any():
        raise DataError("No pair of the probe list is a rating of an unreserved user, so nothing would be hidden.")
    counted = {
        "listed pairs of users or items the dataset does not have": int((~is_known).sum()),
        "listed pairs that come again": len(keys) - len(wanted),
        "listed pairs that are no rating": len(wanted) - int(is_listed.sum()),
        "listed pairs of reserved users": int((is_listed & ~rows.is_open).sum()),
    }
    return partition_of(rows, sides, counted={what: count for what, count in counted.items() if count})
