"""Item-item cosine as the library implicit learns it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from recommenders.adapters.folding import silence
from recommenders.adapters.library import IMPLICIT, Adapter, int32_matrix
from recommenders.data import ItemFeatures, Ratings
from recommenders.memory import binary_bytes
from recommenders.parameters import Parameters, parameter
from recommenders.positives import liked_items, positive_from_parameter, positives
from recommenders.progress import Progress


class ImplicitCosine(Adapter):
    r"""``implicit.nearest_neighbours.CosineRecommender``: cosines of binary item vectors, k kept per item.

    .. math:: \mathrm{score}_{ui} = \sum_{j \in u,\ i \in N_k(j)} \cos(i, j)

    where :math:`N_k(j)` are the k items most like j, itself among them. So a score of 0, no neighbour among those kept,
    is no score; nor is there one for items without likes. Sources: Deshpande & Karypis (2004), TOIS 22(1):143-177,
    doi:10.1145/963770.963776, for item-based top-N lists; the default k = 20 is the library's.

    Cost: a fit visits every pair of likes of each user; a profile costs its length × k.

    Examples
    --------
    Two people like the first item, one of them the second as well: cosine 1 / √2.

    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1], [0, 1, 0], [1] * 3, n_users=2, n_items=3, scale=used)
    >>> model = ImplicitCosine.fit(ratings, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [1], n_items=3, scale=used)).round(4).tolist()
    [[1.0, 0.7071, -inf]]
    """

    key = "implicit-cosine"
    name = "implicit cosine"
    title = "Item-item cosine of the library implicit (implicit cosine)"
    version = 1
    library = IMPLICIT
    score_kind = "order"
    arrays = ("indptr", "indices", "similarities", "is_liked")

    @dataclass(frozen=True)
    class Params(Parameters):
        """Parameters of `ImplicitCosine`."""

        positive_from: float = positive_from_parameter()
        neighbours: int = parameter(20, description="Number of neighbours kept per item, itself included.", minimum=1)

    params: Params
    indptr: NDArray[np.int64]  # shape (n_items + 1,); with the next two the matrix of kept cosines, one row an item
    indices: NDArray[np.int32]
    similarities: NDArray[np.float64]
    is_liked: NDArray[np.bool_]  # shape (n_items,), whether the item has any like

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        from implicit.nearest_neighbours import CosineRecommender

        liked = positives(ratings.user_items, ratings.scale, params.positive_from)
        progress(0.1, f"Comparing {ratings.n_items:,} items, which the library does without a break")
        learner = CosineRecommender(K=params.neighbours, num_threads=1)
        with warnings.catch_warnings():
            # The library's own normalised matrix is in a form that the library warns of.
            warnings.filterwarnings("ignore", message="Method expects CSR input")
            learner.fit(int32_matrix(liked), show_progress=False)
        similarities = sparse.csr_array(learner.similarity).sorted_indices()
        return cls._with(
            indptr=similarities.indptr.astype(np.int64),
            indices=similarities.indices.astype(np.int32),
            similarities=similarities.data.astype(np.float64),
            is_liked=liked_items(liked),
        )

    @classmethod
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Any, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """The likes from both sides, and the neighbours kept."""
        n_bytes: int = (
            binary_bytes(n_users, n_ratings) + 36 * n_ratings + 48 * n_items * min(params.neighbours, n_items)
        )
        return n_bytes

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        profiles = positives(user_items, self.scale, self.params.positive_from)
        similarities = sparse.csr_array(
            (self.similarities, self.indices, self.indptr), shape=(self.n_items, self.n_items)
        )
        scores = (profiles @ similarities).toarray()
        scores[scores <= 0.0] = -np.inf
        return silence(scores, profiles, self.is_liked)
