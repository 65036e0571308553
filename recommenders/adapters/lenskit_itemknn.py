"""Item-item neighbours as LensKit learns them, of likes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from recommenders.adapters.folding import silence
from recommenders.adapters.lenskit_data import frame_bytes, lenskit_dataset
from recommenders.adapters.library import LENSKIT, Adapter
from recommenders.data import ItemFeatures, Ratings
from recommenders.memory import co_rated_pairs
from recommenders.parameters import Parameters, parameter
from recommenders.positives import liked_items, positive_from_parameter, positives
from recommenders.progress import Progress


class LensKitItemKNN(Adapter):
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
    library = LENSKIT
    score_kind = "order"
    asks_numbers = True  # in the last bits: LensKit adds float32 products up in the order of users
    arrays = ("indptr", "indices", "similarities", "is_liked")

    @dataclass(frozen=True)
    class Params(Parameters):
        """Parameters of `LensKitItemKNN`."""

        positive_from: float = positive_from_parameter()
        neighbours: int = parameter(20, description="Most items of the profile that count for a score.", minimum=1)
        min_similarity: float = parameter(1e-6, description="Smallest similarity of neighbours.", minimum=1e-6)

    params: Params
    indptr: NDArray[np.int64]  # shape (n_items + 1,); with the next two the symmetric matrix of cosines
    indices: NDArray[np.int32]
    similarities: NDArray[np.float32]
    is_liked: NDArray[np.bool_]  # shape (n_items,), whether the item has any like

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
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Any, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """LensKit's own copies of the data, and the similarities kept."""
        return frame_bytes(n_users, n_items, n_ratings) + 40 * co_rated_pairs(n_users, n_items, n_ratings)

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
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
        return silence(scores, profiles, self.is_liked)
