"""EASE: a linear regression of every item on all others, solved in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import Floats, Integers, ItemFeatures, Ratings
from recommenders.explanation import Explanation
from recommenders.memory import binary_bytes, sparse_bytes
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positive_from_parameter, positives
from recommenders.products import binary_gram, dense_gram
from recommenders.progress import Progress, within

# What the Gram matrix takes of the whole, about; only the progress is told by it.
GRAM_WORK = 0.4


class EASE(Algorithm):
    r"""Embarrassingly shallow autoencoder: a ridge regression of items on items that may not use itself.

    With X the binary users × items matrix of positive ratings,

    .. math::
        P = (X^\top X + \lambda I)^{-1}, \qquad
        B_{ij} = -\frac{P_{ij}}{P_{jj}} \ (i \neq j), \quad B_{jj} = 0, \qquad
        \mathrm{score}_u = x_u B

    which is the minimum of :math:`\|X - XB\|_F^2 + \lambda \|B\|_F^2` over all B with a diagonal of 0. Where users are
    fewer than liked items, P is kept through the Cholesky factor L of :math:`X X^\top + \lambda I`, as :math:`P = (I -
    W^\top W)/\lambda` with :math:`W = L^{-1} X`; the scores are the same. No score for items without likes, nor for
    profiles that like none of the others. Sources: Steck (2019), WWW, equation 8, doi:10.1145/3308558.3313710; his λ is
    500 on MovieLens 20M.

    Cost: memory with the square and time with the cube of the number of liked items, or of users where these are fewer;
    a profile costs its length × items.

    Examples
    --------
    One person who liked both items: P is ((2, -1), (-1, 2)) / 3, so each weighs 1/2 for the other.

    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0], [0, 1], [1, 1], n_users=1, n_items=2, scale=used)
    >>> model = EASE.fit(ratings, EASE.Params(reg=1), rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [1], n_items=2, scale=used)).round(9).tolist()
    [[0.0, 0.5]]
    """

    key = "ease"
    name = "EASE"
    title = "Item-item regression (EASE)"
    version = 1
    score_kind = "order"
    explains = True
    arrays = ("liked_items", "inverse", "diagonal")
    preloaded = ("recommenders.kernels.products",)

    @dataclass(frozen=True)
    class Params(Parameters):
        positive_from: float = positive_from_parameter()
        reg: float = parameter(500.0, description="Regularisation λ, in likes.", minimum=1e-3)

    params: Params
    liked_items: Integers  # shape (m,), the items with at least one like; the other arrays are over these
    inverse: Floats  # P of shape (m, m); or W of shape (n_users, m) where n_users < m
    diagonal: Floats  # of P, shape (m,)

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        positive = positives(ratings.user_items, ratings.scale, params.positive_from)
        liked_items = np.unique(positive.indices).astype(np.int64)
        # Users who like nothing add nothing to either product.
        matrix = positive[np.diff(positive.indptr) > 0][:, liked_items]
        # The smaller side is inverted, since time grows with its cube.
        if matrix.shape[0] < matrix.shape[1]:
            inverse, diagonal = _by_users(matrix, params.reg, progress)
        else:
            inverse, diagonal = _by_items(matrix, params.reg, progress)
        return cls._with(liked_items=liked_items, inverse=inverse, diagonal=diagonal)

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Any, **terms: int) -> int:
        """The positive ratings, the Gram matrix, and P or W with its copy."""
        smaller = min(n_users, n_items)
        binary = binary_bytes(n_users, n_ratings) + 4 * sparse_bytes(n_users + n_items, n_ratings)
        half = 16 * smaller**2 if n_items <= n_users else 24 * smaller * n_items
        return binary + 8 * smaller**2 + half

    def _score(self, user_items: sparse.csr_array) -> Floats:
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

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation:
        liked = positives(user_items, self.scale, self.params.positive_from).indices
        # An item does not explain itself: B has a diagonal of 0.
        liked = liked[np.isin(liked, self.liked_items) & (liked != item)]
        positions, own = np.searchsorted(self.liked_items, liked), int(np.searchsorted(self.liked_items, item))
        if self.inverse.shape[0] < self.inverse.shape[1]:
            shared = -(self.inverse[:, positions].T @ self.inverse[:, own]) / self.params.reg
        else:
            shared = self.inverse[positions, own]
        return Explanation.over(user_items, liked, -shared / self.diagonal[own])


def _by_items(matrix: sparse.csr_array, reg: float, progress: Progress) -> tuple[Floats, Floats]:
    from scipy import linalg

    # Counted as whole numbers, exactly; in 64 bits for the inverse, whose condition grows with popular items.
    gram = binary_gram(matrix, within(progress, 0.0, GRAM_WORK)).astype(np.float64)
    np.fill_diagonal(gram, gram.diagonal() + reg)
    progress(GRAM_WORK, f"Factoring a matrix of {gram.shape[0]:,} items, which cannot be interrupted")
    factor = linalg.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    progress(0.7, f"Inverting a matrix of {gram.shape[0]:,} items, which cannot be interrupted")
    # In Fortran's order and in place: LAPACK would copy a matrix of several gigabytes otherwise.
    inverse = linalg.cho_solve(factor, np.eye(gram.shape[0], order="F"), overwrite_b=True, check_finite=False)
    return np.ascontiguousarray(inverse), inverse.diagonal().copy()


def _by_users(matrix: sparse.csr_array, reg: float, progress: Progress) -> tuple[Floats, Floats]:
    from scipy import linalg

    gram = dense_gram(matrix, within(progress, 0.0, GRAM_WORK))
    np.fill_diagonal(gram, gram.diagonal() + reg)
    progress(GRAM_WORK, f"Factoring a matrix of {gram.shape[0]:,} people, which cannot be interrupted")
    lower = linalg.cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
    progress(0.7, f"Solving for {matrix.shape[1]:,} items, which cannot be interrupted")
    half = linalg.solve_triangular(lower, matrix.toarray(order="F"), lower=True, overwrite_b=True, check_finite=False)
    return np.ascontiguousarray(half), (1.0 - (half**2).sum(axis=0)) / reg
