"""By what the sizes of an algorithm are compared: one criterion for each kind of model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recommenders.positives import FIVE_POINTS

# A probability that underflowed counts as this much.
SMALLEST = 1e-300

# Sums over the held-out ratings of each person of a block, and how many these are: scores, whether an item was
# seen, and the held-out ratings, all of shape (n_people, n_items), 0 where there is none.
Measure = Callable[[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]], tuple[Any, Any]]


@dataclass(frozen=True)
class Criterion:
    """How the sizes of an algorithm are compared."""

    parameter: str  # the parameter that is chosen
    values: tuple[int, ...]  # what is tried unless told otherwise
    words: str  # the criterion as tables and charts name it
    is_higher_better: bool  # which end of it is the good one
    of_likes: bool  # whether only positive ratings are held out, or all
    measure: Measure  # the criterion, summed over each person's held-out ratings
    is_root: bool = False  # whether the square root of the mean is reported
    # Whether people are kept from the learning, and half of what they rated is held out; else single ratings are. For
    # an algorithm that learns from what is absent too: the absent ones of a person it learned from are nothing new to
    # it.
    by_people: bool = False


def _squared_errors(
    scores: NDArray[np.float64], is_seen: NDArray[np.bool_], held_out: NDArray[np.float64]
) -> tuple[Any, Any]:
    is_held = held_out != 0
    return np.where(is_held, (np.where(is_held, scores, 0.0) - held_out) ** 2, 0.0).sum(axis=1), is_held.sum(axis=1)


def _log_shares(
    scores: NDArray[np.float64], is_seen: NDArray[np.bool_], held_out: NDArray[np.float64]
) -> tuple[Any, Any]:
    """Sum log P(m|p) over held-out likes; the scores are these probabilities, -inf where there is none."""
    is_held = held_out != 0
    logs = np.log(np.maximum(np.where(is_held, scores, 1.0), SMALLEST))
    return logs.sum(axis=1), is_held.sum(axis=1)


def _log_odds(
    scores: NDArray[np.float64], is_seen: NDArray[np.bool_], held_out: NDArray[np.float64]
) -> tuple[Any, Any]:
    """Sum the likelihood of all that the profile does not show, held-out likes and the absence of others.

    Per held-out like, so that the number does not sink to nothing with the size of the catalogue.
    """
    is_held = held_out != 0
    counts = np.isfinite(scores) & ~is_seen
    theta = np.where(counts, scores, 0.0)
    cells = np.where(counts, np.where(is_held, theta, 0.0) - np.logaddexp(0.0, theta), 0.0)
    return cells.sum(axis=1), is_held.sum(axis=1)


def _areas(scores: NDArray[np.float64], is_seen: NDArray[np.bool_], held_out: NDArray[np.float64]) -> tuple[Any, Any]:
    """Give each person's share of (held-out like, unrated item) pairs in the right order, ties by half."""
    areas, is_some = np.zeros(scores.shape[0]), np.zeros(scores.shape[0])
    for row in range(scores.shape[0]):
        is_held = held_out[row] != 0
        negatives = np.sort(scores[row][~is_seen[row] & ~is_held])
        if negatives.size:
            own = scores[row][is_held]
            below = np.searchsorted(negatives, own, side="left") + np.searchsorted(negatives, own, side="right")
            areas[row], is_some[row] = below.mean() / (2.0 * negatives.size), 1.0
    return areas, is_some


# What counts as a like for algorithms that have no say in it themselves.
POSITIVE_FROM = float(FIVE_POINTS.high) - 1.0

SIZES: dict[str, Criterion] = {
    "lpca": Criterion(
        "factors",
        (1, 2, 5, 10, 20, 50),
        "Log likelihood of what profiles of people kept apart do not show, per held-out like",
        is_higher_better=True,
        of_likes=True,
        measure=_log_odds,
        by_people=True,
    ),
    "aspect": Criterion(
        "classes",
        (2, 5, 10, 20, 50),
        "Mean log probability of held-out likes",
        is_higher_better=True,
        of_likes=True,
        measure=_log_shares,
    ),
    "asysvd": Criterion(
        "factors",
        (2, 5, 10, 20, 50, 100),
        "RMSE of held-out ratings",
        is_higher_better=False,
        of_likes=False,
        measure=_squared_errors,
        is_root=True,
    ),
    "lsa": Criterion(
        "factors",
        (5, 10, 20, 50, 100, 200, 400),
        "Area under the ROC curve: held-out likes against unrated items, mean over people",
        is_higher_better=True,
        of_likes=True,
        measure=_areas,
    ),
}
