"""LSA: items alike in what is known of them, whether or not anybody rated them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, cast

import numpy as np
from numpy.random import Generator
from scipy import sparse

from core.errors import DataError
from recommenders.base import Algorithm, TitleWords
from recommenders.data import Flags, Floats, ItemFeatures, Ratings
from recommenders.data_limits import SILENT_KINDS, Limit, TrainingSize
from recommenders.explanation import Explanation
from recommenders.memory import singular_bytes, sparse_bytes
from recommenders.parameters import Parameters, parameter
from recommenders.progress import Progress
from recommenders.singular import right_singular_vectors

# Which weight a kind of term has; kinds not named here have that of `other`.
WEIGHT_OF_KIND = {
    "genre": "genres",
    **dict.fromkeys(("person", "director", "cast", "actor", "author", "writer", "producer", "composer"), "people"),
    "tag": "tags",
    **dict.fromkeys(("plot", "word", "title"), "words"),
    "decade": "decade",
}
# Rows have length 1 before they are projected: a shorter remainder than this is rounding error.
LOST_LENGTH = 1e-8


class LSA(Algorithm):
    r"""Latent semantic analysis of the items' features; the one algorithm here that needs no other people.

    Counts of terms are weighted by kind and by :math:`1 + \ln \frac{1 + n}{1 + n_t}` (n items with any term,
    :math:`n_t` of them with t), each item's row is brought to length 1, and the matrix is reduced by a
    truncated singular value decomposition. With :math:`v_i` an item's latent vector brought to length 1,

    .. math::
        \mathrm{score}_{ui} = \frac{\sum_{j \in R(u)} w_{uj} \, v_i^\top v_j}{\sum_{j \in R(u)} |w_{uj}|}

    where :math:`w_{uj}` is the rating less the scale's middle (or, as an option, less the mean of the
    profile's ratings); if that leaves nothing, all of these being 0, it is the rating. No score for items
    without a feature, nor for profiles without an item that has one. Where nothing else is known of the items, the
    features are the words of their titles (kind ``"title"``), weighted as those of plots; as an option, beside others.

    Cost: a fit is a singular value decomposition of items × terms, whatever the number of ratings; a profile costs its
    length × items × factors at most.

    Sources: Deerwester et al. (1990), JASIS 41(6):391-407; Bambini, Cremonesi & Turrin (2011), Recommender Systems
    Handbook, chapter 9, doi:10.1007/978-0-387-85820-3_9. Titles as content: Cremonesi, Garzotto, Negro,
    Papadopoulos & Turrin (2011), INTERACT, section 3.2. Deviations: the inverse document frequency is
    smoothed, so that a term all items share still counts; the weights of kinds are ours.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0], [0], [5], n_users=1, n_items=3, scale=scale)
    >>> counts = sparse.csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> features = ItemFeatures(counts, (("genre", "Comedy"), ("genre", "Horror")))
    >>> model = LSA.fit(ratings, LSA.Params(factors=2), features=features, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [5], n_items=3, scale=scale)).round(9).tolist()
    [[1.0, 1.0, 0.0]]
    """

    key = "lsa"
    name = "LSA"
    title = "Latent semantic analysis of item features (LSA)"
    version = 4  # since block Lanczos takes other steps; 3 since it is used; 2 since authors are people
    score_kind = "order"
    explains = True
    small = {"factors": 2}
    needs_features = True
    arrays = ("item_vectors",)
    preloaded = ("recommenders.kernels.krylov",)

    @dataclass(frozen=True)
    class Params(Parameters):
        factors: int = parameter(100, description="Number of latent factors; at most min(items, terms).", minimum=1)
        genres: float = parameter(1.0, description="Weight of genres.", minimum=0.0)
        people: float = parameter(1.0, description="Weight of directors, cast and other people.", minimum=0.0)
        tags: float = parameter(1.0, description="Weight of tags.", minimum=0.0)
        words: float = parameter(1.0, description="Weight of words of the plot and title.", minimum=0.0)
        decade: float = parameter(0.5, description="Weight of the decade.", minimum=0.0)
        other: float = parameter(0.5, description="Weight of every other kind of feature.", minimum=0.0)
        centre: str = parameter(
            "middle",
            description="What a rating is compared with: the scale's middle, or the mean of the profile.",
            choices=("middle", "mean"),
        )
        titles: str = parameter(
            "alone",
            description="Words of titles as content: where nothing else is known of the items, or besides.",
            choices=("alone", "add"),
            is_added=True,
        )

    params: Params
    item_vectors: Floats  # shape (n_items, factors), rows of length 1, or 0 without features

    @classmethod
    def limits(cls, size: TrainingSize) -> Mapping[str, Limit]:
        """No more factors than the smaller side of the table of items and terms."""
        return {"factors": Limit(min(size.n_items, size.n_terms), "min(items, terms)")}

    @classmethod
    def check(cls, params: Params, size: TrainingSize) -> None:
        """Refuse, besides, item features all of whose kinds have weight 0."""
        super().check(params, size)
        kinds = cast(ItemFeatures, size.features).kinds
        if not any(_weight_of(kind, params) for kind in kinds):
            raise DataError(
                f"{cls.name} ({cls.key}): the algorithm needs item features of a kind whose weight is above 0; "
                f"this dataset has {', '.join(kinds)}."
            )

    @classmethod
    def title_words(cls, params: Params) -> TitleWords:
        """As the parameter `titles` says."""
        return "add" if params.titles == "add" else "alone"

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        weighted = _weighted(cast(ItemFeatures, features), params)  # the caller saw to it that there are some
        vectors = right_singular_vectors(weighted, params.factors, rng, what="items, terms", progress=progress)
        latent = np.asarray(weighted @ vectors)
        lengths = np.linalg.norm(latent, axis=1, keepdims=True)
        is_kept = lengths > LOST_LENGTH
        return cls._with(item_vectors=np.where(is_kept, latent / np.where(is_kept, lengths, 1.0), 0.0))

    @classmethod
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Params, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """The weighted features, their singular vectors, and a vector for each item."""
        weighted = 3 * sparse_bytes(n_items, n_item_terms)
        return weighted + singular_bytes(n_items, n_terms, n_item_terms, params.factors) + 24 * n_items * params.factors

    def _score(self, user_items: sparse.csr_array) -> Floats:
        has_vector = np.asarray(self.item_vectors.any(axis=1))
        liking = self._liking(user_items, has_vector)
        total = np.asarray(abs(liking).sum(axis=1))
        has_profile = total > 0
        directions = np.asarray(liking @ self.item_vectors) / np.where(has_profile, total, 1.0)[:, np.newaxis]
        scores = directions @ self.item_vectors.T
        scores[:, ~has_vector] = -np.inf
        scores[~has_profile] = -np.inf
        return np.asarray(scores)

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation:
        liking = self._liking(user_items, np.asarray(self.item_vectors.any(axis=1))).data
        likeness = self.item_vectors[user_items.indices] @ self.item_vectors[item]
        return Explanation.over(user_items, user_items.indices, liking * likeness / np.abs(liking).sum())

    def _liking(self, user_items: sparse.csr_array, has_vector: Flags) -> sparse.csr_array:
        """Return the weights of the profiles' items, 0 for those without a vector."""
        rows = np.repeat(np.arange(user_items.shape[0]), np.diff(user_items.indptr))
        n_rows = user_items.shape[0]
        ratings = user_items.data.astype(np.float64)
        speaks = has_vector[user_items.indices].astype(np.float64)
        centre = np.full(n_rows, self.scale.middle)
        if self.params.centre == "mean":
            sums = np.bincount(rows, weights=ratings, minlength=n_rows)
            centre = sums / np.maximum(np.diff(user_items.indptr), 1)
        weights = (ratings - centre[rows]) * speaks
        is_nothing = np.bincount(rows, weights=np.abs(weights), minlength=n_rows) == 0
        weights = np.where(is_nothing[rows], ratings * speaks, weights)
        return sparse.csr_array((weights, user_items.indices, user_items.indptr), shape=user_items.shape)


def _weight_of(kind: str, params: LSA.Params) -> float:
    return 0.0 if kind in SILENT_KINDS else float(getattr(params, WEIGHT_OF_KIND.get(kind, "other")))


def _weighted(features: ItemFeatures, params: LSA.Params) -> sparse.csr_array:
    """Return the weighted items × terms matrix, rows of length 1; terms of weight 0 keep an empty column."""
    by_kind = [_weight_of(kind, params) for kind, _ in features.terms]
    counts = features.item_terms.astype(np.float64)
    n_items = int((np.diff(counts.indptr) > 0).sum())
    of_term = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = 1.0 + np.log((1.0 + n_items) / (1.0 + of_term))
    weighted = sparse.csr_array(counts @ sparse.diags_array(np.asarray(by_kind) * rarity))
    weighted.eliminate_zeros()
    lengths = np.sqrt(np.asarray(weighted.power(2).sum(axis=1)))
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return sparse.csr_array(sparse.diags_array(scale) @ weighted)
