from __future__ import annotations

import numpy as np
import pytest

from core.errors import DataError
from recommenders.data import Scale

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("low", "high", "step", "complaint"),
    [
        (0, 5, 1, "0 < low <= high"),
        (-1, 5, 1, "0 < low <= high"),
        (5, 1, 1, "0 < low <= high"),
        (1, 5, -1, "step of at least 0"),
        (1, 5, 3, "whole number of steps of 3"),
        (1, float("nan"), 1, "finite"),
    ],
)
def test_scale_that_is_none_is_refused(low, high, step, complaint):
    with pytest.raises(DataError, match=complaint):
        Scale(low, high, step)


def test_a_scale_without_steps_has_every_value_between_its_ends():
    scale = Scale(1, 5, 0)
    assert scale.holds([1.0, 3.14159, 5.0, 0.99, 5.1, np.nan]).tolist() == [True, True, True, False, False, False]
    assert scale.nearest([0.2, 3.14159, 9.0]).tolist() == [1.0, 3.14159, 5.0]
    assert scale.convert([1.0, 3.0, 5.0], Scale(0.5, 5, 0.5)).tolist() == [0.5, 2.75, 5.0]
    assert scale.words().endswith("without steps")


def test_conversion_maps_ends_to_ends_and_back():
    stars, points = Scale(0.5, 5, 0.5), Scale(1, 10, 1)
    np.testing.assert_allclose(stars.convert([0.5, 2.75, 5.0], points), [1.0, 5.5, 10.0])
    values = np.array([0.5, 1.5, 4.0])
    np.testing.assert_allclose(points.convert(stars.convert(values, points), stars), values)


def test_conversion_to_itself_keeps_every_bit():
    values = np.array([0.1 + 0.2, 4.7])
    assert Scale(0.1, 5, 0.1).convert(values, Scale(0.1, 5, 0.1)).tolist() == values.tolist()


@pytest.mark.parametrize(("first", "second"), [((1, 1), (1, 5)), ((1, 5), (1, 1))])
def test_conversion_with_a_scale_of_one_point_is_refused(first, second):
    with pytest.raises(DataError, match="single point"):
        Scale(*first, 1).convert([1.0], Scale(*second, 1))


def test_nearest_points_are_on_the_scale_and_halfway_the_higher():
    halves = Scale(0.5, 5, 0.5)
    assert halves.nearest([0.1, 0.74, 0.75, 3.3, 5.2]).tolist() == [0.5, 0.5, 1.0, 3.5, 5.0]
    assert Scale(1, 5, 1).nearest(1 + 0.1 + 0.2 + 0.2).tolist() == 2
    assert halves.holds(halves.nearest(np.linspace(0, 6, 100))).all()


def test_points_of_the_scale_are_told_from_values_between_and_outside():
    scale = Scale(0.5, 5, 0.5)
    values = np.array([0.5, 0.6, 5.0, 5.5, 0.0, np.nan, np.inf])
    assert scale.holds(values).tolist() == [True, False, True, False, False, False, False]
    assert scale.covers(values).tolist() == [True, True, True, False, False, False, False]


def test_float32_points_of_a_decimal_scale_are_held():
    scale = Scale(0.1, 10, 0.1)
    points = np.linspace(0.1, 10, 100).astype(np.float32)
    assert scale.holds(points).all()
    np.testing.assert_array_equal(np.rint(scale.codes(points)), np.arange(100))


def test_middle_lies_halfway():
    assert Scale(1, 5, 1).middle == 3
    assert Scale(1, 1, 1).middle == 1


def test_many_values_are_looked_at_a_part_at_a_time(monkeypatch):
    scale = Scale(0.5, 5.0, 0.5)
    values = np.array([0.5, 0.6, 5.0, 5.5, np.nan, 3.0, 2.25])
    whole = scale.holds(values)
    monkeypatch.setattr("recommenders.scale.VALUES_AT_A_TIME", 3)
    assert scale.holds(values).tolist() == whole.tolist() == [True, False, True, False, False, True, False]
