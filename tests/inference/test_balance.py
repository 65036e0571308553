"""Standardised differences against values computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from inference.balance import (
    LargestDifference,
    categorical_difference,
    largest_by_chance,
    largest_difference,
    numeric_difference,
)
from inference.results import Undefined

pytestmark = pytest.mark.unit


def test_of_means_against_a_value_by_hand() -> None:
    # Means 2 and 4, variances 1 and 4: 2 / sqrt(2.5).
    assert numeric_difference([1, 2, 3], [2, 4, 6]) == pytest.approx(1.2649110640673518)
    assert numeric_difference([2, 4, 6], [1, 2, 3]) == pytest.approx(1.2649110640673518)


def test_of_two_shares_against_a_value_by_hand() -> None:
    # .50 and .25: .25 / sqrt((.25 + .1875) / 2).
    assert categorical_difference([2, 2], [1, 3]) == pytest.approx(0.5345224838248488)


def test_of_three_categories_against_a_value_by_hand() -> None:
    # Without the first: T - C = (0, -.2), S = [[.21, -.09], [-.09, .20]], det S = .0339, d² = .04 * .21 / .0339.
    expected = (0.04 * 0.21 / 0.0339) ** 0.5
    assert categorical_difference([5, 3, 2], [3, 3, 4]) == pytest.approx(expected)
    # It does not matter which category is left out, nor whether one exists that nobody chose.
    assert categorical_difference([2, 5, 0, 3], [4, 3, 0, 3]) == pytest.approx(expected)


def test_limits() -> None:
    assert numeric_difference([1, 1], [1, 1]) == 0
    assert numeric_difference([1, 1], [2, 2]) is None
    assert numeric_difference([1], [1, 2]) is None
    assert categorical_difference([3, 0], [5, 0]) == 0
    assert categorical_difference([3, 0], [0, 5]) is None
    assert categorical_difference([0, 0], [0, 5]) is None
    assert categorical_difference([3, 2, 1], [3, 2, 1]) == 0


def test_the_largest_over_pairs() -> None:
    values = {"A": [1.0, 2, 3], "B": [1.0, 2, 4], "C": [2.0, 4, 6], "D": [7.0]}
    found = largest_difference(values, numeric_difference)
    assert found == LargestDifference("A", "C", pytest.approx(1.2649110640673518))  # type: ignore[arg-type]
    assert isinstance(largest_difference({"A": [1.0, 2]}, numeric_difference), Undefined)
    assert isinstance(largest_difference({"A": [1.0], "B": [2.0]}, numeric_difference), Undefined)


def apart(a: NDArray[np.float64], b: NDArray[np.float64]) -> float | None:
    """The difference of two means; None where a group has people of one kind."""
    return None if len({*a[:, 0], *b[:, 0]}) < 2 else abs(float(a.mean() - b.mean()))


def test_by_chance_is_the_95_percent_point_over_assignments_of_the_same_people() -> None:
    # One of ten people has 1: whatever the draw, the groups of five differ by .2.
    rows = np.eye(10)[:, :1]
    assert largest_by_chance(rows, [5, 5], apart, np.random.default_rng(1)) == pytest.approx(0.2)
    # Of 40 people, 20 have 1: two hypergeometric shares differ by at most .2 in 89% of draws, by at most .3 in 97%.
    rows = np.repeat([[0.0], [1.0]], 20, axis=0)
    assert largest_by_chance(rows, [20, 20], apart, np.random.default_rng(2)) == pytest.approx(0.3)
    assert largest_by_chance(np.zeros((10, 1)), [5, 5], apart, np.random.default_rng(1)) is None


def test_equal_answers_differ_by_nothing_by_chance_too() -> None:
    assert largest_by_chance(np.full(10, 0.1), [7, 3], numeric_difference, np.random.default_rng(1)) == 0
