"""From scores to a list: the n best items, those of the profile left out, ties in one fixed order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError, ParameterError
from recommenders.data import Flags, Floats, Integers

# Up to this length a list is found in one pass over the scores; longer ones are sorted.
LONGEST_SCANNED = 100


@dataclass(frozen=True, eq=False, slots=True)
class TopN:
    """A recommendation list, best first."""

    # Shape (n,); item numbers; fewer than asked for only if the catalogue has no more outside the profile.
    items: Integers
    scores: Floats  # shape (n,); the model's scores; -inf in the slots filled by popularity
    is_filled: Flags  # shape (n,); which slots the model had no score for, so that popularity filled them


def top_n(scores: Floats, popularity: Integers, exclude: ArrayLike, n: int) -> TopN:
    """The n best items of one row of scores.

    Higher scores come first; equal scores by popularity, then by item number: the same list every time. Items without a
    score (-inf) come last, by popularity, and are marked as filling. Returns at most `n` items. Raises ParameterError
    when `n` < 1. Raises DataError when the score of an item that is not excluded is NaN, or the arrays do not fit
    together.

    `scores`: float64 array, shape (n_items,); no NaN; -inf for "no score". `popularity`: int64 array, shape (n_items,);
    number of training ratings of each item. `exclude`: item numbers never to be recommended: those of the profile.

    Examples
    --------
    >>> scores = np.array([0.2, 0.9, -np.inf, 0.2, 0.5])
    >>> best = top_n(scores, np.array([3, 1, 9, 5, 2]), exclude=[1], n=4)
    >>> best.items.tolist(), best.is_filled.tolist()
    ([4, 3, 0, 2], [False, False, False, True])
    """
    from recommenders.kernels.ranking import best

    if n < 1:
        raise ParameterError(f"A recommendation list needs at least one place; n is {n}.")
    if scores.ndim != 1 or scores.shape != popularity.shape:
        raise DataError(
            f"Scores and popularity must be rows over the same items; got {scores.shape}, {popularity.shape}."
        )
    # Ascending, as the kernel walks items and exclusions side by side.
    own = np.unique(np.asarray(exclude, dtype=np.int64))
    if own.size and not 0 <= own[0] <= own[-1] < scores.shape[0]:
        raise DataError(f"Items to leave out must be numbers from 0 to {scores.shape[0] - 1}; got {own[0]}, {own[-1]}.")
    if n > LONGEST_SCANNED:
        return _sorted(scores, popularity, own, n)
    items, values = np.empty((1, n), dtype=np.int64), np.empty((1, n))
    rows = np.ascontiguousarray(scores[np.newaxis])
    wrong = best(rows, popularity, np.array([0, own.size]), own.astype(np.int32), items, values)
    if wrong >= 0:
        raise DataError(f"The score of item {wrong} is not a number.")
    return listing(items[0], values[0])


def listing(items: Integers, values: Floats) -> TopN:
    """A list from a row of items and scores, in which item -1 marks places that are left over.

    `items`: int64 array, shape (n,); best first; -1 from where the list is at its end. `values`: float64 array, shape
    (n,); their scores; -inf for items that fill the list up.
    """
    if items[-1] < 0:
        used = int((items >= 0).sum())
        items, values = items[:used], values[:used]
    # Compared rather than asked with isneginf, which takes longer than all else here.
    return TopN(items, values, values == -np.inf)


def _sorted(scores: Floats, popularity: Integers, own: Integers, n: int) -> TopN:
    is_candidate = np.ones(scores.shape[0], dtype=np.bool_)
    is_candidate[own] = False
    candidates = np.flatnonzero(is_candidate)
    is_wrong = np.isnan(scores[candidates])
    if is_wrong.any():
        raise DataError(f"The score of item {int(candidates[is_wrong][0])} is not a number.")
    if candidates.size > n:
        # Everything at or above the n-th score, ties included, is enough to find the first n.
        cut = np.partition(scores[candidates], candidates.size - n)[candidates.size - n]
        candidates = candidates[scores[candidates] >= cut]
    # The last key is the primary one: score, popularity, item number, as in the kernel.
    order = np.lexsort((candidates, -popularity[candidates], -scores[candidates]))[:n]
    items = candidates[order].astype(np.int64)
    return TopN(items=items, scores=scores[items], is_filled=np.isneginf(scores[items]))
