"""Shorter profiles: each user's training ratings cut at random to the number a participant gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from evaluation.splitting.draws import draw_keys, stream_key


def cut_profiles(user_items: Any, *, n: int, seed: int, users: NDArray[np.integer[Any]] | None = None) -> Any:
    """Keep `n` ratings of each user, drawn without replacement; users with at most `n` keep theirs.

    Which ones depends on (seed, user, item) alone: any block of users gives the same, and the n ratings
    kept are among the n + 1 kept at a greater length.

    `user_items`: csr_array, shape (n_profiles, n_items); training ratings. `users`: int array, shape (n_profiles,); the
    user index of each row, where the rows are a block; by default row r is user r. Returns a csr_array, shape
    (n_profiles, n_items): items ascending within rows, as before.

    Examples
    --------
    >>> ratings = csr_array(np.ones((2, 30), dtype=np.float32))
    >>> np.diff(cut_profiles(ratings, n=5, seed=1).indptr).tolist()
    [5, 5]
    """
    n_profiles = user_items.shape[0]
    users = np.arange(n_profiles) if users is None else np.asarray(users)
    indptr = np.asarray(user_items.indptr)
    counts = np.diff(indptr)
    is_included = np.ones(len(user_items.indices), dtype=np.bool_)
    is_long = np.repeat(counts > n, counts)
    rows = np.repeat(np.arange(n_profiles), counts)[is_long]
    items = np.asarray(user_items.indices)[is_long]
    words = draw_keys(stream_key(seed, "profile"), users[rows], items)
    # The item decides between equal words, so that the choice does not depend on the sort.
    order = np.lexsort((items, words, rows))
    # Ranks restart with each row: position in the sorted order less the position where the row starts.
    starts = np.concatenate([[0], np.cumsum(counts[counts > n])])[:-1]
    rank = np.arange(len(rows)) - np.repeat(starts, counts[counts > n])
    is_kept = np.zeros(len(rows), dtype=np.bool_)
    is_kept[order[rank < n]] = True
    is_included[is_long] = is_kept
    cut = np.concatenate([[0], np.cumsum(np.minimum(counts, n))]).astype(indptr.dtype)
    return csr_array((user_items.data[is_included], user_items.indices[is_included], cut), shape=user_items.shape)
