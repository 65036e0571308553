"""Naive Bayes: what the items that a person likes are made of, against the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from numpy.random import Generator
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import Floats, Integers, ItemFeatures, Ratings
from recommenders.data_limits import informative_terms
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positive_from_parameter, positives
from recommenders.progress import Progress

# Profiles × features worked on at a time.
BLOCK_CELLS = 1 << 21


class NaiveBayes(Algorithm):
    r"""A Bernoulli naive Bayes classifier for each person, from item features to liking.

    The items that have a feature are in two classes c, liked by the person or not. With :math:`n_c` items in a
    class, :math:`n_{ca}` of them with feature a, and s the smoothing,

    .. math::
        P(c) = \frac{n_c + s}{n + 2s} \qquad P(a|c) = \frac{n_{ca} + s}{n_c + 2s}

    and the score of an item m, rated by others or not, is the log odds

    .. math::
        \log \frac{P(\mathrm{liked})}{P(\mathrm{not})} + \sum_a \Bigl( [a \in m]
        \log \frac{P(a|\mathrm{liked})}{P(a|\mathrm{not})} + [a \notin m]
        \log \frac{1 - P(a|\mathrm{liked})}{1 - P(a|\mathrm{not})} \Bigr)

    over the features that at least one item of the two classes has. No score for items without a feature,
    nor for profiles without an item that has one.

    Cost: a fit counts the features once and uses no ratings; a profile costs one pass over the features of all items.

    Sources: Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 4, names a naive
    Bayes model for recommending unrated items. The text at hand breaks off before the section
    that describes it, so all details are ours: the Bernoulli model over the presence of features, Laplace's
    smoothing, that the liked items are set against all other items of the catalogue (against the person's other
    rated items as an option, but for usage data, where nothing rated is disliked), and that features which none
    of these items has are left out instead of counting for the smaller class.

    Against all others the model finds what a person would choose, and profiles without a dislike are no special
    case; against the other rated items it finds what a person would like of what was chosen. On MovieLens
    latest-small with genres and tags a hidden 5.0 is among the best 5 of 1,001 in .121 of cases to .067; with
    cast and crew of an eighth of the movies instead in .077 to .076, and with all of these in .086 to .113.

    Examples
    --------
    One comedy liked, one horror film not: against each other the odds are 2 to 1 for the presence of a feature,
    and as much for the absence of the other.

    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0, 0], [0, 1], [5, 1], n_users=1, n_items=3, scale=scale)
    >>> counts = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    >>> features = ItemFeatures(counts, (("genre", "Comedy"), ("genre", "Horror")))
    >>> params = NaiveBayes.Params(against="rated")
    >>> model = NaiveBayes.fit(ratings, params, features=features, rng=np.random.default_rng(0))
    >>> np.exp(model.score(Profiles.single([0, 1], [5, 1], n_items=3, scale=scale))).round(9).tolist()
    [[4.0, 0.25, 4.0]]
    """

    key = "naive-bayes"
    name = "NaiveBayes"
    title = "Naive Bayes over item features (NaiveBayes)"
    version = 2  # since liked items are set against all others unless told otherwise
    score_kind = "order"
    needs_features = True
    arrays = ("n_having", "feature_numbers", "feature_starts")

    @dataclass(frozen=True)
    class Params(Parameters):
        smoothing: float = parameter(1.0, description="Added to each count; 1 is Laplace's rule.", minimum=1e-6)
        against: str = parameter(
            "all",
            description="What liked items are set against: all other items (as always in usage data), or the "
            "other rated items.",
            choices=("all", "rated"),
        )
        positive_from: float = positive_from_parameter()

    params: Params
    n_having: Integers  # number of items with each feature, shape (n_features,)
    feature_numbers: Integers  # the features of the items, one item after the other
    feature_starts: Integers  # where each item's begin, shape (n_items + 1,)

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        item_terms = informative_terms(cast(ItemFeatures, features))  # the caller saw to it that there are some
        n_having = np.bincount(item_terms.indices, minlength=item_terms.shape[1]).astype(np.int64)
        return cls._with(n_having=n_having, feature_numbers=item_terms.indices, feature_starts=item_terms.indptr)

    @classmethod
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Any, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """The features, copied while those that say nothing are left out."""
        return 40 * n_item_terms + 24 * (n_items + n_terms)

    def _score(self, user_items: sparse.csr_array) -> Floats:
        n_features = int(self.n_having.shape[0])
        parts = np.ones(self.feature_numbers.shape[0]), self.feature_numbers, self.feature_starts
        present = sparse.csr_array(parts, shape=(self.n_items, n_features))
        columns = sparse.csc_array(present.T)
        has_feature = np.diff(self.feature_starts) > 0
        rated = user_items.astype(np.float64)
        rated.data = has_feature[user_items.indices].astype(np.float64)
        liked = positives(user_items, self.scale, self.params.positive_from)
        liked.data = has_feature[liked.indices].astype(np.float64)
        is_against_all = self.params.against == "all" or self.scale.low == self.scale.high
        scores = np.empty(user_items.shape)
        height = max(1, BLOCK_CELLS // max(1, n_features))
        for first in range(0, user_items.shape[0], height):
            rows = slice(first, first + height)
            n_liked, n_total = _sums(liked[rows]), _sums(rated[rows])
            liked_having, total_having = (liked[rows] @ present).toarray(), (rated[rows] @ present).toarray()
            if is_against_all:
                n_total = np.full_like(n_liked, has_feature.sum())
                total_having = np.broadcast_to(self.n_having.astype(np.float64), liked_having.shape)
            s = self.params.smoothing
            n_other = n_total - n_liked
            base = np.log((n_liked + s) / (n_other + s))
            of_liked = (liked_having + s) / (n_liked + 2 * s)
            of_other = (total_having - liked_having + s) / (n_other + 2 * s)
            is_seen = total_having > 0
            absent = (np.log1p(-of_liked) - np.log1p(-of_other)) * is_seen
            weights = (np.log(of_liked) - np.log(of_other)) * is_seen - absent
            scores[rows] = base + absent.sum(axis=1, keepdims=True) + weights @ columns
        scores[:, ~has_feature] = -np.inf
        scores[_sums(rated)[:, 0] == 0] = -np.inf
        return scores


def _sums(matrix: sparse.csr_array) -> Floats:
    return np.asarray(matrix.sum(axis=1), dtype=np.float64)[:, np.newaxis]
