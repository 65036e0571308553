"""What a simulated participant answers: their source user's own ratings where there are any, else a stated model.

A simulated participant stands on a user of the dataset who was reserved from every model of the run. What that
user rated is *true*: it was watched, and liked as much as the rating says. Everything else is *modelled*, from
damped means of the training side and noise, and never from a condition's model. Such answers show that a study
runs; they are no evidence about people.
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

TRUE = "true"
MODELLED = "modelled"
LOW, HIGH = 1, 5
DAMPING = 10.0  # ratings' worth of the overall mean in a user's own mean
NOISE = 0.8  # standard deviation of interest around the means, in steps of the 1..5 scale
HEARD_QUANTILE = 0.9  # an item as popular as this quantile of the catalogue is known to half of the people


@dataclass(frozen=True)
class Answer:
    """A value and where it comes from: "true" or "modelled"."""

    value: Any
    provenance: str


@dataclass(frozen=True)
class SourceUser:
    """A reserved user's whole history.

    Parameters
    ----------
    external_id : str
        The dataset's own id of the user.
    ratings : mapping of int to float
        Item index to rating on the dataset's scale.
    """

    external_id: str
    ratings: Mapping[int, float]


@dataclass(frozen=True)
class TrainingSide:
    """What the model of answers knows of the training data.

    Parameters
    ----------
    mean : float
        Mean rating, on the dataset's scale.
    item_offsets : float array, shape (n_items,)
        Damped mean of each item less `mean`, same unit; 0 for an item without ratings.
    popularity : int array, shape (n_items,)
        Number of ratings of each item.
    low, high : float
        Ends of the dataset's scale; equal for usage data, which say that an item was taken and not how it was liked.

    Raises
    ------
    ParameterError, DataError
        `low` is above `high`; arrays of unequal length.
    """

    mean: float
    item_offsets: NDArray[np.float64]
    popularity: NDArray[np.int64]
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ParameterError(f"A scale goes upward; got {self.low} to {self.high}.")
        if self.item_offsets.shape != self.popularity.shape:
            raise DataError("There has to be one offset and one count of ratings for each item.")

    @property
    def is_usage(self) -> bool:
        """Whether the data are usage data."""
        return self.low == self.high

    @cached_property
    def half_known(self) -> float:
        """Number of ratings of an item that half of the people have heard of, >= 1."""
        counts = self.popularity
        return max(1.0, float(np.quantile(counts, HEARD_QUANTILE)) if counts.size else 1.0)


def stars(rating: float, low: float, high: float) -> int:
    """A dataset's rating as whole stars: mapped to 1..5 unless the scale ends at 5, then up to the next whole.

    An item taken in usage data gets the most stars, whatever the study's threshold is.

    Parameters
    ----------
    rating, low, high : float
        The rating and the ends of its scale.

    Returns
    -------
    int
        1..5.

    Examples
    --------
    >>> stars(3.5, 0.5, 5.0), stars(0.5, 0.5, 5.0), stars(7.0, 1.0, 10.0)
    (4, 1, 4)
    """
    if low == high:
        return HIGH
    value = rating if high == HIGH and low <= LOW else LOW + (rating - low) * (HIGH - LOW) / (high - low)
    # A rating that stands on a whole step must not be lifted by the last bit of the division.
    return min(HIGH, max(LOW, math.ceil(round(value, 9))))


class SimulatedPerson:
    """Answers the questions of a study, the same ones for the same seed.

    Parameters
    ----------
    user : SourceUser
        Whose ratings are true for this person.
    training : TrainingSide
        Means and popularity, without any reserved user.
    rng : numpy.random.Generator
        A stream of this person's own.

    Examples
    --------
    >>> side = TrainingSide(3.0, np.zeros(3), np.array([9, 1, 0]), 1.0, 5.0)
    >>> person = SimulatedPerson(SourceUser("u1", {0: 4.0, 1: 2.0}), side, np.random.default_rng(1))
    >>> sorted(person.profile(2).items())
    [(0, 4), (1, 2)]
    >>> person.about_item(0)["rating"]
    Answer(value=4, provenance='true')
    """

    def __init__(self, user: SourceUser, training: TrainingSide, rng: np.random.Generator) -> None:
        self.user = user
        self.training = training
        self.rng = rng
        residuals = [
            rating - training.mean - float(training.item_offsets[item]) for item, rating in user.ratings.items()
        ]
        self.user_offset = math.fsum(residuals) / (DAMPING + len(residuals))
        self.given: list[int] = []

    def profile(self, n: int) -> dict[int, int]:
        """Choose n items of the history at random, with their stars.

        Raises
        ------
        DataError
            The history is shorter than n.
        """
        items = sorted(self.user.ratings)
        if len(items) < n:
            raise DataError(f"User {self.user.external_id} rated {len(items)} items; {n} are needed.")
        chosen = self.rng.choice(len(items), size=n, replace=False)
        return {items[i]: self._stars_of(items[i]) for i in chosen}

    def _stars_of(self, item: int) -> int:
        return stars(self.user.ratings[item], self.training.low, self.training.high)

    @property
    def rating_provenance(self) -> str:
        """Where the stars of an item of the history come from; usage data have none."""
        return MODELLED if self.training.is_usage else TRUE

    def probability_heard(self, item: int) -> float:
        """Probability of having heard of an item not watched: n / (n + h), growing with its ratings n.

        h is the number of ratings at the catalogue's 90 % quantile.
        """
        count = float(self.training.popularity[item])
        return count / (count + self.training.half_known)

    def about_item(self, item: int) -> dict[str, Answer]:
        """Answer the questions about one recommended item."""
        if item in self.user.ratings:
            rating = self._stars_of(item)
            self.given.append(rating)
            return {"watched": Answer(True, TRUE), "rating": Answer(rating, self.rating_provenance)}
        heard = bool(self.rng.random() < self.probability_heard(item))
        trailer = bool(heard and self.rng.random() < 0.5)
        rating = self._interest(item)
        self.given.append(rating)
        return {
            "watched": Answer(False, MODELLED),
            "heard": Answer(heard, MODELLED),
            "trailer_seen": Answer(trailer, MODELLED),
            "rating": Answer(rating, MODELLED),
        }

    def _interest(self, item: int) -> int:
        side = self.training
        if side.is_usage:  # which say nothing about how much an item is liked
            return int(np.clip(np.rint((LOW + HIGH) / 2 + self.rng.normal(0.0, NOISE)), LOW, HIGH))
        expected = side.mean + float(side.item_offsets[item]) + self.user_offset
        on_stars = (
            LOW + (expected - side.low) * (HIGH - LOW) / (side.high - side.low) if side.high != HIGH else expected
        )
        return int(np.clip(np.rint(on_stars + self.rng.normal(0.0, NOISE)), LOW, HIGH))

    def satisfaction(self) -> Answer:
        """Judge the whole list: the mean of the ratings given, with noise.

        Raises
        ------
        DataError
            No item was answered about yet.
        """
        if not self.given:
            raise DataError("Satisfaction is asked after the items.")
        felt = math.fsum(self.given) / len(self.given) + self.rng.normal(0.0, NOISE / 2)
        return Answer(int(np.clip(np.rint(felt), LOW, HIGH)), MODELLED)

    def opinion(self, points: int, rng: np.random.Generator, *, name: str = "", is_negative: bool = False) -> Answer:
        """Agree with a statement about the list: as much as the ratings given say, with noise.

        Parameters
        ----------
        points : int
            Points of the scale, >= 2.
        rng : numpy.random.Generator
            For the noise; not the person's own stream, which goes on where it was after a break.
        name : str
            What the statement is called in exports; nothing here depends on it.
        is_negative : bool
            Whether the statement finds fault.

        Returns
        -------
        Answer
            1 to `points`.

        Raises
        ------
        ParameterError
            Fewer than two points.
        """
        if points < 2:
            raise ParameterError(f"A scale has at least two points; got {points}.")
        felt = math.fsum(self.given) / len(self.given) if self.given else (LOW + HIGH) / 2
        share = (felt + rng.normal(0.0, NOISE) - LOW) / (HIGH - LOW)
        agreed = 1 - share if is_negative else share
        return Answer(int(np.clip(1 + np.rint(agreed * (points - 1)), 1, points)), MODELLED)


def demographics(number: int, rng: np.random.Generator, *, low_age: int, high_age: int) -> dict[str, Any]:
    """Gender and age of simulated person `number`: women and men, younger and older in turn, so almost evenly.

    Parameters
    ----------
    number : int
        Running number of the person, from 0.
    rng : numpy.random.Generator
        A stream of this person's own.
    low_age, high_age : int
        The ages admitted, in years.

    Returns
    -------
    dict
        ``{"gender": "woman" or "man", "age": years}``; both modelled.

    Examples
    --------
    >>> demographics(3, np.random.default_rng(1), low_age=20, high_age=20)
    {'gender': 'man', 'age': 20}
    """
    middle = (low_age + high_age) // 2
    younger = (number // 2) % 2 == 0 or middle + 1 > high_age
    ages = (low_age, middle) if younger else (middle + 1, high_age)
    return {"gender": "woman" if number % 2 == 0 else "man", "age": int(rng.integers(ages[0], ages[1] + 1))}
