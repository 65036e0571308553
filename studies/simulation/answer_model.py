"""Answers of simulated participants: their source user's own ratings where available, otherwise an explicit model.

A simulated participant uses the ratings of a dataset user who was reserved from every model of the run. Items that
this user rated are *true*: they count as watched and liked as rated. All other answers are *modelled* from damped
means of the training data plus noise, never from a condition's model. Such answers show that a study works; they are
not evidence about people.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError, ParameterError
from recommenders.scale import Scale
from studies.flow_pages import NONE
from studies.instrument.scales import ScaleOfStudy
from studies.known_items import FIVE_STARS, ElicitationScale
from studies.settings import SCALE_PREFIX

TRUE = "true"
MODELLED = "modelled"
LOW, HIGH = 1, 5
DAMPING = 10.0  # pseudo-ratings at the overall mean in a user's mean
NOISE = 0.8  # standard deviation of interest around the means, in steps of the 1..5 scale
ROUNDING = 1e-9  # of a step: tolerance for floating-point error in summed shifts
PREFERENCES = (0.2, 0.8)  # least differences of mean interest in two lists for a slight and a clear preference
LEAST_INTEREST = 2.5  # no item of a list is picked where interest in all of them is lower
HEARD_QUANTILE = 0.9  # half of the people know an item at this popularity quantile
# Shifts by variable, of the mean rating, of satisfaction, of the share of items not watched, of that of items neither
# watched nor heard of, and of the score of a scale (``scale.KEY``), each in its own points; none is 0.
Effect = Mapping[str, float]


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


class _ScaleShift:
    """The shift of one scale in one person, spread over its questions in answering order."""

    def __init__(self, scale: ScaleOfStudy, shift: float) -> None:
        self._range = float(scale.maximum - scale.minimum)
        self._shift = shift
        self._due = 0.0  # outstanding points from questions answered so far

    def moved(self, value: int, points: int, draw: float, *, is_reversed: bool) -> int:
        """Return the shifted answer, 1 to `points`; a shift beyond the range is carried over to the next question."""
        step = self._range / (points - 1)
        self._due += self._shift
        steps = math.floor(self._due / step + draw + ROUNDING)
        after = min(points, max(1, value + (-steps if is_reversed else steps)))
        self._due -= (value - after if is_reversed else after - value) * step
        return after


class SimulatedPerson:
    """Answers the questions of a study, reproducibly for a given seed.

    The ratings of `user` are true for this person. The means and popularity of `training` are computed without reserved
    users. `rng` is the person's own random stream. A rating of the history is answered once, by the nearest point of
    the scale that is asked: `elicitation` for known items, 1 to 5 for recommended ones.

    The `effect` of the person's condition shifts the answers about a list of `list_length` items and about `scales`. It
    uses the random stream `effect_rng` of its own, so all other answers are those that the person gives without an
    effect. Answers changed by an effect are modelled, no longer true. `later` has effect and length of each list that
    follows (`turn_to`); those after them are as the last. `interest_shifts` has, for each occasion, the shifts of mean
    interest in lists side by side. An item is felt about alike in every list that has it.

    The mean score of a scale over people shifts by exactly the planted amount as long as answers stay within their
    range; in one person the sum over the questions is within one step of the planted total. A question at the end of
    its range passes its part on to the next question of the scale, also across items. A remainder after the last
    question is lost, so shifts never exceed the planted amount. Reversed questions shift in the opposite direction. Of
    conditional questions, only those asked shift.

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
        effect: Effect | None = None,
        list_length: int = 1,
        effect_rng: np.random.Generator | None = None,
        scales: Sequence[ScaleOfStudy] = (),
        later: Sequence[tuple[Effect, int]] = (),
        interest_shifts: Sequence[Sequence[float]] = ((0.0, 0.0),),
    ) -> None:
        self.user = user
        self.training = training
        self.rng = rng
        self.elicitation = elicitation
        residuals = [
            rating - training.mean - float(training.item_offsets[item]) for item, rating in user.ratings.items()
        ]
        self.user_offset = math.fsum(residuals) / (DAMPING + len(residuals))
        self.interest_shifts = interest_shifts
        self._felt: dict[int, dict[str, Answer]] = {}  # answers without the effect, by item
        self._effect_rng = effect_rng or np.random.default_rng(0)
        self._scales, self._lists = scales, [(effect or {}, list_length), *later]
        self._occasion = 0
        self.turn_to(1)

    def turn_to(self, occasion: int) -> None:
        """Turn to the list of an occasion, from 1; to one that was met before, nothing changes."""
        while self._occasion < occasion:
            self._occasion += 1
            self._begin_list(*self._lists[min(self._occasion, len(self._lists)) - 1])

    def _begin_list(self, planted: Effect, list_length: int) -> None:
        self.item_ratings: list[int] = []  # as felt, without the effect

        def whole(name: str, n_answers: int, draw: float) -> int:
            return math.floor(planted.get(name, 0.0) * n_answers + draw)

        draws = self._effect_rng.random(4)
        self._steps = whole("accuracy", list_length, draws[0])
        self._satisfied = whole("satisfaction", 1, draws[1])
        self._newer = whole("fon", list_length, draws[2])
        self._unheard = whole("son", list_length, draws[3])
        self._items_left = list_length
        self._scale_shifts = {
            member.name: shift
            for scale in self._scales
            if SCALE_PREFIX + scale.key in planted
            for shift in (_ScaleShift(scale, planted[SCALE_PREFIX + scale.key]),)
            for member in scale.members
        }

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

    def interest(self, item: int) -> float:
        """Latent interest in an item, from 1 to 5 and without the effect: as rated, or as expected before that."""
        if item in self._felt:
            return float(self._felt[item]["rating"].value)
        if item in self.user.ratings:
            return self._point_of(item, FIVE_STARS)
        return min(HIGH, max(LOW, self._expected(item)))

    def choose(self, items: Sequence[int], rng: np.random.Generator) -> Answer:
        """Pick one of a list's items, each with a probability proportional to exp(interest).

        The answer is its rank, from 1, or "none" where interest in all of them is low. `rng` is as for `opinion`.
        """
        interests = np.array([self.interest(item) for item in items])
        if interests.max() < LEAST_INTEREST:
            return Answer(NONE, MODELLED)
        weights = np.exp(interests)
        return Answer(int(rng.choice(len(items), p=weights / weights.sum())) + 1, MODELLED)

    def prefer(self, left: Sequence[int], right: Sequence[int], rng: np.random.Generator) -> Answer:
        """Prefer one of two lists by the difference of mean interest in their items, from -2 to 2.

        What is planted in perceived accuracy adds to the interest in a condition's list. `rng` is as for `opinion`.
        """
        shifts = self.interest_shifts[min(self._occasion, len(self.interest_shifts)) - 1]
        means = [np.mean([self.interest(item) for item in items]) for items in (left, right)]
        difference = means[1] - means[0] + shifts[1] - shifts[0] + rng.normal(0.0, NOISE)
        strength = sum(abs(difference) >= least for least in PREFERENCES)
        return Answer(int(np.sign(difference)) * strength, MODELLED)

    def about_item(self, item: int) -> dict[str, Answer]:
        if item not in self._felt:
            self._felt[item] = self._felt_about(item)
        felt = self._felt[item]
        self.item_ratings.append(felt["rating"].value)
        answers = self._shift_rating(self._shift_son(self._shift_fon(felt)))
        self._items_left = max(1, self._items_left - 1)
        return answers

    def _felt_about(self, item: int) -> dict[str, Answer]:
        if item in self.user.ratings:
            rating = self._point_of(item, FIVE_STARS)
            return {"watched": Answer(True, TRUE), "rating": Answer(rating, self.rating_provenance)}
        heard = bool(self.rng.random() < self.probability_heard(item))
        trailer = bool(heard and self.rng.random() < 0.5)
        rating = int(np.clip(np.rint(self._expected(item) + self.rng.normal(0.0, NOISE)), LOW, HIGH))
        return {
            "watched": Answer(False, MODELLED),
            "heard": Answer(heard, MODELLED),
            "trailer_seen": Answer(trailer, MODELLED),
            "rating": Answer(rating, MODELLED),
        }

    def _expected(self, item: int) -> float:
        """Mean interest in an item that the history does not have, on the scale from 1 to 5 but not limited to it."""
        side = self.training
        if side.is_usage:  # no information about liking
            return (LOW + HIGH) / 2
        expected = side.mean + float(side.item_offsets[item]) + self.user_offset
        return LOW + (expected - side.low) * (HIGH - LOW) / (side.high - side.low) if side.high != HIGH else expected

    def _shift_fon(self, answers: dict[str, Answer]) -> dict[str, Answer]:
        if self._newer > 0 and answers["watched"].value:
            self._newer -= 1
            return {
                "watched": Answer(False, MODELLED),
                "heard": Answer(True, MODELLED),
                "trailer_seen": Answer(False, MODELLED),
                "rating": Answer(answers["rating"].value, MODELLED),
            }
        if self._newer < 0 and not answers["watched"].value:
            self._newer += 1
            self._unheard += not answers["heard"].value  # compensated by another item
            return {"watched": Answer(True, MODELLED), "rating": answers["rating"]}
        return answers

    def _shift_son(self, answers: dict[str, Answer]) -> dict[str, Answer]:
        if answers["watched"].value:
            return answers
        if self._unheard > 0 and answers["heard"].value:
            self._unheard -= 1
            return {**answers, "heard": Answer(False, MODELLED), "trailer_seen": Answer(False, MODELLED)}
        if self._unheard < 0 and not answers["heard"].value:
            self._unheard += 1
            return {**answers, "heard": Answer(True, MODELLED)}
        return answers

    def _shift_rating(self, answers: dict[str, Answer]) -> dict[str, Answer]:
        part = self._steps / self._items_left
        step = math.ceil(part) if part > 0 else math.floor(part)
        before = answers["rating"].value
        after = min(HIGH, max(LOW, before + step))
        self._steps -= after - before
        return {**answers, "rating": Answer(after, MODELLED)} if after != before else answers

    def satisfaction(self) -> Answer:
        """Rate the whole list: the mean of the item ratings, with noise.

        Raises DataError when no item has been rated yet.
        """
        if not self.item_ratings:
            raise DataError("Satisfaction is asked after the items.")
        felt = math.fsum(self.item_ratings) / len(self.item_ratings) + self.rng.normal(0.0, NOISE / 2)
        return Answer(min(HIGH, max(LOW, int(np.clip(np.rint(felt), LOW, HIGH)) + self._satisfied)), MODELLED)

    def opinion(self, points: int, rng: np.random.Generator, *, name: str = "", is_negative: bool = False) -> Answer:
        """Agree with a statement about the list in proportion to the item ratings, with noise.

        The answer is from 1 to `points`. `rng` is for the noise, separate from the person's own stream, which must
        resume unchanged after an interruption. `is_negative`: agreement expresses criticism. `name` is the question's.
        Raises ParameterError for fewer than two points.
        """
        if points < 2:
            raise ParameterError(f"A scale has at least two points; got {points}.")
        felt = math.fsum(self.item_ratings) / len(self.item_ratings) if self.item_ratings else (LOW + HIGH) / 2
        share = (felt + rng.normal(0.0, NOISE) - LOW) / (HIGH - LOW)
        agreed = 1 - share if is_negative else share
        value = int(np.clip(1 + np.rint(agreed * (points - 1)), 1, points))
        if (shift := self._scale_shifts.get(name)) is not None:
            value = shift.moved(value, points, float(self._effect_rng.random()), is_reversed=is_negative)
        return Answer(value, MODELLED)


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
