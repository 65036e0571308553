"""Fold new profiles into factors that another library learned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders.adapters.library import Adapter
from recommenders.positives import positives


class FoldedLikes(Adapter):
    """A model of likes by alternating least squares, into which profiles are folded by the same equation.

    Its parameters name `positive_from`, `alpha` and `reg`.
    """

    score_kind = "order"
    rank_parameter = "factors"
    asks_numbers = True
    arrays = ("item_factors", "is_liked")

    item_factors: NDArray[np.float32]  # shape (n_items, factors); as the library learned them
    is_liked: NDArray[np.bool_]  # shape (n_items,); whether the item has any like

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        profiles = positives(user_items, self.scale, self.params.positive_from)
        return score_by_least_squares(profiles, self.item_factors, self.is_liked, self.params.alpha, self.params.reg)


def score_by_least_squares(
    profiles: sparse.csr_array, item_factors: NDArray[np.float32], is_liked: NDArray[np.bool_], alpha: float, reg: float
) -> NDArray[np.float64]:
    r"""Fold profiles into an implicit least-squares model, and score every item.

    .. math::
        p = \Big(Q^\top Q + \alpha \sum_{i \in u} q_i q_i^\top + \lambda I\Big)^{-1} (1 + \alpha) \sum_{i \in u} q_i

    Source: Hu, Koren & Volinsky (2008), ICDM, equation 4, doi:10.1109/ICDM.2008.22.

    `profiles`: sparse float array, shape (n_profiles, n_items); 1 where an item is liked. `item_factors`: float array,
    shape (n_items, factors); Q, learned. `is_liked`: bool array, shape (n_items,); items with at least one like in the
    training data. `alpha`, `reg`: α ≥ 0 and λ > 0 of the training. Returns a float64 array, shape (n_profiles,
    n_items): Qp; -inf for items without likes and for profiles that like none of the others.

    Examples
    --------
    >>> profiles = sparse.csr_array(np.array([[1.0, 0.0]]))
    >>> factors = np.array([[1.0], [0.5]], dtype=np.float32)
    >>> score_by_least_squares(profiles, factors, np.array([True, True]), alpha=1.0, reg=0.75).round(6).tolist()
    [[0.666667, 0.333333]]
    """
    from recommenders.kernels.ials import solve_rows

    items = item_factors.astype(np.float64)
    gram = np.ascontiguousarray(items.T @ items + reg * np.eye(items.shape[1]))
    folded = np.empty((profiles.shape[0], items.shape[1]))
    indptr, indices = profiles.indptr.astype(np.int64, copy=False), profiles.indices.astype(np.int32, copy=False)
    solve_rows(indptr, indices, gram, items, alpha, folded)
    return silence(folded @ items.T, profiles, is_liked)


def silence(
    scores: NDArray[np.float64], profiles: sparse.csr_array, is_liked: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Set to -inf, in place, the items without likes and the profiles that like none of the others.

    Examples
    --------
    >>> profiles = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> silence(np.ones((2, 2)), profiles, np.array([True, False])).tolist()
    [[1.0, -inf], [-inf, -inf]]
    """
    scores[:, ~is_liked] = -np.inf
    scores[np.asarray(profiles @ is_liked.astype(np.float64)) == 0] = -np.inf
    return scores
