"""A Markov chain over items: what people like next after what they liked last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.errors import DataError
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale
from recommenders.holdout import positions_of
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positive_from_parameter, positives
from recommenders.progress import Progress

__all__ = ["Markov"]


class Markov(Algorithm):
    r"""Rank items by how often they were liked directly after the items of the profile, recent ones first.

    .. math:: \mathrm{score}_{ui} = \sum_{j} \beta^{\,a_{uj}} \frac{n_{ji}}{n_j}

    where :math:`n_{ji}` counts the people who liked i directly after j, :math:`n_j` is the sum of these counts, and
    the age :math:`a_{uj}` is 0 for the items that the person liked last, 1 for those before, and so on. Likes of the
    same second are one step: all of them come before all of the next. A profile without an order has the age 0
    everywhere. An item that never came after one of the profile has no score.

    References
    ----------
    Shani, Heckerman & Brafman (2005), JMLR 6:1265-1295, section 3 (first-order chain, without smoothing). Weights by
    age are our addition.

    Examples
    --------
    Item 1 follows item 0, and item 2 follows item 1. The person liked item 0 first and item 1 last.

    >>> from recommenders.data import History, Scale
    >>> used = Scale(1, 1, 1)
    >>> matrix = sparse.csr_array(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 1]]))
    >>> model = Markov.fit(Ratings(matrix, used, times=np.array([1, 2, 1, 2, 1, 2])), rng=np.random.default_rng(0))
    >>> recent = History("consumption", times=[100, 200])
    >>> model.score(Profiles.single([0, 1], [1, 1], 4, used, recent)).tolist()
    [[-inf, 0.25, 1.0, 0.25]]
    """

    key = "markov"
    name = "Markov"
    title = "Items liked next (Markov)"
    version = 1
    score_kind = "order"
    needs_times = True  # `Ratings.times` has the seconds of each training rating
    arrays = ("indptr", "indices", "shares")

    @dataclass(frozen=True)
    class Params(Parameters):
        """Parameters of `Markov`."""

        positive_from: float = positive_from_parameter()
        decay: float = parameter(
            0.5, description="Weight β of an item relative to those liked one step later.", minimum=0.0, maximum=1.0
        )

    params: Params
    indptr: NDArray[np.int64]  # shape (n_items + 1,): with the next two, the matrix of shares n_ji / n_j, one row per j
    indices: NDArray[np.int32]  # shape (n_pairs,)
    shares: NDArray[np.float64]  # shape (n_pairs,)

    @classmethod
    def _fit(
        cls,
        ratings: Ratings,
        params: Params,
        features: ItemFeatures | None,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Self:
        progress(0.5, "Counting what follows what")
        if ratings.times is None:
            raise DataError("Markov needs the times of ratings.")
        liked = positives(ratings.user_items, ratings.scale, params.positive_from)
        steps = _steps(liked, ratings.times[positions_of(liked, ratings.user_items)])
        # One row for each step of a person; the rows of two successive steps have successive keys.
        users = np.repeat(np.arange(ratings.n_users), np.diff(liked.indptr))
        keys, rows = np.unique(users * (steps.max(initial=0) + 1) + steps, return_inverse=True)
        by_step = sparse.csr_array((np.ones(liked.nnz), (rows, liked.indices)), shape=(keys.size, ratings.n_items))
        followed = np.flatnonzero(np.diff(keys) == 1)
        pairs = sparse.csr_array(by_step[followed].T @ by_step[followed + 1])
        totals: NDArray[np.float64] = np.repeat(np.asarray(pairs.sum(axis=1)), np.diff(pairs.indptr))
        return cls._with(
            indptr=pairs.indptr.astype(np.int64), indices=pairs.indices.astype(np.int32), shares=pairs.data / totals
        )

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        return self._score_profiles(Profiles(user_items, self.scale))

    def _score_profiles(self, profiles: Profiles) -> NDArray[np.float64]:
        weighted = positives(profiles.user_items, self.scale, self.params.positive_from)
        if profiles.order is not None:
            steps = _steps(weighted, profiles.order[positions_of(weighted, profiles.user_items)])
            rows = np.repeat(np.arange(profiles.n_profiles), np.diff(weighted.indptr))
            last = np.zeros(profiles.n_profiles, dtype=np.int64)
            np.maximum.at(last, rows, steps)
            weighted.data = self.params.decay ** (last[rows] - steps)
        shares = sparse.csr_array((self.shares, self.indices, self.indptr), shape=(self.n_items, self.n_items))
        scores = (weighted @ shares).toarray()
        scores[scores == 0.0] = -np.inf
        return np.asarray(scores, dtype=np.float64)


def _steps(liked: sparse.csr_array, times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the likes of each row by their times, from 1; likes of the same time share a number."""
    order = Profiles(liked, Scale(1, 1, 1), times, order_kind="consumption").order
    return np.empty(0, dtype=np.int64) if order is None else order
