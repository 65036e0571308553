"""Reserved users: taken out before any split, seen by no model of the run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from core.errors import ParameterError
from evaluation.splitting.draws import check_share, draw_keys, smallest, stream_key


def reserve(n_users: int, share: float, seed: int) -> NDArray[np.int32]:
    """Choose round(share · n_users) users at random; halves round to even.

    Parameters
    ----------
    n_users : int
        >= 0.
    share : float
        0 <= share < 1.
    seed : int

    Returns
    -------
    int32 array, shape (n_reserved,)
        User indices, ascending.

    Raises
    ------
    ParameterError
        A share out of range, a negative number of users.

    Examples
    --------
    >>> len(reserve(100, 0.15, seed=1))
    15
    """
    share = check_share(share, "users to reserve")
    if n_users < 0:
        raise ParameterError(f"There cannot be {n_users} users.")
    words = draw_keys(stream_key(seed, "reserve"), np.arange(n_users))
    return np.flatnonzero(smallest(words, round(share * n_users))).astype(np.int32)


def without_users(user_items: Any, users: NDArray[np.integer[Any]]) -> Any:
    """The same matrix with the rows of `users` emptied, so that every index keeps its meaning.

    Parameters
    ----------
    user_items : csr_array, shape (n_users, n_items)
    users : int array, shape (n_reserved,)

    Returns
    -------
    csr_array, shape (n_users, n_items)

    Examples
    --------
    >>> ratings = csr_array(np.ones((3, 2), dtype=np.float32))
    >>> without_users(ratings, np.array([1])).indptr.tolist()
    [0, 2, 2, 4]
    """
    counts = np.diff(user_items.indptr)
    is_gone = np.zeros(len(counts), dtype=np.bool_)
    is_gone[users] = True
    kept = np.repeat(~is_gone, counts)
    indptr = np.concatenate([[0], np.cumsum(np.where(is_gone, 0, counts))]).astype(user_items.indptr.dtype)
    return csr_array((user_items.data[kept], user_items.indices[kept], indptr), shape=user_items.shape)
