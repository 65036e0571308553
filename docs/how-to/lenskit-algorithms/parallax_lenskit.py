"""Algorithms as LensKit learns them: alternating least squares of likes and of ratings, and neighbours of items.

LensKit is imported when a model is fitted, and only then. Profiles are scored from the stored arrays, in float64, with
the equations that LensKit folds a query's history in by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import Flags, Floats, Integers, ItemFeatures, Ratings
from recommenders.ials import gram_of, solve
from recommenders.memory import co_rated_pairs
from recommenders.parameters import Parameters, parameter
from recommenders.positives import liked_items, positive_from_parameter, positives
from recommenders.progress import Progress

__all__ = ["LensKitALS", "LensKitBiasedMF", "LensKitItemKNN"]


def lenskit_dataset(user_items: sparse.csr_array) -> Any:
    """A ``lenskit.data.Dataset`` whose users and items are numbered as the rows and columns are.

    `user_items`: sparse float array, shape (n_users, n_items); ratings, or 1 for each like; rows and columns may be
    empty, and are users and items all the same.
    """
    import pandas as pd
    from lenskit.data import DatasetBuilder

    n_users, n_items = user_items.shape
    builder = DatasetBuilder()
    builder.add_entities("user", np.arange(n_users))
    builder.add_entities("item", np.arange(n_items))
    frame = pd.DataFrame(
        {
            "user_id": np.repeat(np.arange(n_users), np.diff(user_items.indptr)),
            "item_id": user_items.indices,
            "rating": user_items.data.astype(np.float32),
        }
    )
    builder.add_interactions("rating", frame, entities=["user", "item"], allow_repeats=False, default=True)
    return builder.build()


def frame_bytes(n_users: int, n_items: int, n_ratings: int) -> int:
    """About what LensKit's table of the data takes, with what building and turning it round takes."""
    return 110 * n_ratings + 64 * (n_users + n_items)


class LensKitALS(Algorithm):
    r"""``lenskit.als.ImplicitMFScorer``: binary data with confidences, each side solved for in turn.

    The criterion is that of the key ``ials``: a like has confidence :math:`1 + \alpha`, an absence 1; LensKit learns in
    float32 from factors drawn at random, by Cholesky's decomposition. A profile is folded in by the same equation, as
    LensKit does with a query's history. No score for items without likes, nor for profiles that like none of the
    others. Source: Hu, Koren & Volinsky (2008), ICDM, equations 3 to 5, doi:10.1109/ICDM.2008.22. Defaults are
    LensKit's.

    Cost: each epoch takes time proportional to likes × factors² + (users + items) × factors³.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 2, 3], [1] * 4, n_users=2, n_items=4, scale=used)
    >>> model = LensKitALS.fit(ratings, LensKitALS.Params(factors=2), rng=np.random.default_rng(0))
    >>> best = model.score(Profiles.single([0], [1], n_items=4, scale=used))[0]
    >>> bool(best[1] > 0.9 and abs(best[2:]).max() < 0.1)
    True
    """

    key = "lenskit-als"
    name = "LensKit iALS"
    title = "Implicit alternating least squares of the library LensKit (LensKit iALS)"
    version = 1
    libraries = ("lenskit",)
    preloaded = ("lenskit.als",)
    score_kind = "order"
    rank_parameter = "factors"
    asks_numbers = True
    small = {"factors": 2}
    arrays = ("item_factors", "is_liked")

    @dataclass(frozen=True)
    class Params(Parameters):
        positive_from: float = positive_from_parameter()
        factors: int = parameter(50, description="Number of latent factors; at most min(users, items).", minimum=1)
        alpha: float = parameter(40.0, description="Confidence α that a like adds to that of an absence.", minimum=0.0)
        reg: float = parameter(0.1, description="Pull λ of all factors towards 0.", minimum=1e-6)
        epochs: int = parameter(10, description="Times that both sides are solved for.", minimum=1)

    params: Params
    item_factors: NDArray[np.float32]  # shape (n_items, factors)
    is_liked: Flags  # shape (n_items,), whether the item has any like

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        from lenskit.als import ImplicitMFScorer
        from lenskit.training import TrainingOptions

        liked = positives(ratings.user_items, ratings.scale, params.positive_from)
        is_liked = liked_items(liked)
        factors = np.zeros((ratings.n_items, params.factors), dtype=np.float32)
        if liked.nnz:
            learner = ImplicitMFScorer(
                embedding_size=params.factors, epochs=params.epochs, regularization=params.reg, weight=params.alpha
            )
            progress(0.1, "Solving for factors, which the library does without a break")
            options = TrainingOptions(rng=int(rng.integers(2**31)))
            learner.train(lenskit_dataset(liked), options)
            factors[is_liked] = learner.item_embeddings[is_liked]
        return cls._with(item_factors=factors, is_liked=is_liked)

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Params, **terms: int) -> int:
        """LensKit's own copies of the data, and both sides' factors."""
        return frame_bytes(n_users, n_items, n_ratings) + 16 * params.factors * (n_users + n_items)

    def _score(self, user_items: sparse.csr_array) -> Floats:
        profiles = positives(user_items, self.scale, self.params.positive_from)
        items = self.item_factors.astype(np.float64)
        folded = solve(profiles, items, gram_of(items, self.params.reg), self.params.alpha)
        return self._silence(folded @ items.T, profiles, self.is_liked)


