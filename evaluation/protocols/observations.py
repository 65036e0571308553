"""Protocols on hidden ratings alone: "test observations" (only these are ranked) and "rating prediction"."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predicted ratings of the cases."""

    # Shape (n_cases,), or None; NaN where the model predicts nothing; None for a model that does not predict ratings at
    # all.
    predicted: NDArray[np.float64] | None
    why_none: str = ""  # "not a rating predictor", or empty


def predictions(
    scores: NDArray[np.float64], *, score_kind: str, low: float, high: float, is_clipped: bool = True
) -> Predictions:
    """Interpret scores as ratings, if the model predicts ratings. If the scores only define an order, the result has a
    reason instead of predictions.

    `scores`: float64 array, shape (n_cases,); as `own_scores` gives them, on the training scale.

    Examples
    --------
    >>> predictions(np.array([5.5, -np.inf]), score_kind="rating", low=1, high=5).predicted.tolist()
    [5.0, nan]
    >>> predictions(np.array([5.5]), score_kind="order", low=1, high=5)
    Predictions(predicted=None, why_none='not a rating predictor')
    """
    if score_kind != "rating":
        return Predictions(None, NOT_A_PREDICTOR)
    predicted = np.where(np.isneginf(scores), np.nan, scores)
    return Predictions(np.clip(predicted, low, high) if is_clipped else predicted)
