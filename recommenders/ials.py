"""Implicit ALS: factors of binary data in which what is absent counts too, only less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders import lazy
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Ratings
from recommenders.explanation import Explanation
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positive_from_parameter, positives
from recommenders.singular import right_singular_vectors

__all__ = ["IALS"]


class IALS(Algorithm):
    r"""Alternating least squares on binary data with confidences.

    With :math:`x_{ui}` 1 for a positive rating and 0 for everything else, factors minimise

    .. math::
        \sum_{u,i} c_{ui} (x_{ui} - p_u^\top q_i)^2 + \lambda \Big(\sum_u \|p_u\|^2 + \sum_i \|q_i\|^2\Big),
        \qquad c_{ui} = 1 + \alpha x_{ui}

    by solving for all :math:`p_u`, then for all :math:`q_i`, in turn. The items' factors start from the
    leading right singular vectors, so that no chance is involved. A profile is folded in by solving for its p
    with q fixed: a stranger and a training user with the same likes get the same scores. No score for items
    nobody liked, nor for profiles that like none of the others.

    References
    ----------
    Hu, Koren & Volinsky (2008), ICDM, equations 3 to 5, doi:10.1109/ICDM.2008.22; α = 40 is theirs, the start
    and the default λ are ours.

    Examples
    --------
    Two tastes that never meet. Of two items that are alike, the profile likes one with weight 1 + 40 and lacks
    the other with weight 1; so both get 41 / 42.

    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 2, 3], [1] * 4, n_users=2, n_items=4, scale=used)
    >>> model = IALS.fit(ratings, IALS.Params(factors=2, reg=0.01), rng=np.random.default_rng(0))
    >>> model.score(Profiles.one([0], [1], n_items=4, scale=used)).round(2).tolist()
    [[0.98, 0.98, 0.0, 0.0]]
    """

    key = "ials"
    name = "iALS"
    title = "Implicit alternating least squares (iALS)"
    version = 1
    score_kind = "order"
    explains = True
    small = {"factors": 2}
    arrays = ("item_factors", "gram", "is_liked")

    @dataclass(frozen=True)
    class Params(Parameters):
        """Parameters of `IALS`."""

        positive_from: float = positive_from_parameter()
        factors: int = parameter(50, description="Number of latent factors; at most min(users, items).", minimum=1)
        alpha: float = parameter(40.0, description="Confidence α that a like adds to that of an absence.", minimum=0.0)
        reg: float = parameter(100.0, description="Pull λ of all factors towards 0.", minimum=1e-6)
        epochs: int = parameter(15, description="Times that both sides are solved for.", minimum=1)

    params: Params
    item_factors: NDArray[np.float64]  # q, shape (n_items, factors)
    gram: NDArray[np.float64]  # the sum of all items' q qᵀ, plus λ on the diagonal, shape (factors, factors)
    is_liked: NDArray[np.bool_]  # shape (n_items,), whether somebody liked the item

    @classmethod
    def _fit(cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: np.random.Generator) -> Self:
        by_user = positives(ratings.user_items, ratings.scale, params.positive_from)
        by_item = by_user.T.tocsr()
        item_factors = right_singular_vectors(by_user, params.factors, rng, what="users, items")
        for _ in range(params.epochs):
            user_factors = _solve(by_user, item_factors, _gram(item_factors, params.reg), params.alpha)
            item_factors = _solve(by_item, user_factors, _gram(user_factors, params.reg), params.alpha)
        return cls._with(
            item_factors=item_factors,
            gram=_gram(item_factors, params.reg),
            is_liked=np.diff(by_item.indptr) > 0,
        )

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        profiles = positives(user_items, self.scale, self.params.positive_from)
        folded = _solve(profiles, self.item_factors, self.gram, self.params.alpha)
        scores = folded @ self.item_factors.T
        scores[:, ~self.is_liked] = -np.inf
        scores[np.asarray(profiles @ self.is_liked.astype(np.float64)) == 0] = -np.inf
        return np.asarray(scores)

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation:
        """Return each like's part, with the other likes' weights as they are (section 5 of the paper)."""
        liked = positives(user_items, self.scale, self.params.positive_from).indices
        own = self.item_factors[liked]
        weights = np.linalg.solve(self.gram + self.params.alpha * (own.T @ own), self.item_factors[item])
        return Explanation.over(user_items, liked, (1.0 + self.params.alpha) * (own @ weights))


def _gram(factors: NDArray[np.float64], reg: float) -> NDArray[np.float64]:
    return np.ascontiguousarray(factors.T @ factors + reg * np.eye(factors.shape[1]))


def _solve(
    matrix: sparse.csr_array, others: NDArray[np.float64], gram: NDArray[np.float64], alpha: float
) -> NDArray[np.float64]:
    """Return the best factors of each row of the matrix, given those of its columns."""
    out = np.empty((matrix.shape[0], others.shape[1]))
    indptr, indices = matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False)
    lazy.ials_kernels().solve_rows(indptr, indices, gram, others, alpha, out)
    return out
