"""Elicitation scales: their points, and the one map to and from the scale of a dataset."""

from __future__ import annotations

import numpy as np
import pytest

from recommenders.scale import Scale
from studies.known_items import FIVE_STARS, HALF_STARS, LIKES, SCALES, SEVEN_POINTS, TEN_POINTS, ItemsAsked
from studies.settings import StudySettings

pytestmark = pytest.mark.unit

HALVES = Scale(0.5, 5, 0.5)


@pytest.mark.parametrize(
    ("elicitation", "values"),
    [
        (FIVE_STARS, [1, 2, 3, 4, 5]),
        (SEVEN_POINTS, [1, 2, 3, 4, 5, 6, 7]),
        (TEN_POINTS, list(range(1, 11))),
        (HALF_STARS, [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]),
        (LIKES, [1, 2]),
    ],
)
def test_points_are_numbered_from_one_and_whole_scales_have_whole_values(elicitation, values):
    assert [elicitation.value(point) for point in elicitation.points] == values
    assert all(isinstance(elicitation.value(point), int) for point in elicitation.points) == elicitation.is_whole


@pytest.mark.parametrize(
    ("rating", "of", "on", "point"),
    [(0.5, HALVES, FIVE_STARS, 1), (1.0, HALVES, FIVE_STARS, 1), (1.5, HALVES, FIVE_STARS, 2),
     (3.5, HALVES, FIVE_STARS, 4), (4.5, HALVES, FIVE_STARS, 5), (5.0, HALVES, FIVE_STARS, 5),
     (3.5, HALVES, HALF_STARS, 7), (4.0, Scale(1, 10, 1), FIVE_STARS, 2), (2.0, Scale(1, 5, 1), SEVEN_POINTS, 3),
     (4.0, Scale(1, 5, 1), SEVEN_POINTS, 6), (1.0, Scale(1, 1, 1), TEN_POINTS, 10),
     (3.0, Scale(1, 5, 1), LIKES, 2), (2.9, Scale(1, 5, 1), LIKES, 1)],
)  # fmt: skip
def test_an_answer_is_the_nearest_point_after_the_map_and_halfway_the_higher(rating, of, on, point):
    assert on.nearest_point(rating, of) == point


@pytest.mark.parametrize("elicitation", SCALES.values())
def test_ends_map_to_ends_and_every_point_to_itself(elicitation):
    dataset = Scale(1, 5, 1)
    mapped = elicitation.scale.convert([elicitation.value(1), elicitation.value(elicitation.n_points)], dataset)
    np.testing.assert_allclose(mapped, [1, 5])
    through = [float(elicitation.scale.convert(elicitation.value(point), dataset)) for point in elicitation.points]
    assert [elicitation.nearest_point(value, dataset) for value in through] == list(elicitation.points)


def test_without_a_maximum_exactly_so_many_are_asked_for():
    assert StudySettings(ratings_asked=5).items_asked == ItemsAsked(5, 5)
    asked = StudySettings(ratings_asked=5, ratings_most=8).items_asked
    assert [n for n in range(12) if n in asked] == [5, 6, 7, 8]
