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
    """Give the score of each case's own item: each person's test observations are ranked by them.

    Parameters
    ----------
    cases : Cases
    rows : slice or int array
        Which cases.
    scores : float array, shape (n_scored_users, n_items)
    score_users : int array, shape (n_scored_users,)
        The user of each row of `scores`, ascending. Every user of `rows` is among them.

    Returns
    -------
    float64 array, shape (n_cases,)
        In the order of `rows`; -inf where the model has no score.

    Raises
    ------
    DataError
        Scores of another shape; a case whose user has no row; a score that is NaN.

    References
    ----------
    Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 3.2.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.protocols.cases import make_cases
    >>> train = csr_array(np.array([[4.0, 0, 0]]))
    >>> cases = make_cases(train, np.array([0, 0]), np.array([1, 2]), np.array([5.0, 3.0]),
    ...                    relevant=5, irrelevant=1, seed=1, every=True)
    >>> own_scores(cases, slice(None), np.array([[0.0, 2.5, 1.5]]), np.array([0])).tolist()
    [2.5, 1.5]
    """
    if scores.shape != (len(score_users), cases.n_items):
        raise DataError(
            f"The scores have shape {scores.shape}: it should be {(len(score_users), cases.n_items)}, "
            "scored users × items."
        )
    users, items = cases.users[rows], cases.items[rows]
    places = np.searchsorted(score_users, users)
    is_there = places < len(score_users)
    is_there[is_there] = np.asarray(score_users)[places[is_there]] == users[is_there]
    if not is_there.all():
        raise DataError(f"User {users[~is_there][0]} has a case but no row of scores (or score_users do not ascend).")
    own: NDArray[np.float64] = scores[places, items].astype(np.float64)
    if np.isnan(own).any():
        raise DataError(f"A score of user {users[np.isnan(own)][0]} is not a number (NaN): 'no score' has to be -inf.")
    return own


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predicted ratings of the cases.

    Parameters
    ----------
    predicted : float64 array, shape (n_cases,), or None
        NaN where the model predicts nothing; None for a model that does not predict ratings at all.
    why_none : str
        "not a rating predictor", or empty.
    """

    predicted: NDArray[np.float64] | None
    why_none: str = ""


def predictions(
    scores: NDArray[np.float64], *, score_kind: str, low: float, high: float, is_clipped: bool = True
) -> Predictions:
    """Read scores as ratings, if they are any.

    Parameters
    ----------
    scores : float64 array, shape (n_cases,)
        As `own_scores` gives them, on the training scale.
    score_kind : {"rating", "order"}
        What the model says its scores are.
    low, high : float
        Ends of the scale.
    is_clipped : bool
        Predictions beyond an end of the scale count as that end.

    Returns
    -------
    Predictions
        For a model whose scores are only an order: no number, and the reason.

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
