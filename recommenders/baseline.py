"""The damped means that the rating predictors start from."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders.data import Floats, Ratings

RATINGS_AT_ONCE = 1 << 18


@dataclass(frozen=True, eq=False)
class Baseline:
    r"""What a rating would be if it depended only on how the item and the person usually rate.

    .. math::
        b_{ui} = \mu + b_u + b_i, \quad
        b_i = \frac{\sum_u (r_{ui} - \mu)}{\lambda_i + n_i}, \quad
        b_u = \frac{\sum_i (r_{ui} - \mu - b_i)}{\lambda_u + n_u}

    The mean and the items' offsets come from training; a person's offset comes from the profile alone, with the others
    frozen, so that a stranger and a training user with the same ratings have the same one. Profiles are sparse float
    arrays of shape (n_profiles, n_items) with ratings on the training scale. Source: Koren (2010), TKDD 4(1), section
    2.1, doi:10.1145/1644873.1644874: item offsets first, then users'.

    Examples
    --------
    >>> from recommenders.data import Scale
    >>> ratings = Ratings.from_triples([0, 1], [0, 1], [5, 1], n_users=2, n_items=2, scale=Scale(1, 5, 1))
    >>> baseline = Baseline.fit(ratings, reg_item=1.0, reg_user=0.0)
    >>> baseline.mean, baseline.item_bias.tolist(), baseline.user_bias(ratings.user_items).tolist()
    (3.0, [1.0, -1.0], [1.0, -1.0])
    """

    mean: float  # mean of all training ratings, in rating points
    item_bias: Floats  # shape (n_items,); offset of each item; 0 for unrated items
    reg_user: float  # damping of a person's offset, in ratings, >= 0

    @classmethod
    def fit(cls, ratings: Ratings, *, reg_item: float, reg_user: float) -> Self:
        """Mean and item offsets of the training ratings. `reg_item` and `reg_user` are dampings in ratings, >= 0."""
        user_items = ratings.user_items
        values = user_items.data.astype(np.float64)  # float32 less a Python float would stay float32
        mean = float(values.mean())
        values -= mean
        sums = np.bincount(user_items.indices, weights=values, minlength=ratings.n_items)
        # Items before users: a person's offset can then be computed from a profile alone, with the items' frozen.
        return cls(mean, _damped(np.asarray(sums, dtype=np.float64), ratings.item_counts, reg_item), reg_user)

    def user_bias(self, user_items: sparse.csr_array) -> Floats:
        """Offset of each profile. Returns a float64 array, shape (n_profiles,), in rating points; 0 for an empty
        profile.
        """
        counts = np.diff(user_items.indptr)
        sums = np.zeros(user_items.shape[0])
        # Some users at a time, whose sums are their own: what lies between takes no room that grows with the ratings.
        marks = np.searchsorted(user_items.indptr, np.arange(0, user_items.nnz, RATINGS_AT_ONCE))
        for first, last in pairwise(np.unique(np.append(marks, [0, user_items.shape[0]])).tolist()):
            some = slice(user_items.indptr[first], user_items.indptr[last])
            left = user_items.data[some].astype(np.float64)
            left -= self.mean
            left -= self.item_bias[user_items.indices[some]]
            rows = np.repeat(np.arange(last - first), counts[first:last])
            sums[first:last] = np.bincount(rows, weights=left, minlength=last - first)
        return _damped(sums, counts, self.reg_user)

    def residuals(self, user_items: sparse.csr_array) -> Floats:
        """Each stored rating less its baseline. Returns a float64 array, shape (n_ratings,), in rating points, in the
        order of ``user_items.data``.
        """
        user_bias = np.repeat(self.user_bias(user_items), np.diff(user_items.indptr))
        return np.asarray(user_items.data - (self.mean + user_bias + self.item_bias[user_items.indices]))

    def scores(self, user_items: sparse.csr_array) -> Floats:
        """The baseline of every item for every profile. Returns a float64 array, shape (n_profiles, n_items), in rating
        points.
        """
        return np.asarray((self.mean + self.user_bias(user_items))[:, np.newaxis] + self.item_bias)


def _damped(sums: Floats, counts: NDArray[np.integer], reg: float) -> Floats:
    """Return sums / (counts + reg), 0 where both are 0."""
    weights = counts + reg
    return np.where(weights > 0, sums / np.where(weights > 0, weights, 1.0), 0.0)