class LensKitBiasedMF(Algorithm):
    r"""``lenskit.als.BiasedMFScorer``: factors of what ratings are above or below damped means.

    .. math:: \hat r_{ui} = \mu + b_i + b_u + p_u^\top q_i

    with b and q as LensKit learns them. A profile is folded in as LensKit folds a query's history: :math:`b_u = \sum_j
    (r_{uj} - \mu - b_j) / (n + \beta)` and :math:`p = (Q_u^\top Q_u + \lambda n I)^{-1} Q_u^\top (r_u - \mu - b - b_u)`
    over its n items rated in training. No score for other items, nor for profiles that have none. Source: Zhou,
    Wilkinson, Schreiber & Pan (2008), AAIM, doi:10.1007/978-3-540-68880-8_32. Defaults are LensKit's.

    Cost: each epoch takes time proportional to ratings × factors² + (users + items) × factors³.

    Examples
    --------
    The factors have nothing to learn where every rating equals its item's mean.

    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 0, 1], [5, 1, 5, 1], n_users=2, n_items=2, scale=scale)
    >>> params = LensKitBiasedMF.Params(factors=1, damping=0)
    >>> model = LensKitBiasedMF.fit(ratings, params, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [5], n_items=2, scale=scale)).round(6).tolist()
    [[5.0, 1.0]]
    """

    key = "lenskit-biasedmf"
    name = "LensKit BiasedMF"
    title = "Biased matrix factorisation of the library LensKit (LensKit BiasedMF)"
    version = 1
    libraries = ("lenskit",)
    preloaded = ("lenskit.als",)
    score_kind = "rating"
    rank_parameter = "factors"
    asks_numbers = True
    small = {"factors": 2}
    arrays = ("mean", "item_bias", "item_factors")

    @dataclass(frozen=True)
    class Params(Parameters):
        factors: int = parameter(50, description="Number of latent factors; at most min(users, items).", minimum=1)
        damping: float = parameter(5.0, description="Damping β of users' and items' means.", minimum=0.0)
        reg: float = parameter(0.1, description="Pull λ of all factors towards 0, for each rating.", minimum=1e-6)
        epochs: int = parameter(10, description="Times that both sides are solved for.", minimum=1)

    params: Params
    mean: Floats  # μ, shape (1,)
    item_bias: NDArray[np.float32]  # b, shape (n_items,)
    item_factors: NDArray[np.float32]  # q, shape (n_items, factors)

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        from lenskit.als import BiasedMFScorer
        from lenskit.training import TrainingOptions

        learner = BiasedMFScorer(
            embedding_size=params.factors, epochs=params.epochs, regularization=params.reg, damping=params.damping
        )
        progress(0.1, "Solving for factors, which the library does without a break")
        options = TrainingOptions(rng=int(rng.integers(2**31)))
        learner.train(lenskit_dataset(ratings.user_items), options)
        return cls._with(
            mean=np.array([learner.bias.global_bias], dtype=np.float64),
            item_bias=learner.bias.item_biases,
            item_factors=learner.item_embeddings,
        )

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Params, **terms: int) -> int:
        """LensKit's own copies of the data, and both sides' factors."""
        return frame_bytes(n_users, n_items, n_ratings) + 16 * params.factors * (n_users + n_items)

    def _score(self, user_items: sparse.csr_array) -> Floats:
        factors, bias = self.item_factors.astype(np.float64), self.mean + self.item_bias.astype(np.float64)
        is_known = self.popularity > 0
        identity = np.eye(factors.shape[1])
        scores = np.empty(user_items.shape)
        for row in range(user_items.shape[0]):
            entries = slice(user_items.indptr[row], user_items.indptr[row + 1])
            items, values = user_items.indices[entries], user_items.data[entries].astype(np.float64)
            items, values = items[is_known[items]], values[is_known[items]]
            if items.size == 0:
                continue  # silenced below
            residuals = values - bias[items]
            own_bias = residuals.sum() / (items.size + self.params.damping)
            own = factors[items]
            gram = own.T @ own + self.params.reg * items.size * identity
            scores[row] = bias + own_bias + factors @ np.linalg.solve(gram, own.T @ (residuals - own_bias))
        return self._silence(scores, user_items)


