"""The protocol "one plus random": can a model tell a rated item from a thousand that were not rated?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.protocols.cases import Cases

Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts around each test item among other items."""

    # `above`, `tied`: shape (n_cases,); items scored above the test item; scored the same as it.
    above: Ints
    tied: Ints
    # Shape (n_cases,); items before it in the list as it is served: equal scores by popularity, then by number.
    before: Ints
    scored: Ints  # shape (n_cases,); items with a score, the test item included
    n_items: Ints  # shape (n_cases,); all of them, the test item not included


@dataclass(frozen=True, slots=True)
class CaseCounts:
    """Counts around each test item, among its candidates and among all items that are not excluded."""

    sampled: Counts
    everyone: Counts


def count_candidates(
    cases: Cases,
    rows: slice | NDArray[np.integer[Any]],
    scores: NDArray[np.floating[Any]],
    score_users: NDArray[np.integer[Any]],
    popularity: NDArray[np.integer[Any]],
    *,
    is_sampled: bool = True,
) -> CaseCounts:
    """Count the items above, tied with and before the test item of each case, in one pass. The result is in the order
    of `rows`.

    Raises DataError for scores or popularity of another shape; a case whose user has no row; NaN where a score was
    needed.

    `scores`: float array, shape (n_scored_users, n_items); a model's scores of all items. -inf ("no score") is below
    everything and ties with itself. `score_users`: int array, shape (n_scored_users,); the user of each row of
    `scores`, ascending. Every user of `rows` is among them. `popularity`: int array, shape (n_items,); training ratings
    of each item, by which equal scores are served. `is_sampled`: False: candidates are neither drawn nor counted; the
    counts among them are zeros.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.protocols.cases import make_cases
    >>> train = csr_array(np.array([[4.0, 0, 0, 0, 0]]))
    >>> cases = make_cases(train, np.array([0]), np.array([1]), np.array([5.0]),
    ...                    relevant=5, irrelevant=1, seed=1)
    >>> found = count_candidates(cases, slice(None), np.array([[9.0, 2.0, 3.0, 2.0, 1.0]]), np.array([0]),
    ...                           np.array([9, 1, 1, 5, 1]))
    >>> [int(counts[0]) for counts in (found.sampled.above, found.sampled.tied, found.sampled.before)]
    [1, 1, 2]
    """
    from evaluation.protocols.kernels import count_cases

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
    return CaseCounts(sampled=Counts(*sampled.T.copy()), everyone=Counts(*everyone.T.copy()))
