"""How informative a rating of each item would be: static measures, computed once for a dataset version.

They order the items that new users are asked about. The order is the same for everyone and does not follow the answers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recommenders.data import Ratings

MISSING_WEIGHT = 0.5  # of the category "not rated"; every point of the scale weighs 1


def _counts(ratings: Ratings) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """The items and the numbers of their ratings at each point that they have, and the number of points."""
    scale = ratings.scale
    n_points = int(np.rint(scale.codes(scale.high))) + 1
    codes = np.rint(scale.codes(ratings.user_items.data)).astype(np.int64)
    keys, counts = np.unique(ratings.user_items.indices.astype(np.int64) * n_points + codes, return_counts=True)
    return keys // n_points, counts.astype(np.int64), n_points


def entropy0(ratings: Ratings) -> NDArray[np.float64]:
    """Weighted entropy of each item's ratings, a missing rating being one more category.

    The weight of the missing ratings is 0.5, of every point of the scale 1. An item that many users rated differently
    is high, one that few rated is low. Returns a float64 array, shape (n_items,), in bits per unit of weight, >= 0.
    Source: Rashid, Karypis and Riedl (2008), Learning preferences of new users in recommender systems: an information
    theoretic approach, SIGKDD Explorations 10(2), Entropy0.

    Examples
    --------
    >>> from recommenders.scale import Scale
    >>> ratings = Ratings.from_triples([0, 1, 2, 3, 0], [0, 0, 0, 0, 1], [1, 2, 1, 2, 2], 4, 2, scale=Scale(1, 2, 1))
    >>> entropy0(ratings).round(3).tolist()
    [0.4, 0.262]
    """
    items, counts, n_points = _counts(ratings)
    n_users, n_items = ratings.user_items.shape
    share = counts / n_users
    of_points = np.bincount(items, weights=-share * np.log2(share), minlength=n_items)
    missing = 1 - np.bincount(items, weights=share, minlength=n_items)
    of_missing = -missing * np.log2(missing, where=missing > 0, out=np.zeros(n_items))
    return np.asarray((of_points + MISSING_WEIGHT * of_missing) / (n_points + MISSING_WEIGHT))


def popularity_entropy(ratings: Ratings) -> NDArray[np.float64]:
    """The logarithm of each item's number of ratings times the entropy of its ratings.

    Returns a float64 array, shape (n_items,), >= 0: 0 for items with one rating or none, and for all items of usage
    data, whose ratings do not differ. Source: Rashid et al. (2002), Getting to know you: learning new user preferences
    in recommender systems, IUI, the balanced strategy log popularity * entropy.

    Examples
    --------
    >>> from recommenders.scale import Scale
    >>> ratings = Ratings.from_triples([0, 1, 2, 3, 0], [0, 0, 0, 0, 1], [1, 2, 1, 2, 2], 4, 2, scale=Scale(1, 2, 1))
    >>> popularity_entropy(ratings).tolist()
    [2.0, 0.0]
    """
    items, counts, _n_points = _counts(ratings)
    n_items = ratings.user_items.shape[1]
    popularity = np.bincount(items, weights=counts, minlength=n_items)
    share = counts / popularity[items]
    entropy = np.bincount(items, weights=-share * np.log2(share), minlength=n_items)
    return np.asarray(np.log2(np.maximum(popularity, 1)) * entropy)
