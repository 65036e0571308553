"""The protocol "unconstrained": one list over all pairs of user and item, for curves over all users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.metrics.curves import Curve
from evaluation.protocols.cases import Cases

NOT_COMPARABLE = "scores not comparable across people"


class Pool(NamedTuple):
    """Pairs of users and items grouped by score."""

    scores: NDArray[np.float64]  # shape (n_scores,); unique, descending; -inf ("no score") is last
    # `n_relevant`, `n_others`: shape (n_scores,); relevant and other pairs with that score.
    n_relevant: NDArray[np.int64]
    n_others: NDArray[np.int64]


def pool_of(scores: NDArray[np.floating[Any]], is_relevant: NDArray[np.bool_]) -> Pool:
    """Pool pairs by score.

    Raises DataError for a score that is NaN.

    `scores`: float array, shape (n_pairs,). `is_relevant`: bool array, shape (n_pairs,).

    Examples
    --------
    >>> pool = pool_of(np.array([1.0, 2.0, 1.0]), np.array([True, True, False]))
    >>> pool.scores.tolist(), pool.n_relevant.tolist(), pool.n_others.tolist()
    ([2.0, 1.0], [1, 1], [0, 1])
    """
    if np.isnan(scores).any():
        raise DataError("A score is not a number (NaN): 'no score' must be -inf.")
    # Adding 0 merges +0 and -0.
    rising, group = np.unique(scores.astype(np.float64) + 0.0, return_inverse=True)
    relevant = np.bincount(group[is_relevant], minlength=len(rising)).astype(np.int64)
    everything = np.bincount(group, minlength=len(rising)).astype(np.int64)
    return Pool(rising[::-1].copy(), relevant[::-1].copy(), (everything - relevant)[::-1].copy())


def all_pairs(
    cases: Cases,
    rows: slice | NDArray[np.integer[Any]],
    scores: NDArray[np.floating[Any]],
    score_users: NDArray[np.integer[Any]],
) -> Pool:
    """Pool all items of some users that are not excluded; items of relevant cases are relevant.

    Source: Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 3.1.

    `scores`: float array, shape (n_scored_users, n_items). `score_users`: int array, shape (n_scored_users,);
    ascending. Raises DataError: as `pool_of`.
    """
    is_open = np.ones((len(score_users), cases.n_items), dtype=np.bool_)
    is_relevant = np.zeros_like(is_open)
    for row, user in enumerate(np.asarray(score_users).tolist()):
        is_open[row, cases.excluded(user)] = False
    liked = np.arange(len(cases))[rows]
    liked = liked[cases.is_relevant[liked]]
    is_relevant[np.searchsorted(score_users, cases.users[liked]), cases.items[liked]] = True
    return pool_of(scores[is_open], is_relevant[is_open])


def merged(pools: Sequence[Pool]) -> Pool:
    """Merge pools. The result is independent of the order and number of pools."""
    rising, group = np.unique(np.concatenate([pool.scores for pool in pools]), return_inverse=True)
    counts = []
    for name in ("n_relevant", "n_others"):
        total = np.zeros(len(rising), dtype=np.int64)
        np.add.at(total, group, np.concatenate([getattr(pool, name) for pool in pools]))
        counts.append(total[::-1].copy())
    return Pool(rising[::-1].copy(), *counts)


def global_curve(pool: Pool) -> Curve | None:
    """ROC over one list of all pairs (GROC), a point after each score; None if all its pairs are of one kind. Its area
    is the Mann-Whitney probability with ties counting half.

    Examples
    --------
    >>> global_curve(pool_of(np.array([3.0, 2.0, 2.0]), np.array([True, True, False]))).area
    0.75
    """
    relevant, irrelevant = int(pool.n_relevant.sum()), int(pool.n_others.sum())
    if not relevant or not irrelevant:
        return None
    hits = np.concatenate([[0], np.cumsum(pool.n_relevant)])
    alarms = np.concatenate([[0], np.cumsum(pool.n_others)])
    # Twice the area in whole numbers of pairs, so that it is independent of the order of summation.
    twice = int((np.diff(alarms) * (hits[1:] + hits[:-1])).sum())
    return Curve(alarms / irrelevant, hits / relevant, twice / (2 * relevant * irrelevant))


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    """Precision against recall over one list of all pairs, as steps."""

    recall: NDArray[np.float64]  # shape (n_steps + 1,); bounds of the steps, rising from 0 to 1
    precision: NDArray[np.float64]  # shape (n_steps,); the height of each step
    area: float  # average precision: the area below the steps

    def line(self, most: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the steps as a line with at most `most` steps; merged steps keep their area. Returns `recall` and
        `precision`: float64 arrays, shape (2 · n_steps,).
        """
        areas = np.concatenate([[0.0], np.cumsum(np.diff(self.recall) * self.precision)])
        edges = np.unique(np.linspace(0, len(self.precision), most + 1).round().astype(np.int64))
        widths, heights = np.diff(self.recall[edges]), np.diff(areas[edges])
        # Areas over widths, so that the line has the same area below it as the steps it replaces.
        heights = heights / widths
        ends = np.stack([self.recall[edges][:-1], self.recall[edges][1:]], axis=1)
        return ends.ravel(), np.repeat(heights, 2)


def pooled_precision_recall(pool: Pool) -> PrecisionRecall | None:
    r"""Compute precision against recall of a pool, equal scores grouped; None without a relevant pair.

    .. math:: \sum_k (r_k - r_{k-1}) P_k

    Source: Davis & Goadrich (2006), ICML: points of this curve may not be joined by straight lines.

    Examples
    --------
    >>> round(pooled_precision_recall(pool_of(np.array([3.0, 2.0, 1.0]), np.array([True, False, True]))).area, 4)
    0.8333
    """
    relevant = int(pool.n_relevant.sum())
    if not relevant:
        return None
    hits, n_retrieved = np.cumsum(pool.n_relevant), np.cumsum(pool.n_relevant + pool.n_others)
    is_step = pool.n_relevant > 0  # elsewhere recall does not change
    recall = np.concatenate([[0.0], hits[is_step] / relevant])
    precision = hits[is_step] / n_retrieved[is_step]
    return PrecisionRecall(recall, precision, float((np.diff(recall) * precision).sum()))
