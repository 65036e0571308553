"""Known items that participants tell about: how many, and on which scale they rate them.

A rating is stored as the number of its point on the study's elicitation scale, counted from 1. On a scale that starts
at 1 and has whole steps that is the rating itself. Models get the point's value, which one linear map takes from the
elicitation scale to the scale of the dataset, end point to end point (`recommenders.scale.Scale.convert`), for people
and for simulated participants alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from recommenders.scale import Scale

MOST_ASKED = 50


@dataclass(frozen=True, slots=True)
class ElicitationScale:
    """A scale on which participants rate known items; its points are numbered from 1.

    Examples
    --------
    >>> HALF_STARS.n_points, HALF_STARS.value(7), TEN_POINTS.value(7)
    (10, 3.5, 7)
    """

    key: str
    scale: Scale
    unit: str  # of a threshold, in English: "stars" or "points"

    @property
    def n_points(self) -> int:
        return round((self.scale.high - self.scale.low) / self.scale.step) + 1

    @property
    def points(self) -> range:
        return range(1, self.n_points + 1)

    @property
    def is_binary(self) -> bool:
        """Whether there are only two answers: dislike and like."""
        return self.n_points == 2

    @property
    def is_whole(self) -> bool:
        return self.scale.low.is_integer() and self.scale.step.is_integer()

    def value(self, point: int) -> float:
        """The rating at the point of that number; an int on scales of whole numbers."""
        value = self.scale.low + (point - 1) * self.scale.step
        return int(value) if self.is_whole else value

    def nearest_point(self, rating: float, of: Scale) -> int:
        """The number of the point nearest to a rating on another scale, mapped linearly to this one.

        Halfway between two points it is the higher. Items of usage data, a scale of a single point, have the highest.

        Examples
        --------
        >>> half_steps = Scale(0.5, 5, 0.5)
        >>> [scale.nearest_point(3.5, half_steps) for scale in SCALES.values()]
        [4, 5, 7, 7, 2]
        >>> TEN_POINTS.nearest_point(1.0, Scale(1, 1, 1))
        10
        """
        if of.low == of.high:
            return self.n_points
        return int(self.scale.codes(self.scale.nearest(of.convert(rating, self.scale))).round()) + 1


FIVE_STARS = ElicitationScale("5-stars", Scale(1, 5, 1), "stars")
SEVEN_POINTS = ElicitationScale("7-points", Scale(1, 7, 1), "points")
TEN_POINTS = ElicitationScale("10-points", Scale(1, 10, 1), "points")
HALF_STARS = ElicitationScale("half-stars", Scale(0.5, 5, 0.5), "stars")
LIKES = ElicitationScale("likes", Scale(1, 2, 1), "points")  # dislike or like
SCALES = {scale.key: scale for scale in (FIVE_STARS, SEVEN_POINTS, TEN_POINTS, HALF_STARS, LIKES)}


def proposed_scale(dataset: Scale) -> ElicitationScale | None:
    """The scale that a new study proposes because its dataset is on it: 1 to 7 or 1 to 10; None for five stars.

    Examples
    --------
    >>> proposed_scale(Scale(1, 10, 1)).key, proposed_scale(Scale(0.5, 5, 0.5))
    ('10-points', None)
    """
    return next((each for each in (SEVEN_POINTS, TEN_POINTS) if each.scale == dataset), None)


def scale_rule(scale: ElicitationScale) -> str:
    """How ratings become a profile on a dataset with ratings, for the method section, codebook and preregistration.

    Examples
    --------
    >>> scale_rule(HALF_STARS)
    'Known items are rated from 0.5 to 5 in steps of 0.5; ratings enter the profile by the linear map of this scale to the scale of the dataset, end point to end point.'
    """  # noqa: E501 (a sentence as it is printed)
    meaning = " (1 dislike, 2 like)" if scale.is_binary else ""
    return (
        f"Known items are rated {scale.scale.words()}{meaning}; ratings enter the profile by the linear "
        "map of this scale to the scale of the dataset, end point to end point."
    )


@dataclass(frozen=True, slots=True)
class ItemsAsked:
    """How many known items a participant rates or chooses: at least `fewest`, at most `most`.

    Examples
    --------
    >>> str(ItemsAsked(5, 5)), str(ItemsAsked(5, 15)), 15 in ItemsAsked(5, 15)
    ('5', '5 to 15', True)
    """

    fewest: int
    most: int

    @property
    def is_range(self) -> bool:
        return self.fewest < self.most

    def __contains__(self, n: int) -> bool:
        return self.fewest <= n <= self.most

    def __str__(self) -> str:
        return f"{self.fewest} to {self.most}" if self.is_range else str(self.fewest)
