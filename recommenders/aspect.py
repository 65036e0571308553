"""The aspect models: people choose one of a few latent classes, and the class chooses the item or its features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from numpy.random import Generator
from scipy import sparse

from core.errors import DataError
from recommenders.base import Algorithm
from recommenders.data import Floats, Integers, ItemFeatures, Ratings
from recommenders.data_limits import Limit, TrainingSize, informative_terms
from recommenders.memory import binary_bytes, sparse_bytes
from recommenders.parameters import parameter
from recommenders.positives import positives
from recommenders.progress import Progress, within
from recommenders.tempered import AspectParameters, fold_in, learn, learning_bytes


class Aspect(Algorithm):
    r"""Two-way aspect model of people and the items they rated positively.

    .. math:: P(p, m) = \sum_z P(p) \, P(z|p) \, P(m|z)

    learned by tempered EM (`recommenders.tempered`): beta is lowered for as long as that makes held-out pairs
    more likely. A profile is folded in by EM steps for its :math:`P(z|p)` with :math:`P(m|z)` held fixed, and
    its list is ordered by :math:`P(m|p) = \sum_z P(z|p) P(m|z)`, which is the score. No score for items
    without a positive rating, nor for profiles without a positive rating of another item.

    As an option, a pair weighs as many observations n(p, m) as the training data have of it ("Lyle saw Memento twice");
    profiles still have each item once, as participants name it.

    Cost: each step of EM takes time proportional to positive ratings × classes; a profile costs items × classes.

    Sources: Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 4.2.1, equation 5;
    tempering and folding in by Hofmann (2001), Machine Learning 42:177-196. Deviations: the start is made
    from singular vectors instead of at random, so that the result does not depend on how people and items
    are numbered (as far as the choice of held-out pairs does not); the steps found with held-out pairs are
    taken again on all pairs instead of a few last ones; a person likes an item once or not at all unless
    `counts` is "use"; held-out pairs keep all their observations together; the number of classes is a parameter
    and not chosen here.

    Examples
    --------
    Two tastes that never meet.

    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> users, items = [0, 0, 1, 1, 2, 3], [0, 1, 0, 1, 2, 2]
    >>> ratings = Ratings.from_triples(users, items, [5] * 6, n_users=4, n_items=3, scale=scale)
    >>> model = Aspect.fit(ratings, Aspect.Params(classes=2, held_out=0), rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [4], n_items=3, scale=scale)).round(6).tolist()
    [[0.5, 0.5, 0.0]]
    """

    key = "aspect"
    name = "Aspect"
    title = "Aspect model of people and items (Aspect)"
    version = 2  # since the block Lanczos that it starts from takes other steps
    score_kind = "order"
    is_slow = True
    rank_parameter = "classes"
    small = {"classes": 2, "held_out": 0.0}  # held-out pairs are drawn by number
    arrays = ("items_of_class", "beta")

    @dataclass(frozen=True)
    class Params(AspectParameters):
        counts: str = parameter(
            "ignore",
            description="Repeated observations of a pair: count once, or as often as they were observed.",
            choices=("ignore", "use"),
            is_added=True,
        )

    params: Params
    items_of_class: Floats  # P(m|z), shape (n_items, classes)
    beta: Floats  # shape (1,)

    @classmethod
    def check(cls, params: Params, size: TrainingSize) -> None:
        """Refuse, besides, counts that the data do not have."""
        super().check(params, size)
        if params.counts == "use" and not size.has_counts:
            raise DataError(
                f"{cls.name} ({cls.key}): counts=use needs counts of repeated observations, and these data have none. "
                "Import the usage data with --count-repeats, or leave the option out."
            )

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        liked = positives(ratings.user_items, ratings.scale, params.positive_from)
        if params.counts == "use":
            stored, counts = ratings.user_items, np.asarray(ratings.counts, dtype=np.float64)
            observed = sparse.csr_array((counts, stored.indices, stored.indptr), shape=stored.shape)
            liked = sparse.csr_array(liked.multiply(observed))
        aspects, beta = learn(liked, params, rng, progress)
        model = cls._with(items_of_class=aspects.columns_of_class, beta=np.array([beta]))
        model.n_epochs = aspects.n_steps
        return model

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Any, **terms: int) -> int:
        """The positive ratings, and what learning from them takes."""
        return binary_bytes(n_users, n_ratings) + learning_bytes(n_users, n_items, n_ratings, params.classes)

    def _score(self, user_items: sparse.csr_array) -> Floats:
        liked = positives(user_items, self.scale, self.params.positive_from)
        is_known = np.asarray(self.items_of_class.any(axis=1))
        classes = fold_in(liked, self.items_of_class, float(self.beta[0]), self.params.fold_iterations)
        scores = np.asarray(classes @ self.items_of_class.T)
        return self._silence(scores, liked, is_known)


# What the learning takes of the whole, about; only the progress is told by it.
LEARNING_WORK = 0.9
CONTENT = ("feature_counts", "feature_numbers", "feature_starts")  # arrays of the items' features


class AspectContent(Algorithm):
    r"""Aspect model of people and the features of the items they rated positively.

    Every positive rating of an item m by a person p gives n(a, m) observations (p, a) for each feature a of
    the item (in the source its actors), and

    .. math:: P(p, a) = \sum_z P(p) \, P(z|p) \, P(a|z)

    is learned from them by tempered EM (`recommenders.tempered`). Items, rated or not, are then folded in
    from their features with :math:`P(a|z)` held fixed:

    .. math::
        E: P(z|a, m) \propto P(a|z) \, P(z|m) \qquad M: P(z|m) \propto \sum_a n(a, m) P(z|a, m)

    A profile is folded in likewise from the features of its items, and by Bayes' rule
    :math:`P(p|z) = P(z|p) P(p) / P(z)`, where :math:`P(p)` is its number of observations over that of the
    training data. Its list is ordered by :math:`P(p|m) P(m)` with P(m) uniform; the score is

    .. math:: P(p|m) = \sum_z P(p|z) \, P(z|m)

    No score for items that share no feature with any liked item, nor for profiles without a positive rating of an item
    that has features.

    Cost: each step of EM takes time proportional to observations of features × classes; a profile costs items ×
    classes.

    Sources: Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, sections 4.2.2 and 4.2.3,
    equations 6 to 9; tempering and folding in by Hofmann (2001), Machine Learning 42:177-196. Deviations: any
    feature takes the place of actors, other titles apart; folding in is tempered as the learning was (at beta
    1 it is equations 7 and 8 to the letter); those of `recommenders.aspect.Aspect`.

    Examples
    --------
    The last item is new, and like the first.

    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0, 1], [0, 1], [5, 5], n_users=2, n_items=3, scale=scale)
    >>> counts = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    >>> features = ItemFeatures(counts, (("cast", "Ann"), ("cast", "Bob")))
    >>> params = AspectContent.Params(classes=2, held_out=0)
    >>> model = AspectContent.fit(ratings, params, features=features, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [5], n_items=3, scale=scale)).round(6).tolist()
    [[1.0, 0.0, 1.0]]
    """

    key = "aspect-content"
    name = "AspectContent"
    title = "Aspect model of people and item features (AspectContent)"
    version = 2  # since the block Lanczos that it starts from takes other steps
    score_kind = "order"
    is_slow = True
    small = {"classes": 2, "held_out": 0.0, "positive_from": 2.0}  # the suite's strangers like little
    needs_features = True
    arrays = ("features_of_class", "classes_of_item", "class_shares", "beta", "n_observations", *CONTENT)

    @dataclass(frozen=True)
    class Params(AspectParameters):
        classes: int = parameter(20, description="Number of latent classes; at most min(users, features).", minimum=1)
        iterations: int = parameter(100, description="Steps of EM at most.", minimum=1)
        fold_iterations: int = parameter(30, description="Steps of EM that fold in an item or a profile.", minimum=1)

    params: Params
    features_of_class: Floats  # P(a|z), shape (n_features, classes)
    classes_of_item: Floats  # P(z|m), shape (n_items, classes); rows of 0 where nothing is known
    class_shares: Floats  # P(z), shape (classes,)
    beta: Floats  # shape (1,)
    n_observations: Floats  # sum of n(p, a), shape (1,)
    feature_counts: Floats  # n(a, m), one item after the other
    feature_numbers: Integers  # their features
    feature_starts: Integers  # where each item's begin, shape (n_items + 1,)

    @classmethod
    def limits(cls, size: TrainingSize) -> Mapping[str, Limit]:
        """No more classes than the smaller side of the table of users and features."""
        return {"classes": Limit(min(size.n_users, size.n_terms), "min(users, features)")}

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        item_terms = informative_terms(cast(ItemFeatures, features))  # the caller saw to it that there are some
        liked = positives(ratings.user_items, ratings.scale, params.positive_from)
        observed = sparse.csr_array(liked @ item_terms)
        aspects, beta = learn(observed, params, rng, within(progress, 0.0, LEARNING_WORK))
        features_of_class = aspects.columns_of_class
        rest = within(progress, LEARNING_WORK, 1.0)
        classes = fold_in(item_terms, features_of_class, beta, params.fold_iterations, rest)
        is_known = item_terms @ np.asarray(features_of_class.any(axis=1), dtype=np.float64) > 0
        n_observations = float(observed.sum())
        of_person = np.asarray(observed.sum(axis=1), dtype=np.float64) / max(n_observations, 1.0)
        return cls._with(
            features_of_class=features_of_class,
            classes_of_item=classes * is_known[:, np.newaxis],
            class_shares=of_person @ aspects.classes_of_row,
            beta=np.array([beta]),
            n_observations=np.array([n_observations]),
            **dict(zip(CONTENT, (item_terms.data, item_terms.indices, item_terms.indptr), strict=True)),
        )

    @classmethod
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Params, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """The positive ratings, the features, people's observations of them, and what learning from these takes."""
        per_item = n_item_terms / max(n_items, 1)
        n_observed = int(min(n_users * n_terms, n_ratings * per_item))
        observed = binary_bytes(n_users, n_ratings) + sparse_bytes(n_users, n_observed)
        learning = learning_bytes(n_users, n_terms, n_observed, params.classes)
        return observed + learning + 3 * sparse_bytes(n_items, n_item_terms) + 16 * n_items * params.classes

    def _score(self, user_items: sparse.csr_array) -> Floats:
        parts = self.feature_counts, self.feature_numbers, self.feature_starts
        item_terms = sparse.csr_array(parts, shape=(self.n_items, self.features_of_class.shape[0]))
        liked = positives(user_items, self.scale, self.params.positive_from)
        observed = sparse.csr_array(liked @ item_terms)
        classes = fold_in(observed, self.features_of_class, float(self.beta[0]), self.params.fold_iterations)
        shares = np.asarray(observed.sum(axis=1)) / max(float(self.n_observations[0]), 1.0)
        has_share = self.class_shares > 0
        lift = classes * np.divide(1.0, self.class_shares, out=np.zeros_like(self.class_shares), where=has_share)
        is_known = np.asarray(self.classes_of_item.any(axis=1))
        scores = (shares[:, np.newaxis] * lift) @ self.classes_of_item.T
        return self._silence(scores, liked, is_known)
