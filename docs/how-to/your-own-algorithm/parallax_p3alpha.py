"""P3alpha: three-step random walks from a user to liked items, to users who like them, and to their items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Ratings
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positive_from_parameter, positives
from recommenders.progress import Progress

__all__ = ["P3Alpha"]


class P3Alpha(Algorithm):
    r"""Rank items by the probability that a three-step random walk from the user ends at them.

    The walk goes from the user to an item they like, to a user who likes that item, and to an item that this second
    user likes. Each step chooses uniformly among its neighbours, and the probabilities are raised to the power α:

    .. math:: \mathrm{score}_{ui} = \sum_{j, v} \Big(\frac{x_{uj}}{|u|} \cdot \frac{x_{vj}}{|j|}
        \cdot \frac{x_{vi}}{|v|}\Big)^\alpha

    where x is 1 for a like, |u| is the number of likes of a user and |j| that of an item. The scored user is only the
    start of the walk, so users outside the training data can be scored too. An item that no walk reaches has no score.

    References
    ----------
    Cooper, Lee, Radzik & Siantos (2014), WWW Companion, section 3, doi:10.1145/2567948.2579244.

    Examples
    --------
    The new user likes the first item. So does one training user, whose two items are equally likely.

    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1], [0, 1, 2], [1, 1, 1], n_users=2, n_items=3, scale=used)
    >>> model = P3Alpha.fit(ratings, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [1], n_items=3, scale=used)).tolist()
    [[0.5, 0.5, -inf]]
    """

    key = "p3alpha"
    name = "P3alpha"
    title = "Three-step random walks (P3alpha)"
    version = 1  # raise it whenever the same inputs would give a different model
    score_kind = "order"
    arrays = ("indptr", "indices")  # stored; `_score` may also use params, scale and popularity

    @dataclass(frozen=True)
    class Params(Parameters):
        """Parameters of `P3Alpha`, used by the form, the command and the API."""

        positive_from: float = positive_from_parameter()
        alpha: float = parameter(1.0, description="Power α of each step's probability.", minimum=0.0, maximum=5.0)

    params: Params
    indptr: NDArray[np.int64]  # shape (n_users + 1,): with `indices`, the likes as a CSR matrix, one row per user
    indices: NDArray[np.int32]  # shape (n_likes,)

    @classmethod
    def _fit(
        cls,
        ratings: Ratings,
        params: Params,
        features: ItemFeatures | None,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Self:
        progress(0.5, "Selecting likes")  # shown to the waiting user; an exception raised here stops the fit
        liked = positives(ratings.user_items, ratings.scale, params.positive_from)
        return cls._with(indptr=liked.indptr.astype(np.int64), indices=liked.indices.astype(np.int32))

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        profiles = positives(user_items, self.scale, self.params.positive_from)
        shape = (self.indptr.size - 1, self.n_items)
        liked = sparse.csr_array((np.ones(self.indices.size), self.indices, self.indptr), shape=shape)
        to_users = _scaled(profiles, self._probabilities(np.diff(profiles.indptr))) @ _scaled(
            liked.T.tocsr(), self._probabilities(np.bincount(self.indices, minlength=self.n_items))
        )
        scores = (to_users @ _scaled(liked, self._probabilities(np.diff(self.indptr)))).toarray()
        scores[scores == 0.0] = -np.inf
        return np.asarray(scores, dtype=np.float64)

    def _probabilities(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.maximum(counts, 1).astype(np.float64) ** -self.params.alpha


def _scaled(matrix: sparse.csr_array, by_row: NDArray[np.float64]) -> sparse.csr_array:
    values = matrix.data * np.repeat(by_row, np.diff(matrix.indptr))
    return sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)
