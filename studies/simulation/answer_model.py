"""Answers of simulated participants: their source user's own ratings where available, otherwise an explicit model.

A simulated participant uses the ratings of a dataset user who was reserved from every model of the run. Items that
this user rated are *true*: they count as watched and liked as rated. All other answers are *modelled* from damped
means of the training data plus noise, never from a condition's model. Such answers show that a study works; they are
not evidence about people.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError, ParameterError
from recommenders.scale import Scale
from studies.known_items import FIVE_STARS, ElicitationScale

TRUE = "true"
MODELLED = "modelled"
LOW, HIGH = 1, 5
DAMPING = 10.0  # pseudo-ratings at the overall mean in a user's mean
NOISE = 0.8  # standard deviation of interest around the means, in steps of the 1..5 scale
HEARD_QUANTILE = 0.9  # half of the people know an item at this popularity quantile


@dataclass(frozen=True)
class Answer:
    """A value with its provenance: "true" or "modelled"."""

    value: Any
    provenance: str


@dataclass(frozen=True)
class SourceUser:
    """A reserved user's complete rating history."""

    external_id: str  # the user's id in the dataset
    ratings: Mapping[int, float]  # item index to rating on the dataset's scale


@dataclass(frozen=True)
class TrainingSide:
    """Summary of the training data for the answer model.

    Raises ParameterError or DataError when `low` is above `high`, or the arrays differ in length.
    """

    mean: float  # mean rating, on the dataset's scale
    item_offsets: NDArray[np.float64]  # damped mean of each item minus `mean`, same unit; 0 without ratings
    popularity: NDArray[np.int64]  # number of ratings of each item
    # `low`, `high`: ends of the dataset's scale; equal for usage data, which record use but not liking
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ParameterError(f"A scale goes upward; got {self.low} to {self.high}.")
        if self.item_offsets.shape != self.popularity.shape:
            raise DataError("There has to be one offset and one count of ratings for each item.")

    @property
    def is_usage(self) -> bool:
        return self.low == self.high

    @property
    def scale(self) -> Scale:
        """The dataset's scale, of which the model needs only the ends."""
        return Scale(self.low, self.high, self.high - self.low or 1.0)

    @cached_property
    def half_known(self) -> float:
        """Number of ratings at which half of the people have heard of an item, >= 1."""
        counts = self.popularity
        return max(1.0, float(np.quantile(counts, HEARD_QUANTILE)) if counts.size else 1.0)


