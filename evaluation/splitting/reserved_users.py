"""Reserved users: excluded before any split, so that no model of the run sees them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.errors import ParameterError
from evaluation.splitting.draws import check_share, draw_keys, smallest, stream_key


def reserve(n_users: int, share: float, seed: int) -> NDArray[np.int32]:
    """Choose round(share · n_users) users at random; halves round to even.

    Raises ParameterError for a share out of range, a negative number of users.

    Returns an int32 array, shape (n_reserved,): user indices, ascending.

    Examples
    --------
    >>> len(reserve(100, 0.15, seed=1))
    15
    """
    share = check_share(share, "users to reserve")
    if n_users < 0:
        raise ParameterError(f"The number of users is {n_users}: it must be at least 0.")
    words = draw_keys(stream_key(seed, "reserve"), np.arange(n_users))
    return np.flatnonzero(smallest(words, round(share * n_users))).astype(np.int32)
