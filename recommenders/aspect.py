"""The aspect model: people choose one of a few latent classes, and the class chooses the item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from core.errors import DataError
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Ratings
from recommenders.data_limits import TrainingSize
from recommenders.memory import binary_bytes
from recommenders.parameters import parameter
from recommenders.positives import positives
from recommenders.progress import Progress
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

    References
    ----------
    Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 4.2.1, equation 5;
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
    rank_parameter = "classes"
    small = {"classes": 2, "held_out": 0.0}  # held-out pairs are drawn by number
    arrays = ("items_of_class", "beta")

    @dataclass(frozen=True)
    class Params(AspectParameters):
        """Parameters of `Aspect`."""

        counts: str = parameter(
            "ignore",
            description="Repeated observations of a pair: count once, or as often as they were observed.",
            choices=("ignore", "use"),
            is_added=True,
        )

    params: Params
    items_of_class: NDArray[np.float64]  # P(m|z), shape (n_items, classes)
    beta: NDArray[np.float64]  # shape (1,)

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
        aspects, beta = learn(liked, params.classes, params.tempering, rng, progress)
        model = cls._with(items_of_class=aspects.columns_of_class, beta=np.array([beta]))
        model.n_epochs = aspects.n_steps
        return model

    @classmethod
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Any, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """The positive ratings, and what learning from them takes."""
        return binary_bytes(n_users, n_ratings) + learning_bytes(n_users, n_items, n_ratings, params.classes)

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        liked = positives(user_items, self.scale, self.params.positive_from)
        is_known = np.asarray(self.items_of_class.any(axis=1))
        classes = fold_in(liked, self.items_of_class, float(self.beta[0]), self.params.fold_iterations)
        scores = np.asarray(classes @ self.items_of_class.T)
        scores[:, ~is_known] = -np.inf
        scores[np.asarray(liked @ is_known.astype(np.float64)) == 0] = -np.inf
        return scores
