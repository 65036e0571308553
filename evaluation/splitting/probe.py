"""The probe split: a random share of all ratings is hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from core.errors import DataError, ParameterError
from evaluation.splitting.draws import check_share, draw_keys, smallest, stream_key


@dataclass(frozen=True, slots=True)
class Split:
    """Training ratings and hidden ratings; every rating is one or the other, or is counted as left out.

    Parameters
    ----------
    train : csr_array, float32, shape (n_users, n_items)
        Sorted indices, no duplicates. Same shape as what was split, so user and item indices keep.
    is_hidden : bool array, shape (n_ratings,)
        In the row-major order of the matrix that was split.
    hidden_users, hidden_items : int32 array, shape (n_hidden,)
        Ordered by user, then item.
    hidden_values : float32 array, shape (n_hidden,)
    left_out : mapping
        What the split could not use, in words, with counts.
    """

    train: Any
    is_hidden: NDArray[np.bool_]
    hidden_users: NDArray[np.int32]
    hidden_items: NDArray[np.int32]
    hidden_values: NDArray[np.float32]
    left_out: Mapping[str, int] = field(default_factory=dict)


def probe(user_items: Any, *, share: float, seed: int, block: int = 1 << 22) -> Split:
    """Hide a random share of all ratings.

    Each rating has a random word that depends on (seed, user, item) alone; the round(share · n) ratings
    with the smallest words are hidden. Halves round to even.

    Parameters
    ----------
    user_items : csr_array, shape (n_users, n_items)
        Ratings. Rows of users who take no part (reserved ones) are empty.
    share : float
        Of ratings to hide, 0 <= share < 1.
    seed : int
    block : int
        Ratings drawn for at a time; bounds memory, changes nothing.

    Returns
    -------
    Split
        `left_out` counts hidden ratings whose user, or whose item, has no training rating. They stay
        among the hidden: a protocol says what it does with them.

    Raises
    ------
    ParameterError, DataError
        A share out of range; unsorted or duplicate indices.

    References
    ----------
    Cremonesi, Koren & Turrin (2010), RecSys, section 4 (1.4 % of MovieLens), doi:10.1145/1864708.1864721.

    Examples
    --------
    >>> ratings = csr_array(np.ones((4, 5), dtype=np.float32))
    >>> split = probe(ratings, share=0.1, seed=1)
    >>> split.train.nnz, len(split.hidden_users)
    (18, 2)
    """
    share = check_share(share, "ratings to hide")
    if block < 1:
        raise ParameterError(f"The block is {block} ratings: it has to be at least 1.")
    check_csr(user_items)
    n_users = user_items.shape[0]
    indptr = np.asarray(user_items.indptr)
    items = np.asarray(user_items.indices)
    users = np.repeat(np.arange(n_users, dtype=np.int32), np.diff(indptr))
    key = stream_key(seed, "probe")
    words = np.empty(len(items), dtype=np.uint64)
    for start in range(0, len(items), block):
        stop = start + block
        words[start:stop] = draw_keys(key, users[start:stop], items[start:stop])
    is_hidden = smallest(words, round(share * len(items)))
    return split_by(user_items, is_hidden, users=users)


def split_by(user_items: Any, is_hidden: NDArray[np.bool_], *, users: NDArray[np.int32] | None = None) -> Split:
    """Part a matrix by a mask of hidden ratings.

    Parameters
    ----------
    user_items : csr_array, shape (n_users, n_items)
        Sorted indices, no duplicates.
    is_hidden : bool array, shape (n_ratings,)
        In the matrix's row-major order.
    users : int32 array, shape (n_ratings,), optional
        The user of each rating, where the caller has it.

    Returns
    -------
    Split

    Examples
    --------
    >>> ratings = csr_array(np.array([[5.0, 1.0], [3.0, 0.0]], dtype=np.float32))
    >>> for what, count in split_by(ratings, np.array([True, False, True])).left_out.items():
    ...     print(what, count)
    hidden ratings of users without training ratings 1
    hidden ratings of items without training ratings 2
    """
    n_users, n_items = user_items.shape
    if users is None:
        users = np.repeat(np.arange(n_users, dtype=np.int32), np.diff(user_items.indptr))
    kept = ~is_hidden
    items = np.asarray(user_items.indices).astype(np.int32, copy=False)
    values = np.asarray(user_items.data, dtype=np.float32)
    trained_users, trained_items = users[kept], items[kept]
    user_counts = np.bincount(trained_users, minlength=n_users)
    indptr = np.concatenate([[0], np.cumsum(user_counts)]).astype(user_items.indptr.dtype)
    train = csr_array((values[kept], trained_items, indptr), shape=(n_users, n_items))
    hidden_users, hidden_items = users[is_hidden], items[is_hidden]
    item_counts = np.bincount(trained_items, minlength=n_items)
    return Split(
        train=train,
        is_hidden=is_hidden,
        hidden_users=hidden_users,
        hidden_items=hidden_items,
        hidden_values=values[is_hidden],
        left_out={
            "hidden ratings of users without training ratings": int((user_counts[hidden_users] == 0).sum()),
            "hidden ratings of items without training ratings": int((item_counts[hidden_items] == 0).sum()),
        },
    )


def check_csr(user_items: Any) -> None:
    """Refuse a matrix that is not compressed by rows, or whose rows are not strictly ascending.

    Raises
    ------
    DataError
        Not CSR; unsorted or duplicate column indices.
    """
    if getattr(user_items, "format", None) != "csr":
        raise DataError("The ratings are not a matrix compressed by rows (CSR), users × items.")
    indices = np.asarray(user_items.indices)
    if len(indices) > 1:
        rises = np.diff(indices) > 0
        starts = np.asarray(user_items.indptr[1:-1])
        starts = starts[(starts > 0) & (starts < len(indices))]
        rises[starts - 1] = True  # a new row may start anywhere
        if not rises.all():
            raise DataError("The ratings' items are not sorted within users, or a pair occurs twice.")
