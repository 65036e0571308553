"""From scores to a list: the n best items, those of the profile left out, ties in one fixed order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError, ParameterError
from recommenders.data import Profiles

__all__ = ["TopN", "top_n", "top_n_batch"]


@dataclass(frozen=True, eq=False, slots=True)
class TopN:
    """A recommendation list, best first.

    Attributes
    ----------
    items : int64 array, shape (n,)
        Item numbers; fewer than asked for only if the catalogue has no more outside the profile.
    scores : float64 array, shape (n,)
        The model's scores; -inf in the slots filled by popularity.
    is_filled : bool array, shape (n,)
        Which slots the model had no score for, so that popularity filled them.
    """

    items: NDArray[np.int64]
    scores: NDArray[np.float64]
    is_filled: NDArray[np.bool_]


def top_n(scores: NDArray[np.float64], popularity: NDArray[np.int64], exclude: ArrayLike, n: int) -> TopN:
    """The n best items of one row of scores.

    Higher scores come first; equal scores by popularity, then by item number: the same list every time. Items
    without a score (-inf) come last, by popularity, and are marked as filling.

    Parameters
    ----------
    scores : float64 array, shape (n_items,)
        No NaN; -inf for "no score".
    popularity : int64 array, shape (n_items,)
        Number of training ratings of each item.
    exclude : int array
        Item numbers never to be recommended: those of the profile.
    n : int
        Length of the list, >= 1.

    Returns
    -------
    TopN
        At most `n` items.

    Raises
    ------
    ParameterError
        If `n` < 1.
    DataError
        If a score is NaN or the arrays do not fit together.

    Examples
    --------
    >>> scores = np.array([0.2, 0.9, -np.inf, 0.2, 0.5])
    >>> best = top_n(scores, np.array([3, 1, 9, 5, 2]), exclude=[1], n=4)
    >>> best.items.tolist(), best.is_filled.tolist()
    ([4, 3, 0, 2], [False, False, False, True])
    """
    if n < 1:
        raise ParameterError(f"A recommendation list needs at least one place; n is {n}.")
    if scores.ndim != 1 or scores.shape != popularity.shape:
        raise DataError(
            f"Scores and popularity must be rows over the same items; got {scores.shape}, {popularity.shape}."
        )
    if np.isnan(scores).any():
        raise DataError(f"The score of item {int(np.flatnonzero(np.isnan(scores))[0])} is not a number.")
    is_candidate = np.ones(scores.shape[0], dtype=np.bool_)
    is_candidate[np.asarray(exclude, dtype=np.int64)] = False
    candidates = np.flatnonzero(is_candidate)
    if candidates.size > n:
        # Everything at or above the n-th score, ties included, is enough to find the first n.
        cut = np.partition(scores[candidates], candidates.size - n)[candidates.size - n]
        candidates = candidates[scores[candidates] >= cut]
    order = np.lexsort((candidates, -popularity[candidates], -scores[candidates]))[:n]
    items = candidates[order].astype(np.int64)
    return TopN(items=items, scores=scores[items], is_filled=np.isneginf(scores[items]))


def top_n_batch(
    scores: NDArray[np.float64], popularity: NDArray[np.int64], profiles: Profiles, n: int
) -> tuple[TopN, ...]:
    """The n best items of every profile, each profile's own items left out.

    Parameters
    ----------
    scores : float64 array, shape (n_profiles, n_items)
        As an algorithm's `score` gives them for `profiles`.
    popularity, n
        As in `top_n`.
    profiles : Profiles
        The profiles that were scored.

    Returns
    -------
    tuple of TopN
        One list a profile, in their order.

    Raises
    ------
    ParameterError, DataError
        As `top_n`; also if scores and profiles differ in shape.
    """
    if scores.shape != profiles.user_items.shape:
        raise DataError(
            f"Scores of shape {scores.shape} do not belong to profiles of shape {profiles.user_items.shape}."
        )
    own = np.split(profiles.user_items.indices, profiles.user_items.indptr[1:-1])
    return tuple(top_n(row, popularity, items, n) for row, items in zip(scores, own, strict=True))
