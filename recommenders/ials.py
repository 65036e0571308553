"""Implicit ALS: factors of binary data in which what is absent counts too, only less."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import Flags, Floats, ItemFeatures, Ratings
from recommenders.explanation import Explanation
from recommenders.memory import binary_bytes, singular_bytes, sparse_bytes
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positive_from_parameter, positives
from recommenders.progress import Progress, blocks, no_progress, within
from recommenders.singular import right_singular_vectors
from recommenders.threads import each, one_library_thread

# Multiplications between two reports.
BLOCK_STEPS = 200_000_000
# What the singular vectors take of the whole, about; only the progress is told by it.
START_WORK = 0.1


class IALS(Algorithm):
    r"""Alternating least squares on binary data with confidences.

    With :math:`x_{ui}` 1 for a positive rating and 0 for everything else, factors minimise

    .. math::
        \sum_{u,i} c_{ui} (x_{ui} - p_u^\top q_i)^2 + \lambda \Big(\sum_u \|p_u\|^2 + \sum_i \|q_i\|^2\Big),
        \qquad c_{ui} = 1 + \alpha x_{ui}

    by solving for all :math:`p_u`, then for all :math:`q_i`, in turn. The items' factors start from the leading right
    singular vectors, so that no chance is involved. A profile is folded in by solving for its p with q fixed: a
    stranger and a training user with the same likes get the same scores. No score for items without likes, nor for
    profiles that like none of the others. Sources: Hu, Koren & Volinsky (2008), ICDM, equations 3 to 5,
    doi:10.1109/ICDM.2008.22; α = 40 is theirs, the start and the default λ are ours.

    Cost: each epoch takes time proportional to likes × factors² + (users + items) × factors³; a profile costs its
    length × factors² + factors³ + items × factors.

    Examples
    --------
    Two tastes that never meet. Of two items that are alike, the profile likes one with weight 1 + 40 and lacks
    the other with weight 1; so both get 41 / 42.

    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 2, 3], [1] * 4, n_users=2, n_items=4, scale=used)
    >>> model = IALS.fit(ratings, IALS.Params(factors=2, reg=0.01), rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [1], n_items=4, scale=used)).round(2).tolist()
    [[0.98, 0.98, 0.0, 0.0]]
    """

    key = "ials"
    name = "iALS"
    title = "Implicit alternating least squares (iALS)"
    version = 3  # since the block Lanczos that it starts from takes other steps
    score_kind = "order"
    rank_parameter = "factors"
    explains = True
    small = {"factors": 2}
    arrays = ("item_factors", "gram", "is_liked")
    preloaded = ("recommenders.kernels.ials",)

    @dataclass(frozen=True)
    class Params(Parameters):
        positive_from: float = positive_from_parameter()
        factors: int = parameter(50, description="Number of latent factors; at most min(users, items).", minimum=1)
        alpha: float = parameter(40.0, description="Confidence α that a like adds to that of an absence.", minimum=0.0)
        reg: float = parameter(100.0, description="Pull λ of all factors towards 0.", minimum=1e-6)
        epochs: int = parameter(15, description="Times that both sides are solved for.", minimum=1)

    params: Params
    item_factors: Floats  # q, shape (n_items, factors)
    gram: Floats  # the sum of all items' q qᵀ, plus λ on the diagonal, shape (factors, factors)
    is_liked: Flags  # shape (n_items,), whether the item has any like

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        by_user = positives(ratings.user_items, ratings.scale, params.positive_from)
        by_item = by_user.T.tocsr()
        start = within(progress, 0.0, START_WORK)
        item_factors = right_singular_vectors(by_user, params.factors, rng, what="users, items", progress=start)
        bounds = np.linspace(START_WORK, 1.0, 2 * params.epochs + 1)
        for epoch in range(params.epochs):
            first, middle, last = bounds[2 * epoch : 2 * epoch + 3].tolist()
            what = f"Epoch {epoch + 1} of {params.epochs}"
            part = within(progress, first, middle)
            user_factors = solve(
                by_user, item_factors, gram_of(item_factors, params.reg), params.alpha, progress=part, what=what
            )
            part = within(progress, middle, last)
            item_factors = solve(
                by_item, user_factors, gram_of(user_factors, params.reg), params.alpha, progress=part, what=what
            )
        return cls._with(
            item_factors=item_factors,
            gram=gram_of(item_factors, params.reg),
            is_liked=np.diff(by_item.indptr) > 0,
        )

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Params, **terms: int) -> int:
        """The positive ratings from both sides, the singular vectors it starts from, and the factors."""
        binary = binary_bytes(n_users, n_ratings) + sparse_bytes(n_items, n_ratings)
        start = singular_bytes(n_users, n_items, n_ratings, params.factors)
        return binary + max(start, 8 * (2 * n_users + 2 * n_items) * params.factors)

    def _score(self, user_items: sparse.csr_array) -> Floats:
        profiles = positives(user_items, self.scale, self.params.positive_from)
        folded = solve(profiles, self.item_factors, self.gram, self.params.alpha)
        return self._silence(folded @ self.item_factors.T, profiles, self.is_liked)

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation:
        """Return each like's part, with the other likes' weights as they are (section 5 of the paper)."""
        liked = positives(user_items, self.scale, self.params.positive_from).indices
        own = self.item_factors[liked]
        weights = np.linalg.solve(self.gram + self.params.alpha * (own.T @ own), self.item_factors[item])
        return Explanation.over(user_items, liked, (1.0 + self.params.alpha) * (own @ weights))


def gram_of(factors: Floats, reg: float) -> Floats:
    """The sum of all q qᵀ, plus `reg` on the diagonal, shape (factors, factors)."""
    # Computed once for all rows (Hu et al., section 4): absences have the same confidence, so a row adds its likes
    # only.
    return np.ascontiguousarray(factors.T @ factors + reg * np.eye(factors.shape[1]))


def solve(
    matrix: sparse.csr_array,
    column_factors: Floats,
    gram: Floats,
    alpha: float,
    *,
    progress: Progress = no_progress,
    what: str = "",
) -> Floats:
    """Return the best factors of each row of the matrix, given those of its columns."""
    from recommenders.kernels.ials import solve_rows

    out = np.empty((matrix.shape[0], column_factors.shape[1]))
    indptr, indices = matrix.indptr.astype(np.int64, copy=False), matrix.indices.astype(np.int32, copy=False)
    size = gram.shape[0]
    # Rows do not depend on each other, so neither do they on how they are cut.
    pieces = [piece[:2] for piece in blocks(size**2 * (np.diff(indptr) + size / 3.0), BLOCK_STEPS)]

    def solve_piece(piece: tuple[int, int]) -> None:
        start, stop = piece
        solve_rows(indptr[start : stop + 1], indices, gram, column_factors, alpha, out[start:stop])

    # Several pieces share out the threads, and products have one each.
    with one_library_thread() if len(pieces) > 1 else nullcontext():
        each(solve_piece, pieces, progress, what)
    return out
