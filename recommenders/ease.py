"""EASE: a linear regression of every item on all others, solved in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders import lazy
from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Ratings
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positive_from_parameter, positives
from recommenders.products import binary_gram

__all__ = ["EASE"]


class EASE(Algorithm):
    r"""Embarrassingly shallow autoencoder: a ridge regression of items on items that may not use itself.

    With X the binary users × items matrix of positive ratings,

    .. math::
        P = (X^\top X + \lambda I)^{-1}, \qquad
        B_{ij} = -\frac{P_{ij}}{P_{jj}} \ (i \neq j), \quad B_{jj} = 0, \qquad
        \mathrm{score}_u = x_u B

    which is the minimum of :math:`\|X - XB\|_F^2 + \lambda \|B\|_F^2` over all B with a diagonal of 0. Where
    users are fewer than liked items, P is kept through the Cholesky factor L of :math:`X X^\top + \lambda I`,
    as :math:`P = (I - W^\top W)/\lambda` with :math:`W = L^{-1} X`; the scores are the same. No score for
    items nobody liked, nor for profiles that like none of the others.

    References
    ----------
    Steck (2019), WWW, equation 8, doi:10.1145/3308558.3313710; his λ is 500 on MovieLens 20M.

    Examples
    --------
    One person who liked both items: P is ((2, -1), (-1, 2)) / 3, so each weighs 1/2 for the other.

    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0], [0, 1], [1, 1], n_users=1, n_items=2, scale=used)
    >>> model = EASE.fit(ratings, EASE.Params(reg=1), rng=np.random.default_rng(0))
    >>> model.score(Profiles.one([0], [1], n_items=2, scale=used)).round(9).tolist()
    [[0.0, 0.5]]
    """

    key = "ease"
    name = "EASE"
    title = "Item-item regression (EASE)"
    version = 1
    score_kind = "order"
    arrays = ("liked_items", "inverse", "diagonal")

    @dataclass(frozen=True)
    class Params(Parameters):
        """Parameters of `EASE`."""

        positive_from: float = positive_from_parameter()
        reg: float = parameter(500.0, description="Regularisation λ, in likes.", minimum=1e-3)

    params: Params
    liked_items: NDArray[np.int64]  # shape (m,), the items somebody liked; the other arrays are over these
    inverse: NDArray[np.float64]  # P of shape (m, m); or W of shape (n_users, m) where n_users < m
    diagonal: NDArray[np.float64]  # of P, shape (m,)

    @classmethod
    def _fit(cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: np.random.Generator) -> Self:
        positive = positives(ratings.user_items, ratings.scale, params.positive_from)
        liked_items = np.unique(positive.indices).astype(np.int64)
        # Users who like nothing add nothing to either product.
        matrix = positive[np.diff(positive.indptr) > 0][:, liked_items]
        if matrix.shape[0] < matrix.shape[1]:
            inverse, diagonal = _by_users(matrix, params.reg)
        else:
            inverse, diagonal = _by_items(matrix, params.reg)
        return cls._with(liked_items=liked_items, inverse=inverse, diagonal=diagonal)

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        scores = np.full(user_items.shape, -np.inf)
        profiles = positives(user_items, self.scale, self.params.positive_from)[:, self.liked_items]
        has_profile = np.diff(profiles.indptr) > 0
        own = profiles[has_profile]
        if self.inverse.shape[0] < self.inverse.shape[1]:
            projected = (own.toarray() - (own @ self.inverse.T) @ self.inverse) / self.params.reg
        else:
            projected = np.asarray(own @ self.inverse)
        scores[np.ix_(has_profile, self.liked_items)] = own.toarray() - projected / self.diagonal
        return scores


def _by_items(matrix: sparse.csr_array, reg: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P and its diagonal."""
    gram = binary_gram(matrix).astype(np.float64)
    np.fill_diagonal(gram, gram.diagonal() + reg)
    linalg = lazy.linalg()
    factor = linalg.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    inverse = linalg.cho_solve(factor, np.eye(gram.shape[0]), overwrite_b=True, check_finite=False)
    return np.ascontiguousarray(inverse), inverse.diagonal().copy()


def _by_users(matrix: sparse.csr_array, reg: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return W and the diagonal of P."""
    gram = (matrix @ matrix.T).toarray()
    np.fill_diagonal(gram, gram.diagonal() + reg)
    linalg = lazy.linalg()
    lower = linalg.cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
    half = linalg.solve_triangular(lower, matrix.toarray(), lower=True, overwrite_b=True, check_finite=False)
    return np.ascontiguousarray(half), (1.0 - (half**2).sum(axis=0)) / reg