class LensKitItemKNN(Algorithm):
    r"""``lenskit.knn.ItemKNNScorer`` on implicit feedback: sums of the largest cosines of binary item vectors.

    .. math:: \mathrm{score}_{ui} = \sum_{j \in D^k(u; i)} \cos(i, j)

    over the k items of the profile most like i, similarities below a threshold left out. Where there is none, there is
    no score; nor for items without likes. Source: Deshpande & Karypis (2004), TOIS 22(1):143-177,
    doi:10.1145/963770.963776. Defaults are LensKit's.

    Cost: a fit visits every pair of likes of each user.

    Examples
    --------
    Two people like the first item, one of them the second as well: cosine 1 / √2.

    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1], [0, 1, 0], [1] * 3, n_users=2, n_items=3, scale=used)
    >>> model = LensKitItemKNN.fit(ratings, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [1], n_items=3, scale=used)).round(4).tolist()
    [[-inf, 0.7071, -inf]]
    """

    key = "lenskit-itemknn"
    name = "LensKit ItemKNN"
    title = "Item-item neighbours of the library LensKit (LensKit ItemKNN)"
    version = 1
    libraries = ("lenskit",)
    preloaded = ("lenskit.knn",)
    score_kind = "order"
    asks_numbers = True  # in the last bits: LensKit adds float32 products up in the order of users
    arrays = ("indptr", "indices", "similarities", "is_liked")

    @dataclass(frozen=True)
    class Params(Parameters):
        positive_from: float = positive_from_parameter()
        neighbours: int = parameter(20, description="Most items of the profile that count for a score.", minimum=1)
        min_similarity: float = parameter(1e-6, description="Smallest similarity of neighbours.", minimum=1e-6)

    params: Params
    indptr: Integers  # shape (n_items + 1,); with the next two the symmetric matrix of cosines
    indices: NDArray[np.int32]
    similarities: NDArray[np.float32]
    is_liked: Flags  # shape (n_items,), whether the item has any like

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        from lenskit.knn import ItemKNNScorer

        liked = positives(ratings.user_items, ratings.scale, params.positive_from)
        similarities = sparse.csr_array((ratings.n_items, ratings.n_items), dtype=np.float32)
        if liked.nnz:
            progress(0.1, f"Comparing {ratings.n_items:,} items, which the library does without a break")
            learner = ItemKNNScorer(max_nbrs=params.neighbours, min_sim=params.min_similarity, feedback="implicit")
            learner.train(lenskit_dataset(liked))
            similarities = sparse.csr_array(learner.sim_matrix.to_scipy()).sorted_indices()
        return cls._with(
            indptr=similarities.indptr.astype(np.int64),
            indices=similarities.indices.astype(np.int32),
            similarities=similarities.data.astype(np.float32),
            is_liked=liked_items(liked),
        )

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Params, **terms: int) -> int:
        """LensKit's own copies of the data, and the similarities kept."""
        return frame_bytes(n_users, n_items, n_ratings) + 40 * co_rated_pairs(n_users, n_items, n_ratings)

    def _score(self, user_items: sparse.csr_array) -> Floats:
        profiles = positives(user_items, self.scale, self.params.positive_from)
        similarities = sparse.csr_array(
            (self.similarities.astype(np.float64), self.indices, self.indptr), shape=(self.n_items, self.n_items)
        )
        scores = np.zeros(profiles.shape)
        most = self.params.neighbours
        for row in range(profiles.shape[0]):
            own = similarities[profiles.indices[profiles.indptr[row] : profiles.indptr[row + 1]]].toarray()
            if own.shape[0] > most:
                own = np.partition(own, own.shape[0] - most, axis=0)[-most:]
            scores[row] = own.sum(axis=0)
        scores[scores <= 0.0] = -np.inf
        return self._silence(scores, profiles, self.is_liked)
