"""Protocols on hidden ratings alone: "test observations" (only these are ranked) and "rating prediction"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.protocols.cases import Cases

NOT_A_PREDICTOR = "not a rating predictor"


def own_scores(
    cases: Cases,
    rows: slice | NDArray[np.integer[Any]],
    scores: NDArray[np.floating[Any]],
    score_users: NDArray[np.integer[Any]],
) -> NDArray[np.float64]:
    """Return the score of each case's own item, by which each user's test observations are ranked.

    Raises DataError for scores of another shape; a case whose user has no row; a score that is NaN. Source: Schein,
    Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 3.2.

    `scores`: float array, shape (n_scored_users, n_items). `score_users`: int array, shape (n_scored_users,); the user
    of each row of `scores`, ascending. Every user of `rows` is among them. Returns a float64 array, shape (n_cases,):
    in the order of `rows`; -inf where the model has no score.
    """
    if scores.shape != (len(score_users), cases.n_items):
        raise DataError(
            f"The scores have shape {scores.shape}: it should be {(len(score_users), cases.n_items)}, "
            "scored users × items."
        )
    users, items = cases.users[rows], cases.items[rows]
    score_rows = np.searchsorted(score_users, users)
    is_there = score_rows < len(score_users)
    is_there[is_there] = np.asarray(score_users)[score_rows[is_there]] == users[is_there]
    if not is_there.all():
        raise DataError(f"User {users[~is_there][0]} has a case but no row of scores (or score_users do not ascend).")
    own: NDArray[np.float64] = scores[score_rows, items].astype(np.float64)
    if np.isnan(own).any():
        raise DataError(f"A score of user {users[np.isnan(own)][0]} is not a number (NaN): 'no score' must be -inf.")
    return own


def predictions(
    scores: NDArray[np.float64], *, score_kind: str, low: float, high: float, is_clipped: bool = True
) -> NDArray[np.float64] | None:
    """Interpret scores as ratings, NaN where the model predicts nothing; None if it does not predict ratings at all.

    `scores`: float64 array, shape (n_cases,); as `own_scores` gives them, on the training scale.

    Examples
    --------
    >>> predictions(np.array([5.5, -np.inf]), score_kind="rating", low=1, high=5).tolist()
    [5.0, nan]
    """
    if score_kind != "rating":
        return None
    predicted = np.where(np.isneginf(scores), np.nan, scores)
    return np.clip(predicted, low, high) if is_clipped else predicted
