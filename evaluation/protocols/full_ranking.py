"""The protocol "full ranking": every item that the user has not rated in training, best first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.protocols.cases import Cases


def first_items(
    cases: Cases,
    scores: NDArray[np.floating[Any]],
    score_users: NDArray[np.integer[Any]],
    popularity: NDArray[np.integer[Any]],
    n: int,
) -> dict[str, NDArray[np.int32]]:
    """Return the top `n` items of each user, without the items excluded in `cases`.

    Items are ordered by score, then popularity, then item number; items without a score (-inf) are last. If known items
    may be recommended again, the cases bar none. Returns `list_users`, shape (n_users,); `list_items`, shape (n_users,
    n), best first, -1 where the list is shorter than n; `list_scored`, shape (n_users,), the number of items of the
    whole list with a score: later slots are filled by popularity.

    `scores`: float array, shape (n_scored_users, n_items); no NaN. `score_users`: int array, shape (n_scored_users,).
    `popularity`: int array, shape (n_items,). Raises DataError for scores or popularity of another shape, or a score
    that is NaN.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.protocols.cases import build_cases
    >>> train = csr_array(np.array([[4.0, 0, 0, 0]]))
    >>> cases = build_cases(train, np.array([0]), np.array([1]), np.array([5.0]),
    ...                    relevant=5, irrelevant=1, seed=1, every=True, excluded="trained")
    >>> lists = first_items(cases, np.array([[9.0, 1.0, 2.0, 2.0]]), np.array([0]), np.array([1, 1, 1, 7]), 2)
    >>> lists["list_items"].tolist()
    [[3, 2]]
    """
    if scores.shape != (len(score_users), cases.n_items) or np.shape(popularity) != (cases.n_items,):
        raise DataError(
            f"The scores have shape {scores.shape} and popularity {np.shape(popularity)}: they should be "
            f"{(len(score_users), cases.n_items)} and {(cases.n_items,)}."
        )
    if np.isnan(scores).any():
        raise DataError("A score is not a number (NaN): 'no score' must be -inf.")
    # Sorted by popularity once; the stable sort by score keeps that order among equal scores.
    by_popularity = np.lexsort((np.arange(cases.n_items), -np.asarray(popularity)))
    items = np.full((len(score_users), n), -1, dtype=np.int32)
    n_scored = np.empty(len(score_users), dtype=np.int32)
    for row, user in enumerate(np.asarray(score_users).tolist()):
        is_open = np.ones(cases.n_items, dtype=np.bool_)
        is_open[cases.excluded(user)] = False
        candidates = by_popularity[is_open[by_popularity]]
        own = scores[row, candidates]
        n_scored[row] = int((own > -np.inf).sum())
        if n < len(own):
            # All items at the border stay, because which of them are listed is decided by popularity below.
            border = np.partition(own, len(own) - n)[len(own) - n]
            is_candidate = np.flatnonzero(own >= border)
            candidates, own = candidates[is_candidate], own[is_candidate]
        best = candidates[np.argsort(-own, kind="stable")][:n]
        items[row, : len(best)] = best
    users = np.asarray(score_users, dtype=np.int32)
    return {"list_users": users, "list_items": items, "list_scored": n_scored}
