"""PureSVD: the ratings matrix with missing as 0, seen through its leading singular vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from numpy.random import Generator
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import Floats, ItemFeatures, Ratings
from recommenders.explanation import Explanation
from recommenders.memory import singular_bytes, sparse_bytes
from recommenders.parameters import Parameters, labelled, parameter
from recommenders.products import gram
from recommenders.progress import Progress
from recommenders.singular import right_singular_vectors


class PureSVD(Algorithm):
    r"""Truncated singular value decomposition of the users × items matrix with missing ratings as 0.

    .. math:: \mathrm{score}_u = r_u Q Q^\top

    with :math:`Q` (n_items, factors) the leading right singular vectors. There are no user factors to keep, so a
    stranger's profile is scored exactly as a training user's. No score for unrated items, nor for profiles that have
    none of the others. Source: Cremonesi, Koren & Turrin (2010), RecSys, section 4, doi:10.1145/1864708.1864721.

    Cost: a fit solves the eigenproblem of the smaller side's Gram matrix (time to the cube of that side) up to 2,500
    rows, and takes passes of block Lanczos over the ratings beyond; a profile costs (its length + items) × factors.

    Examples
    --------
    Two tastes that never meet; one factor each.

    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> users, items, values = [0, 0, 1, 1], [0, 1, 2, 3], [5, 5, 4, 4]
    >>> ratings = Ratings.from_triples(users, items, values, n_users=2, n_items=4, scale=scale)
    >>> model = PureSVD.fit(ratings, PureSVD.Params(factors=2), rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [4], n_items=4, scale=scale)).round(9).tolist()
    [[2.0, 2.0, 0.0, 0.0]]
    """

    key = "puresvd"
    name = "PureSVD"
    title = "Singular value decomposition (PureSVD)"
    version = 3  # since block Lanczos takes other steps
    score_kind = "order"
    rank_parameter = "factors"
    explains = True
    small = {"factors": 2}
    arrays = ("item_factors",)
    preloaded = ("recommenders.kernels.products", "recommenders.kernels.krylov")

    @dataclass(frozen=True)
    class Params(Parameters):
        factors: int = parameter(50, description="Number of latent factors; at most min(users, items).", minimum=1)

    params: Params
    item_factors: Floats  # Q, shape (n_items, factors)

    @classmethod
    def label(cls, params: Parameters) -> str:
        """PureSVD and its number of factors, which is what tells its conditions apart."""
        options = params.changed()
        options.pop("factors", None)
        return labelled(f"{cls.name}{cast(PureSVD.Params, params).factors}", options)

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        vectors = right_singular_vectors(
            ratings.user_items,
            params.factors,
            rng,
            what="users, items",
            gram=lambda adding: gram(ratings, adding),
            progress=progress,
        )
        return cls._with(item_factors=vectors)

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Any, **terms: int) -> int:
        """The ratings as float64 numbers, and the singular vectors."""
        return sparse_bytes(n_users, n_ratings) + singular_bytes(n_users, n_items, n_ratings, params.factors)

    def _score(self, user_items: sparse.csr_array) -> Floats:
        from recommenders.kernels.ranking import fold

        folded = np.empty((user_items.shape[0], self.item_factors.shape[1]))
        profile = user_items.indptr.astype(np.int64, copy=False), user_items.indices.astype(np.int32, copy=False)
        fold(*profile, user_items.data, self.item_factors, folded)
        return self._silence(folded @ self.item_factors.T, user_items)

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation:
        rated = user_items.indices
        contributions = user_items.data.astype(np.float64) * (self.item_factors[rated] @ self.item_factors[item])
        return Explanation.over(user_items, rated, contributions)
