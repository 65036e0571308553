"""Ratings as binary data: which of them say that someone liked an item."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders.parameters import parameter
from recommenders.scale import GRID_TOLERANCE, Scale

__all__ = ["FIVE_POINTS", "liked", "positive_from_parameter", "threshold"]

# The scale on which the parameter `positive_from` is written, whatever the scale of the data.
FIVE_POINTS = Scale(1, 5, 1)


def positive_from_parameter() -> float:
    """Declare the parameter ``positive_from`` that every algorithm on binary data has."""
    return parameter(
        4.0,
        description=(
            "Rating from which on an item counts as liked, on a scale from 1 to 5; the same place on other "
            "scales. In usage data everything used counts."
        ),
        minimum=FIVE_POINTS.low,
        maximum=FIVE_POINTS.high,
    )


def threshold(scale: Scale, positive_from: float) -> float:
    """The lowest positive rating of a scale, less a tolerance for float32.

    Parameters
    ----------
    scale : Scale
        Scale of the ratings. One of a single point is that of usage data, where all is positive.
    positive_from : float
        The place on a scale from 1 to 5.

    Examples
    --------
    >>> round(threshold(Scale(1, 10, 1), 4.0), 2)
    7.75
    """
    share = (positive_from - FIVE_POINTS.low) / (FIVE_POINTS.high - FIVE_POINTS.low)
    return scale.low + share * (scale.high - scale.low) - GRID_TOLERANCE * scale.step


def liked(user_items: sparse.csr_array, scale: Scale, positive_from: float) -> sparse.csr_array:
    """The binary matrix of the positive ratings.

    Parameters
    ----------
    user_items : sparse array, shape (n_users, n_items)
        Ratings in canonical form.
    scale : Scale
        Their scale.
    positive_from : float
        Rating from which on they are positive, on a scale from 1 to 5; the same place on other scales.

    Returns
    -------
    sparse float64 array, shape (n_users, n_items)
        1 where the rating is positive, nothing stored elsewhere; canonical, int64 row ends, int32 columns.

    Examples
    --------
    >>> ratings = sparse.csr_array(np.array([[5.0, 3.0, 4.0]]))
    >>> liked(ratings, Scale(1, 5, 1), positive_from=4.0).toarray().tolist()
    [[1.0, 0.0, 1.0]]
    """
    is_positive = user_items.data >= threshold(scale, positive_from)
    ends = np.concatenate(([0], np.cumsum(is_positive, dtype=np.int64)))[user_items.indptr]
    columns: NDArray[np.int32] = user_items.indices[is_positive].astype(np.int32)
    kept = sparse.csr_array((np.ones(columns.size), columns, ends), shape=user_items.shape)
    kept.has_canonical_format = True  # a part of a canonical matrix
    return kept
