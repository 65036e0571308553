"""Orders that every other one has to beat: by number of ratings, by number of positive ratings, and by chance."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import Floats, Integers, ItemFeatures, Ratings
from recommenders.memory import binary_bytes
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positive_from_parameter, positives
from recommenders.progress import Progress


class TopPop(Algorithm):
    """Order by number of training ratings, independent of their values and of the profile.

    An unrated item has no score; an empty profile gets the same scores as any other. Source: Cremonesi, Koren & Turrin
    (2010), RecSys, section 4, doi:10.1145/1864708.1864721.

    Cost: a fit counts the ratings once; a profile costs one copy of the counts.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0, 1, 1], [0, 0, 1], [5, 1, 4], n_users=2, n_items=3, scale=scale)
    >>> model = TopPop.fit(ratings, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([], [], n_items=3, scale=scale)).tolist()
    [[2.0, 1.0, -inf]]
    """

    key = "toppop"
    name = "TopPop"
    title = "Most popular (TopPop)"
    version = 1
    score_kind = "order"
    asks_profile = False
    arrays = ()

    @dataclass(frozen=True)
    class Params(Parameters):
        """TopPop has no parameters."""

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        return cls._with()

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Any, **terms: int) -> int:
        """Only the counts."""
        return 16 * n_items

    def _score(self, user_items: sparse.csr_array) -> Floats:
        row = np.where(self.popularity > 0, self.popularity.astype(np.float64), -np.inf)
        return np.tile(row, (user_items.shape[0], 1))


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
    item_scores: Floats  # shape (n_items,), -inf for unrated items

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
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Any, **terms: int) -> int:
        """The positive ratings, and a few numbers for each item."""
        return binary_bytes(n_users, n_ratings) + 64 * n_items

    def _score(self, user_items: sparse.csr_array) -> Floats:
        scores = np.tile(self.item_scores, (user_items.shape[0], 1))
        if self.params.by_people:
            counts = np.diff(positives(user_items, self.scale, self.params.positive_from).indptr)
            scores *= np.maximum(counts, 1)[:, np.newaxis]
            scores[counts == 0] = -np.inf
        return scores


# Codes are compared in thousandths of a step, so that float32 noise of a mapped scale changes no order.
CODE_PARTS = 1000


class Random(Algorithm):
    """A random order of the rated items, drawn afresh for each profile.

    The order follows from the seed and from the profile (its items and ratings) alone: the same person gets the same
    list again, in any batch and by any worker. Two people with the same profile, the empty one too, get the same order.
    An unrated item has no score. Source: Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research
    5:51-74, section 3.2: the reference line of both curves. doi:10.1023/B:ELEC.0000045973.51289.8c.

    Cost: a fit learns nothing; a profile costs one random number per item.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0, 1, 1], [0, 0, 1], [5, 1, 4], n_users=2, n_items=3, scale=scale)
    >>> model = Random.fit(ratings, rng=np.random.default_rng(0))
    >>> profile = Profiles.single([0], [5], n_items=3, scale=scale)
    >>> model.score(profile).tolist() == model.score(profile).tolist()
    True
    """

    key = "random"
    name = "Random"
    title = "Random order (Random)"
    version = 1
    score_kind = "order"
    asks_profile = False
    asks_numbers = True
    arrays = ("seed",)

    @dataclass(frozen=True)
    class Params(Parameters):
        """Random has no parameters; its seed comes with the fit."""

    params: Params
    seed: Integers  # shape (1,)

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        return cls._with(seed=rng.integers(0, np.iinfo(np.int64).max, size=1, dtype=np.int64))

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Any, **terms: int) -> int:
        """Only the counts, which every model has."""
        return 16 * n_items

    def _score(self, user_items: sparse.csr_array) -> Floats:
        scores = np.full(user_items.shape, -np.inf)
        is_known = self.popularity > 0
        items = user_items.indices.astype("<i8")
        codes = np.rint(CODE_PARTS * self.scale.codes(user_items.data)).astype("<i8")
        for row in range(user_items.shape[0]):
            own = slice(user_items.indptr[row], user_items.indptr[row + 1])
            digest = blake2b(self.seed.astype("<i8").tobytes(), digest_size=16)
            digest.update(items[own].tobytes())
            digest.update(codes[own].tobytes())
            # A counter-based generator starts at no cost; every item draws, so that a draw belongs to its number.
            generator = np.random.Generator(np.random.Philox(key=int.from_bytes(digest.digest(), "little")))
            scores[row, is_known] = generator.random(self.n_items)[is_known]
        return scores
