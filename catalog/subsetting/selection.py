"""Applies a recipe to ratings: arrays in, masks and counts out.

The steps apply in the order of the recipe's fields: date range, item attribute, top items, minimum ratings per item,
minimum ratings per user, random users, k-core. Each also removes the users and items that it leaves without a rating.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.subsetting.incidence import Counts, Incidence, Mask
from catalog.subsetting.recipe import Recipe
from core.errors import DataError

FEWEST = 2  # users, and items, of a subset
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS_OF_DAY = 24 * 3600
Progress = Callable[[str, int, int], None]  # the step, its number, and the number of steps


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
    state = Incidence(source.indptr, source.indices, source.n_items)
    selector = _Selector(state, source, recipe, rng)
    steps = recipe.steps()
    counts = [state.counts()]
    for number, step in enumerate(steps, start=1):
        if progress is not None:
            progress(step.words, number, len(steps))
        label = f"Step {number} of {len(steps)}, “{step.words}”"
        apply, remedy = _STEPS[step.key]
        before = (state.users.copy(), state.items.copy())
        try:
            apply(selector)
        except DataError as problem:
            raise DataError(f"{label}: {problem}") from problem
        state.drop_unrated()
        counts.append(state.counts())
        if not _is_enough(counts[-1]):
            state.users, state.items = before
            raise DataError(
                f"{label}, leaves {counts[-1]} of {counts[-2]}; a subset needs at least {FEWEST} users and "
                f"{FEWEST} items. {remedy(selector)}"
            )
    return Selection(state.users, state.items, state.ratings, state.user_counts(), tuple(counts))


@dataclass(frozen=True, eq=False, slots=True)
class _Selector:
    """The steps, and for each the remedy if it leaves too little; remedies see the state before the step."""

    state: Incidence
    source: Source
    recipe: Recipe
    rng: np.random.Generator

    def keep_dates(self) -> None:
        times, recipe = self.source.times, self.recipe
        if not len(times):
            raise DataError("the ratings have no times. Leave the date range out.")
        is_kept = np.ones(len(times), dtype=np.bool_)
        if recipe.date_from is not None:
            is_kept &= times >= _midnight(recipe.date_from)
        if recipe.date_until is not None:
            is_kept &= times < _midnight(recipe.date_until) + SECONDS_OF_DAY
        self.state.keep_ratings(is_kept)

    def dates_remedy(self) -> str:
        times = self.source.times
        first, last = (EPOCH + timedelta(seconds=int(seconds)) for seconds in (times.min(), times.max()))
        return f"The ratings are from {first:%Y-%m-%d} to {last:%Y-%m-%d}. Choose a longer date range."

    def keep_feature(self) -> None:
        if self.source.has_feature is None:
            raise DataError("the items have no such attribute. Choose another.")
        self.state.items &= self.source.has_feature

    def feature_remedy(self) -> str:
        return "Choose a value of more items, or relax an earlier step."

    def keep_top_items(self) -> None:
        """Keep the items with the most ratings; of items with equally many, those that come first in the source."""
        counts = self.state.item_counts()
        n_items = _checked_number(self.recipe.top_items, int((counts > 0).sum()), "rated items")
        self.state.items[:] = False
        self.state.items[np.argsort(-counts, kind="stable")[:n_items]] = True

    def top_items_remedy(self) -> str:
        return "Choose more items."

    def keep_rated_items(self) -> None:
        self.state.items &= self.state.item_counts() >= (self.recipe.min_item_ratings or 1)

    def rated_items_remedy(self) -> str:
        most = _second_largest(self.state.item_counts())
        return f"Choose a lower minimum: the second most rated item has {most:,} ratings."

    def keep_active_users(self) -> None:
        self.state.users &= self.state.user_counts() >= (self.recipe.min_user_ratings or 1)

    def active_users_remedy(self) -> str:
        most = _second_largest(self.state.user_counts())
        return f"Choose a lower minimum: the second most active user has {most:,} ratings."

    def keep_random_users(self) -> None:
        users = np.flatnonzero(self.state.user_counts())
        if self.recipe.random_share is not None:
            n_users = max(round(self.recipe.random_share * len(users)), 1)
        else:
            n_users = _checked_number(self.recipe.random_users, len(users), "users with ratings")
        order = np.argsort(self.rng.random(len(users)), kind="stable")
        self.state.users[:] = False
        self.state.users[users[order[:n_users]]] = True

    def random_users_remedy(self) -> str:
        return "Draw more users."

    def keep_core(self) -> None:
        self.state.keep_core(self.recipe.k_core or 1)

    def core_remedy(self) -> str:
        """Find the largest k that leaves a subset, by bisection, since cores are nested."""
        state = self.state
        users, items = state.users, state.items  # of the largest core so far
        possible, impossible = 0, self.recipe.k_core or 1
        while impossible - possible > 1:
            k = (possible + impossible) // 2
            state.users, state.items = users.copy(), items.copy()
            state.keep_core(k)
            if _is_enough(state.counts()):
                users, items, possible = state.users, state.items, k
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
    "feature": (_Selector.keep_feature, _Selector.feature_remedy),
    "top-items": (_Selector.keep_top_items, _Selector.top_items_remedy),
    "item-minimum": (_Selector.keep_rated_items, _Selector.rated_items_remedy),
    "user-minimum": (_Selector.keep_active_users, _Selector.active_users_remedy),
    "random-users": (_Selector.keep_random_users, _Selector.random_users_remedy),
    "k-core": (_Selector.keep_core, _Selector.core_remedy),
}
