"""Applies a recipe to ratings: arrays in, masks and counts out, and the arrays that these leave.

The steps apply in the order of the recipe's fields: date range, item attribute, top items, minimum ratings per item,
minimum ratings per user, random users, k-core. Each also removes the users and items that it leaves without a rating.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from catalog.subsetting.recipe import Recipe
from core.errors import DataError

FEWEST = 2  # users, and items, of a subset
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS_OF_DAY = 24 * 3600
PER_RATING = ("values", "timestamps", "utilities", "counts")
Mask = NDArray[np.bool_]
Progress = Callable[[str, int, int], None]  # the step, its number, and the number of steps


class Counts(NamedTuple):
    """Size of a selection."""

    users: int
    items: int
    ratings: int

    def __str__(self) -> str:
        return f"{self.users:,} users, {self.items:,} items and {self.ratings:,} ratings"


@dataclass(frozen=True, eq=False)
class Source:
    """The ratings that a subset is selected from, as a dataset stores them."""

    # `indptr`, `indices`: CSR, users × items.
    indptr: NDArray[Any]
    indices: NDArray[Any]
    n_items: int
    times: NDArray[np.int64]  # seconds since 1970 of each rating; empty where there are none
    has_feature: Mask | None = None  # shape (n_items,); whether each item has the item attribute of the recipe


@dataclass(frozen=True, eq=False)
class Selection:
    """The users and items of a subset."""

    users: Mask  # shape (n_users,)
    items: Mask  # shape (n_items,)
    ratings: Mask | None  # shape (n_ratings,); ratings in the date range, by any user and of any item; None: all
    user_counts: NDArray[np.int32]  # shape (n_users,); ratings of each user in the subset
    counts: tuple[Counts, ...]  # before the first step and after each


def select(source: Source, recipe: Recipe, *, rng: np.random.Generator, progress: Progress | None = None) -> Selection:
    """Apply the steps of a recipe.

    Raises DataError, with the step and a remedy, when a step leaves fewer than two users or items, when there are fewer
    users or items than it is to choose, or when a date range meets ratings without times.

    `rng`: draws the random users, and nothing else.
    """
    state = _Selector(source, recipe, rng)
    steps = recipe.steps()
    counts = [state.counts()]
    for number, step in enumerate(steps, start=1):
        if progress is not None:
            progress(step.words, number, len(steps))
        label = f"Step {number} of {len(steps)}, “{step.words}”"
        apply, remedy = _STEPS[step.key]
        before = (state.users.copy(), state.items.copy())
        try:
            apply(state)
        except DataError as problem:
            raise DataError(f"{label}: {problem}") from problem
        state.drop_unrated()
        counts.append(state.counts())
        if not _is_enough(counts[-1]):
            state.users, state.items = before
            raise DataError(
                f"{label}, leaves {counts[-1]} of {counts[-2]}; a subset needs at least {FEWEST} users and "
                f"{FEWEST} items. {remedy(state)}"
            )
    return Selection(state.users, state.items, state.ratings, state.user_counts(), tuple(counts))


class _Selector:
    """The ratings as a matrix of ones, of which masks select users and items; and the steps that change the masks.

    The index arrays are not copied. Counts are products of the matrix with the masks, so no step copies the ratings.
    For each step there is the remedy if it leaves too little; remedies see the state before the step.
    """

    def __init__(self, source: Source, recipe: Recipe, rng: np.random.Generator) -> None:
        self.source, self.recipe, self.rng = source, recipe, rng
        self.users: Mask = np.ones(len(source.indptr) - 1, dtype=np.bool_)
        self.items: Mask = np.ones(source.n_items, dtype=np.bool_)
        self.ratings: Mask | None = None  # entries of the matrix that count; None: all
        entries = (np.ones(len(source.indices), dtype=np.int32), source.indices, source.indptr)
        self._matrix = sparse.csr_array(entries, shape=(len(self.users), source.n_items), copy=False)

    def user_counts(self) -> NDArray[np.int32]:
        """Ratings of selected items by each user, 0 for users that are not selected."""
        return np.asarray((self._matrix @ self.items.astype(np.int32)) * self.users)

    def item_counts(self) -> NDArray[np.int32]:
        """Ratings by selected users of each item, 0 for items that are not selected."""
        return np.asarray((self._matrix.T @ self.users.astype(np.int32)) * self.items)

    def drop_unrated(self) -> None:
        """Deselect users and items without a rating."""
        self.users &= self.user_counts() > 0
        self.items &= self.item_counts() > 0

    def keep_core(self, k: int) -> None:
        """Deselect users and items with fewer than `k` ratings until none is left: the k-core, which is unique.

        References
        ----------
        Seidman (1983), Network structure and minimum degree, Social Networks 5(3):269-287,
        doi:10.1016/0378-8733(83)90028-X, on the bipartite graph of users and items.
        """
        while True:
            self.items &= self.item_counts() >= k
            is_kept = self.user_counts() >= k
            if np.array_equal(is_kept, self.users):
                return
            self.users &= is_kept

    def counts(self) -> Counts:
        """How many users, items and ratings are selected."""
        n_ratings = int(self.user_counts().sum(dtype=np.int64))
        return Counts(int(self.users.sum()), int(self.items.sum()), n_ratings)

    def keep_dates(self) -> None:
        times, recipe = self.source.times, self.recipe
        if not len(times):
            raise DataError("the ratings have no times. Leave the date range out.")
        is_kept = np.ones(len(times), dtype=np.bool_)
        if recipe.date_from is not None:
            is_kept &= times >= _midnight(recipe.date_from)
        if recipe.date_until is not None:
            is_kept &= times < _midnight(recipe.date_until) + SECONDS_OF_DAY
        self.ratings = is_kept
        self._matrix.data[:] = is_kept

    def dates_remedy(self) -> str:
        times = self.source.times
        first, last = (EPOCH + timedelta(seconds=int(seconds)) for seconds in (times.min(), times.max()))
        return f"The ratings are from {first:%Y-%m-%d} to {last:%Y-%m-%d}. Choose a longer date range."

    def keep_feature(self) -> None:
        if self.source.has_feature is None:
            raise DataError("the items have no such attribute. Choose another.")
        self.items &= self.source.has_feature

    def keep_top_items(self) -> None:
        """Keep the items with the most ratings; of items with equally many, those that come first in the source."""
        counts = self.item_counts()
        n_items = _checked_number(self.recipe.top_items, int((counts > 0).sum()), "rated items")
        self.items[:] = False
        self.items[np.argsort(-counts, kind="stable")[:n_items]] = True

    def keep_rated_items(self) -> None:
        self.items &= self.item_counts() >= (self.recipe.min_item_ratings or 1)

    def rated_items_remedy(self) -> str:
        most = _second_largest(self.item_counts())
        return f"Choose a lower minimum: the second most rated item has {most:,} ratings."

    def keep_active_users(self) -> None:
        self.users &= self.user_counts() >= (self.recipe.min_user_ratings or 1)

    def active_users_remedy(self) -> str:
        most = _second_largest(self.user_counts())
        return f"Choose a lower minimum: the second most active user has {most:,} ratings."

    def keep_random_users(self) -> None:
        users = np.flatnonzero(self.user_counts())
        if self.recipe.random_share is not None:
            n_users = max(round(self.recipe.random_share * len(users)), 1)
        else:
            n_users = _checked_number(self.recipe.random_users, len(users), "users with ratings")
        order = np.argsort(self.rng.random(len(users)), kind="stable")
        self.users[:] = False
        self.users[users[order[:n_users]]] = True

    def core_remedy(self) -> str:
        """Find the largest k that leaves a subset, by bisection, since cores are nested."""
        users, items = self.users, self.items  # of the largest core so far
        possible, impossible = 0, self.recipe.k_core or 1
        while impossible - possible > 1:
            k = (possible + impossible) // 2
            self.users, self.items = users.copy(), items.copy()
            self.keep_core(k)
            if _is_enough(self.counts()):
                users, items, possible = self.users, self.items, k
            else:
                impossible = k
        if not possible:
            return "No k leaves a subset. Leave the k-core out, or relax an earlier step."
        return f"Choose a k of at most {possible:,}, or relax an earlier step."


def _is_enough(counts: Counts) -> bool:
    return min(counts.users, counts.items) >= FEWEST


def _midnight(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def _checked_number(number: int | None, available: int, what: str) -> int:
    if number is None or number > available:
        raise DataError(f"there are only {available:,} {what} at this step. Choose at most {available:,}.")
    return number


def _second_largest(counts: NDArray[np.int32]) -> int:
    return int(np.sort(counts)[-FEWEST]) if len(counts) >= FEWEST else 0


_STEPS: Mapping[str, tuple[Callable[[_Selector], None], Callable[[_Selector], str]]] = {
    "dates": (_Selector.keep_dates, _Selector.dates_remedy),
    "feature": (_Selector.keep_feature, lambda _: "Choose a value of more items, or relax an earlier step."),
    "top-items": (_Selector.keep_top_items, lambda _: "Choose more items."),
    "item-minimum": (_Selector.keep_rated_items, _Selector.rated_items_remedy),
    "user-minimum": (_Selector.keep_active_users, _Selector.active_users_remedy),
    "random-users": (_Selector.keep_random_users, lambda _: "Draw more users."),
    "k-core": (lambda state: state.keep_core(state.recipe.k_core or 1), _Selector.core_remedy),
}


def subset_arrays(arrays: Mapping[str, NDArray[Any]], selection: Selection) -> dict[str, NDArray[Any]]:
    """Cut the arrays of a version of a dataset to a selection: users, items and ratings keep their order.

    Probe pairs are kept whose rating is kept; without one left, the subset has no probe list.
    """
    is_kept = np.repeat(selection.users, np.diff(arrays["indptr"]))
    is_kept &= selection.items[arrays["indices"]]
    if selection.ratings is not None:
        is_kept &= selection.ratings
    starts = np.concatenate(([0], np.cumsum(selection.user_counts[selection.users], dtype=np.int64)))
    index = np.int32 if starts[-1] <= np.iinfo(np.int32).max else np.int64
    cut = {
        "indptr": starts.astype(index),
        "indices": _numbers(selection.items)[arrays["indices"][is_kept]].astype(index, copy=False),
        "user_ids": arrays["user_ids"][selection.users],
        "item_ids": arrays["item_ids"][selection.items],
        **{name: arrays[name][is_kept] if len(arrays[name]) else arrays[name] for name in PER_RATING if name in arrays},
    }
    if "probe" in arrays and len(probe := _probe(arrays["probe"], selection, cut)):
        cut["probe"] = probe
    return cut


def _numbers(mask: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The new number of each selected user or item."""
    return np.cumsum(mask, dtype=np.int32) - np.int32(1)


def _probe(pairs: NDArray[np.int64], selection: Selection, cut: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
    pairs = pairs[selection.users[pairs[:, 0]] & selection.items[pairs[:, 1]]]
    users, items = _numbers(selection.users)[pairs[:, 0]], _numbers(selection.items)[pairs[:, 1]]
    is_rated = sparse.csr_array(
        (np.ones(len(cut["indices"]), dtype=np.bool_), cut["indices"], cut["indptr"]),
        shape=(len(cut["user_ids"]), len(cut["item_ids"])),
    )
    is_kept = np.asarray(is_rated[users, items], dtype=np.bool_).reshape(-1) if len(users) else np.empty(0, np.bool_)
    return np.column_stack((users, items)).astype(np.int64)[is_kept]
