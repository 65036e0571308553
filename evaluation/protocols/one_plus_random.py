"""The protocol "one plus random": can a model tell a rated item from a thousand that were not rated?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.protocols.cases import Cases

# Items scored above the test item; scored the same as it; before it in the list as it is served, equal scores by
# popularity, then by number; with a score, the test item included; all of them, the test item not included.
COUNTS = ("above", "tied", "before", "scored", "n_items")


def count_candidates(
    cases: Cases,
    rows: slice | NDArray[np.integer[Any]],
    scores: NDArray[np.floating[Any]],
    score_users: NDArray[np.integer[Any]],
    popularity: NDArray[np.integer[Any]],
    *,
    is_sampled: bool = True,
) -> dict[str, NDArray[np.int32]]:
    """Count the items above, tied with and before the test item of each case, in one pass: `COUNTS` among its
    candidates and, named all_…, among all items that are not excluded. The arrays are in the order of `rows`.

    Raises DataError for scores or popularity of another shape; a case whose user has no row; NaN where a score was
    needed.

    `scores`: float array, shape (n_scored_users, n_items); a model's scores of all items. -inf ("no score") is below
    everything and ties with itself. `score_users`: int array, shape (n_scored_users,); the user of each row of
    `scores`, ascending. Every user of `rows` is among them. `popularity`: int array, shape (n_items,); training ratings
    of each item, by which equal scores are served. `is_sampled`: False: candidates are neither drawn nor counted.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.protocols.cases import build_cases
    >>> train = csr_array(np.array([[4.0, 0, 0, 0, 0]]))
    >>> cases = build_cases(train, np.array([0]), np.array([1]), np.array([5.0]),
    ...                    relevant=5, irrelevant=1, seed=1)
    >>> found = count_candidates(cases, slice(None), np.array([[9.0, 2.0, 3.0, 2.0, 1.0]]), np.array([0]),
    ...                           np.array([9, 1, 1, 5, 1]))
    >>> [int(found[name][0]) for name in ("above", "tied", "before")]
    [1, 1, 2]
    """
    from evaluation.protocols.kernels import count_cases

    # The kernel walks rows; of another memory order every step would miss the cache.
    scores = np.ascontiguousarray(scores)
    score_users = np.asarray(score_users)
    if scores.shape != (len(score_users), cases.n_items):
        raise DataError(
            f"The scores have shape {scores.shape}: it should be {(len(score_users), cases.n_items)}, "
            "scored users × items."
        )
    if not np.issubdtype(scores.dtype, np.floating):
        raise DataError(f"The scores are of type {scores.dtype}: floating point is needed.")
    if np.shape(popularity) != (cases.n_items,):
        raise DataError(f"Popularity has shape {np.shape(popularity)}: one number for each of {cases.n_items} items.")
    chosen = np.arange(len(cases))[rows]
    users, items = cases.users[chosen], cases.items[chosen]
    score_rows = np.searchsorted(score_users, users)
    is_scored = score_rows < len(score_users)
    # searchsorted gives a position for absent users too, so equality has to be checked.
    is_scored[is_scored] = score_users[score_rows[is_scored]] == users[is_scored]
    if not is_scored.all():
        raise DataError(f"User {users[~is_scored][0]} has a case but no row of scores (or score_users do not ascend).")
    bits = cases.bitmaps(chosen) if is_sampled else np.empty((len(chosen), 0), dtype=np.uint8)
    sampled = np.zeros((len(chosen), 5), dtype=np.int32)
    everyone = np.zeros((len(chosen), 5), dtype=np.int32)
    failed = count_cases(
        users,
        items,
        np.ascontiguousarray(bits),
        cases.rated_indptr,
        cases.rated_items,
        cases.closed,
        scores,
        score_rows,
        np.ascontiguousarray(popularity, dtype=np.int64),
        sampled,
        everyone,
    )
    if failed >= 0:
        raise DataError(f"A score of user {users[failed]} is not a number (NaN): 'no score' must be -inf.")
    counts = {f"all_{name}": column for name, column in zip(COUNTS, everyone.T.copy(), strict=True)}
    return dict(zip(COUNTS, sampled.T.copy(), strict=True)) | counts if is_sampled else counts
