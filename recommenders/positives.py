"""Ratings as yes or no: which of them count as liking an item."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from recommenders.data import Flags
from recommenders.parameters import parameter
from recommenders.scale import GRID_TOLERANCE, Scale

# The scale `positive_from` is stated on, whatever the scale of the data.
FIVE_POINTS = Scale(1, 5, 1)


def positive_from_parameter() -> float:
    """The parameter that every algorithm on binary data has, to be assigned to a field ``positive_from``."""
    return parameter(
        4.0,
        description="Lowest rating that counts as positive, as on a scale of 1 to 5; on other scales it is the "
        "same place, and of usage data every interaction counts.",
        minimum=1.0,
        maximum=5.0,
    )


def positives(user_items: sparse.csr_array, scale: Scale, positive_from: float) -> sparse.csr_array:
    """The positive ratings, as ones.

    `user_items`: sparse float array, shape (n_users, n_items); ratings on `scale`. `scale`: where it has a single point
    (usage data), every entry is positive. `positive_from`: lowest positive rating on a scale of 1 to 5, inclusive; it
    is mapped linearly to `scale`. Returns a sparse float64 array, shape (n_users, n_items): 1 where the rating is
    positive; nothing else is stored.

    Examples
    --------
    >>> ratings = sparse.csr_array(np.array([[5.0, 3.5, 0.0, 4.0]]))
    >>> positives(ratings, Scale(0.5, 5, 0.5), 4.0).toarray().tolist()
    [[1.0, 0.0, 0.0, 1.0]]
    """
    is_positive = np.ones(user_items.nnz, dtype=np.bool_)
    if scale.low < scale.high:
        lowest = float(FIVE_POINTS.convert(positive_from, scale))
        # Ratings are float32, and a profile from another scale is mapped: it may miss the point by rounding.
        is_positive = user_items.data >= lowest - GRID_TOLERANCE * scale.resolution
    counts = np.concatenate(([0], np.cumsum(is_positive)))
    indptr = counts[user_items.indptr].astype(user_items.indptr.dtype)
    unit_weights = np.ones(int(counts[-1]))
    return sparse.csr_array((unit_weights, user_items.indices[is_positive], indptr), shape=user_items.shape)


def liked_items(likes: sparse.csr_array) -> Flags:
    """Which items anybody likes. Returns a bool array, shape (n_items,)."""
    return np.bincount(likes.indices, minlength=likes.shape[1]) > 0
