from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.descriptive import describe

grid = st.lists(st.integers(-500, 500), min_size=2, max_size=60)


@given(grid)
def test_description_agrees_with_numpy(points: list[int]) -> None:
    values = [point / 10 for point in points]
    one = describe({"a": values})["a"]
    assert one.mean == pytest.approx(np.mean(values), abs=1e-12)
    assert one.sd == pytest.approx(np.std(values, ddof=1), rel=1e-9, abs=1e-9)
    assert (one.q1, one.median, one.q3) == pytest.approx(tuple(np.quantile(values, [0.25, 0.5, 0.75])), abs=1e-12)
    assert (one.minimum, one.maximum) == (min(values), max(values))


@given(grid)
def test_every_observation_is_within_the_whiskers_or_an_outlier(points: list[int]) -> None:
    one = describe({"a": points})["a"]
    inside = [point for point in points if one.whisker_low <= point <= one.whisker_high]
    assert sorted([*inside, *one.outliers]) == sorted(points)
    assert one.minimum <= one.whisker_low <= one.whisker_high <= one.maximum
    assert all(point < one.q1 or point > one.q3 for point in one.outliers)


def test_a_point_on_the_fence_is_no_outlier() -> None:
    # Quartiles .2 and .4; the upper fence is .4 + 1.5 * .2 = .7, which floats miss by 1e-16.
    one = describe({"a": [0.2, 0.2, 0.2, 0.4, 0.4, 0.4, 0.7]})["a"]
    assert (one.q1, one.q3) == (0.2, 0.4)
    assert one.whisker_high == 0.7
    assert one.outliers == ()


def test_outliers_are_repeated_as_often_as_they_occur() -> None:
    one = describe({"a": [1, 1, 1, 1, 1, 1, 1, 9, 9, -4]})["a"]
    assert one.outliers == (-4.0, 9.0, 9.0)
    assert (one.whisker_low, one.whisker_high) == (1.0, 1.0)


def test_one_observation_has_no_spread_and_no_interval() -> None:
    one = describe({"a": [3]})["a"]
    assert (one.n, one.mean, one.median, one.whisker_low, one.whisker_high) == (1, 3.0, 3.0, 3.0, 3.0)
    assert (one.sd, one.se, one.ci_low, one.ci_high) == (None, None, None, None)


def test_equal_values_have_an_interval_without_width() -> None:
    one = describe({"SON of TopPop": [0, 0, 0, 0]})["SON of TopPop"]
    assert (one.sd, one.ci_low, one.ci_high, one.outliers) == (0.0, 0.0, 0.0, ())


def test_an_empty_condition_is_named_not_described() -> None:
    described = describe({"a": [1, 2], "b": []})
    assert list(described) == ["a"]
    assert "b" not in described