class SimulatedPerson:
    """Answers the questions of a study, reproducibly for a given seed.

    The ratings of `user` are true for this person. The means and popularity of `training` are computed without reserved
    users. `rng` is the person's own random stream. A rating of the history is answered once, by the nearest point of
    the scale that is asked: `elicitation` for known items, 1 to 5 for recommended ones.

    Examples
    --------
    >>> side = TrainingSide(3.0, np.zeros(3), np.array([9, 1, 0]), 1.0, 5.0)
    >>> person = SimulatedPerson(SourceUser("u1", {0: 4.0, 1: 2.0}), side, np.random.default_rng(1))
    >>> sorted(person.profile(2).items())
    [(0, 4), (1, 2)]
    >>> person.about_item(0)["rating"]
    Answer(value=4, provenance='true')
    """

    def __init__(
        self,
        user: SourceUser,
        training: TrainingSide,
        rng: np.random.Generator,
        *,
        elicitation: ElicitationScale = FIVE_STARS,
    ) -> None:
        self.user = user
        self.training = training
        self.rng = rng
        self.elicitation = elicitation
        residuals = [
            rating - training.mean - float(training.item_offsets[item]) for item, rating in user.ratings.items()
        ]
        self.user_offset = math.fsum(residuals) / (DAMPING + len(residuals))
        self.item_ratings: list[int] = []

    def profile(self, fewest: int, most: int | None = None) -> dict[int, int]:
        """Choose random items of the history and return the numbers of their points on the elicitation scale.

        Where the study leaves it to participants how many, any number from `fewest` to `most` that the history has is
        equally likely. Raises DataError when the history has fewer than `fewest` items.
        """
        items = sorted(self.user.ratings)
        if len(items) < fewest:
            raise DataError(f"User {self.user.external_id} rated {len(items)} items; {fewest} are needed.")
        largest = min(most or fewest, len(items))
        n = fewest if largest == fewest else int(self.rng.integers(fewest, largest + 1))
        chosen = self.rng.choice(len(items), size=n, replace=False)
        return {items[i]: self._point_of(items[i], self.elicitation) for i in chosen}

    def _point_of(self, item: int, on: ElicitationScale) -> int:
        return on.nearest_point(self.user.ratings[item], self.training.scale)

    @property
    def rating_provenance(self) -> str:
        """Provenance of ratings from the history; usage data have no ratings."""
        return MODELLED if self.training.is_usage else TRUE

    def probability_heard(self, item: int) -> float:
        """Probability of having heard of an unwatched item with n ratings: n / (n + h).

        h is the number of ratings at the catalogue's 90% quantile.
        """
        count = float(self.training.popularity[item])
        return count / (count + self.training.half_known)

    def about_item(self, item: int) -> dict[str, Answer]:
        if item in self.user.ratings:
            rating = self._point_of(item, FIVE_STARS)
            self.item_ratings.append(rating)
            return {"watched": Answer(True, TRUE), "rating": Answer(rating, self.rating_provenance)}
        heard = bool(self.rng.random() < self.probability_heard(item))
        trailer = bool(heard and self.rng.random() < 0.5)
        rating = self._interest(item)
        self.item_ratings.append(rating)
        return {
            "watched": Answer(False, MODELLED),
            "heard": Answer(heard, MODELLED),
            "trailer_seen": Answer(trailer, MODELLED),
            "rating": Answer(rating, MODELLED),
        }

    def _interest(self, item: int) -> int:
        side = self.training
        if side.is_usage:  # no information about liking
            return int(np.clip(np.rint((LOW + HIGH) / 2 + self.rng.normal(0.0, NOISE)), LOW, HIGH))
        expected = side.mean + float(side.item_offsets[item]) + self.user_offset
        on_stars = (
            LOW + (expected - side.low) * (HIGH - LOW) / (side.high - side.low) if side.high != HIGH else expected
        )
        return int(np.clip(np.rint(on_stars + self.rng.normal(0.0, NOISE)), LOW, HIGH))

    def satisfaction(self) -> Answer:
        """Rate the whole list: the mean of the item ratings, with noise.

        Raises DataError when no item has been rated yet.
        """
        if not self.item_ratings:
            raise DataError("Satisfaction is asked after the items.")
        felt = math.fsum(self.item_ratings) / len(self.item_ratings) + self.rng.normal(0.0, NOISE / 2)
        return Answer(int(np.clip(np.rint(felt), LOW, HIGH)), MODELLED)

    def opinion(self, points: int, rng: np.random.Generator, *, name: str = "", is_negative: bool = False) -> Answer:
        """Agree with a statement about the list in proportion to the item ratings, with noise.

        The answer is from 1 to `points`. `rng` is for the noise, separate from the person's own stream, which must
        resume unchanged after an interruption. `is_negative`: agreement expresses criticism. `name` is not used here.
        Raises ParameterError for fewer than two points.
        """
        if points < 2:
            raise ParameterError(f"A scale has at least two points; got {points}.")
        felt = math.fsum(self.item_ratings) / len(self.item_ratings) if self.item_ratings else (LOW + HIGH) / 2
        share = (felt + rng.normal(0.0, NOISE) - LOW) / (HIGH - LOW)
        agreed = 1 - share if is_negative else share
        return Answer(int(np.clip(1 + np.rint(agreed * (points - 1)), 1, points)), MODELLED)


def demographics(number: int, rng: np.random.Generator, *, low_age: int, high_age: int) -> dict[str, Any]:
    """Return gender and age of simulated person `number`, alternating to keep groups almost equal in size.

    Persons are numbered from 0. Both answers are modelled.

    Examples
    --------
    >>> demographics(3, np.random.default_rng(1), low_age=20, high_age=20)
    {'gender': 'man', 'age': 20}
    """
    middle = (low_age + high_age) // 2
    younger = (number // 2) % 2 == 0 or middle + 1 > high_age
    ages = (low_age, middle) if younger else (middle + 1, high_age)
    return {"gender": "woman" if number % 2 == 0 else "man", "age": int(rng.integers(ages[0], ages[1] + 1))}
