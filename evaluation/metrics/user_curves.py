"""Curves by user and their means: at each list length (Sarwar), at eleven recalls (TREC), and Swets' A."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.curves import Scale, area_until, roc

Floats = NDArray[np.float64]
LEVELS = np.arange(11) / 10
ROUNDING = 1e-9  # a recall within this distance below a level counts as reaching it
CELLS = 1 << 22  # list entries in memory at a time


@dataclass(frozen=True, eq=False)
class UserCurve:
    """A curve averaged over users; it has no area, because its points do not belong to one list."""

    # `x`, `y`: shape (n_points,), from the shortest list to the longest.
    x: Floats
    y: Floats
    n_people: int  # users averaged over
    n_one_class: int  # users excluded because their items are all good or none is (for precision: none is)
    # Shape (n_users,) or (n_users, 11); precision at the eleven recalls by user, NaN for excluded users; empty for
    # means at each length.
    user_values: Floats


@dataclass(frozen=True, eq=False)
class _Lists:
    """Outcomes of some users in the order of their scores, tied items sharing outcomes: one row per user."""

    shares: Floats  # (n_people, longest of all), 0 behind the end
    n_items: NDArray[np.int64]
    n_good: NDArray[np.int64]
    people: NDArray[np.int64]

    def lengths(self) -> NDArray[np.int64]:
        """Number of items of each user at each list length: the length, or all items."""
        return np.minimum(np.arange(1, self.shares.shape[1] + 1), self.n_items[:, None])

    def select(self, is_selected: NDArray[np.bool_]) -> _Lists:
        """The lists of the selected users."""
        return _Lists(
            self.shares[is_selected], self.n_items[is_selected], self.n_good[is_selected], self.people[is_selected]
        )


def _observations(
    people: ArrayLike, scores: ArrayLike, is_good: ArrayLike
) -> tuple[NDArray[np.int64], Floats, NDArray[np.bool_]]:
    of, score = np.asarray(people, dtype=np.int64), np.asarray(scores, dtype=np.float64)
    good = np.asarray(is_good, dtype=np.bool_)
    score = np.where(np.isnan(score), -np.inf, score)
    order = np.lexsort((-score, of))
    return of[order], score[order], good[order]


def _blocks(of: NDArray[np.int64], score: Floats, good: NDArray[np.bool_]) -> Iterator[_Lists]:
    """Yield the lists of a few users at a time, so that memory does not grow with their number."""
    people, starts, sizes = np.unique(of, return_index=True, return_counts=True)
    longest = int(sizes.max(initial=1))
    step = max(1, CELLS // longest)
    for first in range(0, len(people), step):
        n_items = sizes[first : first + step]
        part = slice(starts[first], starts[first] + int(n_items.sum()))
        row = np.repeat(np.arange(len(n_items)), n_items)
        positions = np.arange(len(row)) - np.repeat(starts[first : first + step] - starts[first], n_items)
        own, outcome = score[part], good[part]
        is_first = np.ones(len(row), dtype=np.bool_)
        is_first[1:] = (row[1:] != row[:-1]) | (own[1:] != own[:-1])
        run = np.cumsum(is_first) - 1
        shares = np.zeros((len(n_items), longest))
        shares[row, positions] = (np.bincount(run, weights=outcome) / np.bincount(run))[run]
        n_good = np.bincount(row, weights=outcome).astype(np.int64)
        yield _Lists(shares, n_items, n_good, people[first : first + step])


def mean_at_lengths(people: ArrayLike, scores: ArrayLike, is_good: ArrayLike) -> UserCurve | None:
    """Average the false-alarm rates and the hit rates of users at each list length, over users with both good and other
    items.

    At length k each user gets the best min(k, n) of their own n items. Tied items count in expectation. Returns one
    point per length, and (0, 0) first. None if no user is left. Sources: Sarwar, Karypis, Konstan & Riedl (2000), EC;
    Gunawardana & Shani (2009), JMLR 10, section 5.2.1.

    `people`: int array, shape (n_observations,). `scores`: float array, shape (n_observations,); NaN ranks below every
    score. `is_good`: bool array, shape (n_observations,).

    Examples
    --------
    >>> found = mean_at_lengths([0, 0, 1, 1], [2, 1, 4, 3], [True, False, False, True])
    >>> found.x.tolist(), found.y.tolist()
    ([0.0, 0.5, 1.0], [0.0, 0.5, 1.0])
    """
    n_people = n_left_out = 0
    alarms: Floats = np.zeros(1)  # rates, summed over users
    recalls: Floats = np.zeros(1)
    for block in _blocks(*_observations(people, scores, is_good)):
        # A rate of a user without good, or without other, items has a denominator of 0.
        is_averaged = (block.n_good > 0) & (block.n_items > block.n_good)
        n_people, n_left_out = n_people + int(is_averaged.sum()), n_left_out + int((~is_averaged).sum())
        lists = block.select(is_averaged)
        hits = np.cumsum(lists.shares, axis=1)
        alarms = alarms + ((lists.lengths() - hits) / (lists.n_items - lists.n_good)[:, None]).sum(axis=0)
        recalls = recalls + (hits / lists.n_good[:, None]).sum(axis=0)
    if n_people == 0:
        return None
    # Rounding must not give a list fewer false alarms than a shorter one.
    alarms = np.minimum(np.maximum.accumulate(alarms / n_people), 1.0)
    recalls = np.minimum(recalls / n_people, 1.0)
    return UserCurve(np.append(0.0, alarms), np.append(0.0, recalls), n_people, n_left_out, np.empty(0))


def eleven_points(people: ArrayLike, scores: ArrayLike, is_good: ArrayLike, *, n_users: int) -> UserCurve | None:
    r"""Interpolated precision of each user at recall 0, .1, … 1, averaged over users.

    .. math:: P(l) = \max_{k: r_k \ge l} P_k

    Returns eleven points; `user_values` by user. The metric precision-recall-11 is their mean over the eleven. None if
    no user has a good item. Sources: Voorhees (2002), Overview of TREC 2002, NIST SP 500-251, appendix. Deviation:
    trec_eval asks for floor(l R + .9) hits in floating point, so that a recall a tenth of an item short may pass (2 of
    3 as .7); here it does not.

    `people`: int array, shape (n_observations,); in 0 to n_users - 1. `scores`: float array, shape (n_observations,);
    NaN ranks below every score; tied items share their outcomes evenly. `is_good`: bool array, shape (n_observations,);
    all good items of a user must be among their observations.

    Examples
    --------
    >>> eleven_points([0, 0, 0], [3, 2, 1], [True, False, True], n_users=1).y.round(2).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.67, 0.67, 0.67, 0.67, 0.67]
    """
    of, score, good = _observations(people, scores, is_good)
    values = np.full((n_users, len(LEVELS)), np.nan)
    for block in _blocks(of, score, good):
        lists = block.select(block.n_good > 0)
        hits = np.cumsum(lists.shares, axis=1)
        precisions, recalls = hits / lists.lengths(), hits / lists.n_good[:, None]
        # The best precision from here on; ranks beyond a user's last item repeat the last value.
        ahead = np.maximum.accumulate(precisions[:, ::-1], axis=1)[:, ::-1]
        for column, level in enumerate(LEVELS):
            # The first True: every user reaches a recall of 1 at the end of their list.
            first = np.argmax(recalls >= level - ROUNDING, axis=1)
            values[lists.people, column] = ahead[np.arange(len(first)), first]
    is_averaged = ~np.isnan(values[:, 0])
    if not is_averaged.any():
        return None
    n_averaged = int(is_averaged.sum())
    return UserCurve(LEVELS.copy(), values[is_averaged].mean(axis=0), n_averaged, n_users - n_averaged, values)


def roc_areas(
    people: ArrayLike,
    scores: ArrayLike,
    is_good: ArrayLike,
    *,
    n_users: int,
    until: float = 1.0,
    scale: Scale = "raw",
) -> Floats:
    """Swets' A over each user's own test items, in total or up to a false-alarm rate. Parameters as for `eleven_points`
    and `evaluation.metrics.curves.area_until`.

    Returns a float array, shape (n_users,): NaN for users whose items are all good, or none is.

    Examples
    --------
    >>> roc_areas([0, 0, 2], [1.0, 2.0, 1.0], [True, False, True], n_users=3).tolist()
    [0.0, nan, nan]
    """
    of, score, good = _observations(people, scores, is_good)
    values = np.full(n_users, np.nan)
    known, starts, sizes = np.unique(of, return_index=True, return_counts=True)
    for person, start, stop in zip(known.tolist(), starts, starts + sizes, strict=True):
        curve = roc(score[start:stop], good[start:stop])
        if curve is not None:
            values[person] = area_until(curve, until, scale)
    return values
