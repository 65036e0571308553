"""Popularity by likes: the items most people like, and the people who like most items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Ratings
from recommenders.memory import binary_bytes
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positive_from_parameter, positives
from recommenders.progress import Progress


class PopularityLikes(Algorithm):
    r"""Order by number of positive training ratings, or by their damped share of an item's ratings.

    With :math:`n_i` ratings of item i, :math:`n_i^+` of them positive, and :math:`s` the share of positive
    ratings among all,

    .. math:: \mathrm{score}_i = n_i^+ \quad\text{or}\quad \frac{n_i^+ + \lambda s}{n_i + \lambda}.

    With ``by_people`` this is multiplied by the number of items the profile likes. No list changes, but the pairs of
    user and item are ordered differently: users who like everything come first, which an unconstrained ROC curve
    rewards and a customer ROC curve does not. A profile that likes nothing then has no score. An unrated item has none
    in any case, unless items are not ordered at all: all count 1 then. Source: Schein, Popescul, Ungar & Pennock
    (2005), Electronic Commerce Research 5:51-74, doi:10.1023/B:ELEC.0000045973.51289.8c. The damping is ours.

    Cost: a fit counts the ratings once; a profile costs one copy of the scores.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0, 1, 1], [0, 0, 1], [5, 4, 1], n_users=2, n_items=3, scale=scale)
    >>> model = PopularityLikes.fit(ratings, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([], [], n_items=3, scale=scale)).tolist()
    [[2.0, 0.0, -inf]]
    """

    key = "popularity-likes"
    name = "Likes"
    title = "Most liked (Likes)"
    version = 1
    score_kind = "order"
    asks_profile = False
    arrays = ("item_scores",)

    @dataclass(frozen=True)
    class Params(Parameters):
        """Parameters of `PopularityLikes`."""

        positive_from: float = positive_from_parameter()
        measure: str = parameter(
            "number",
            description=(
                "Whether items are ordered by the number of likes, by their damped share of all ratings, or not at "
                "all, new ones included (with by_people: recommend anything to those who like much)."
            ),
            choices=("number", "share", "none"),
        )
        damping: float = parameter(
            25.0, description="Damping λ of the share towards that of all ratings, in ratings.", minimum=0.0
        )
        by_people: bool = parameter(
            False, description="Whether scores are multiplied by the number of items the profile likes."
        )

    params: Params
    item_scores: NDArray[np.float64]  # shape (n_items,), -inf for unrated items

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        positive = positives(ratings.user_items, ratings.scale, params.positive_from)
        likes = np.bincount(positive.indices, minlength=ratings.n_items).astype(np.float64)
        is_rated = ratings.item_counts > 0
        if params.measure == "share":
            overall = positive.nnz / ratings.n_ratings
            counts = np.where(is_rated, ratings.item_counts, 1)
            likes = (likes + params.damping * overall) / (counts + params.damping)
        if params.measure == "none":
            return cls._with(item_scores=np.ones(ratings.n_items))
        return cls._with(item_scores=np.where(is_rated, likes, -np.inf))

    @classmethod
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Any, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """The positive ratings, and a few numbers for each item."""
        return binary_bytes(n_users, n_ratings) + 64 * n_items

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        scores = np.tile(self.item_scores, (user_items.shape[0], 1))
        if self.params.by_people:
            counts = np.diff(positives(user_items, self.scale, self.params.positive_from).indptr)
            scores *= np.maximum(counts, 1)[:, np.newaxis]
            scores[counts == 0] = -np.inf
        return scores
