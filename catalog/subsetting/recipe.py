"""The recipe of a subset: which steps are applied, with which parameters, always in the same order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from core.errors import ParameterError

LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a recipe: its key, its parameters as JSON values, and its description."""

    key: str
    parameters: Mapping[str, Any]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The parameters of a subset; a step without a parameter is not applied. The fields are in the order of the steps.

    Raises ParameterError for a parameter outside its range, and for a recipe without a step.

    Examples
    --------
    >>> [step.words for step in Recipe(k_core=10, top_items=2137).steps()]
    ['Top 2,137 items by number of ratings', '10-core']
    """

    date_from: date | None = None
    date_until: date | None = None  # this day included
    feature: tuple[str, str] | None = None  # kind and value
    top_items: int | None = None
    min_item_ratings: int | None = None
    min_user_ratings: int | None = None
    random_users: int | None = None
    random_share: float | None = None  # of the users that the earlier steps leave
    seed: int = 1  # of the random users
    k_core: int | None = None

    def __post_init__(self) -> None:
        for words, number in (
            ("number of top items", self.top_items),
            ("minimum number of ratings per item", self.min_item_ratings),
            ("minimum number of ratings per user", self.min_user_ratings),
            ("number of random users", self.random_users),
            ("k of the k-core", self.k_core),
        ):
            if number is not None and number < 1:
                raise ParameterError(f"The {words} is {number}; it must be at least 1.")
        if self.date_from and self.date_until and self.date_from > self.date_until:
            raise ParameterError(
                f"The first date, {self.date_from}, is after the last date, {self.date_until}. Swap them."
            )
        if self.feature is not None and not all(self.feature):
            raise ParameterError("An item attribute needs a kind and a value, such as genre and Drama.")
        if self.random_users is not None and self.random_share is not None:
            raise ParameterError("State either a number or a share of random users, not both.")
        if self.random_share is not None and not 0 < self.random_share < 1:
            raise ParameterError(f"The share of random users is {self.random_share:g}; it must be between 0 and 1.")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise ParameterError(f"The seed is {self.seed}; it must be between 0 and {LARGEST_SEED:,}.")
        if not self.steps():
            raise ParameterError("The recipe has no step. State at least one, such as a k-core.")

    def steps(self) -> tuple[Step, ...]:
        """The steps of this recipe, in the order in which they apply."""
        steps = []
        if self.date_from or self.date_until:
            first, last = (day.isoformat() if day else None for day in (self.date_from, self.date_until))
            words = " ".join(f"{word} {day}" for word, day in (("from", first), ("until", last)) if day)
            steps.append(Step("dates", {"date_from": first, "date_until": last}, f"Ratings {words}"))
        if self.feature is not None:
            kind, value = self.feature
            steps.append(Step("feature", {"feature": [kind, value]}, f"Items with {kind} = {value}"))
        if self.top_items is not None:
            words = f"Top {self.top_items:,} items by number of ratings"
            steps.append(Step("top-items", {"top_items": self.top_items}, words))
        for key, who, least in (
            ("item", "Items", self.min_item_ratings),
            ("user", "Users", self.min_user_ratings),
        ):
            if least is not None:
                words = f"{who} with at least {least:,} {'rating' if least == 1 else 'ratings'}"
                steps.append(Step(f"{key}-minimum", {f"min_{key}_ratings": least}, words))
        if self.random_users is not None:
            words = f"Random sample of {self.random_users:,} users, seed {self.seed}"
            steps.append(Step("random-users", {"random_users": self.random_users, "seed": self.seed}, words))
        if self.random_share is not None:
            words = f"Random sample of {self.random_share * 100:g}% of the users, seed {self.seed}"
            steps.append(Step("random-users", {"random_share": self.random_share, "seed": self.seed}, words))
        if self.k_core is not None:
            steps.append(Step("k-core", {"k_core": self.k_core}, f"{self.k_core:,}-core"))
        return tuple(steps)
