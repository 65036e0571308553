"""The numbers of a box, against numpy and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from charting.boxes import box_of

pytestmark = pytest.mark.unit
fifths = st.lists(st.integers(5, 25).map(lambda count: count / 5), min_size=1, max_size=60)


@given(fifths)
def test_quartiles_as_numpy_gives_them(values: list[float]) -> None:
    box = box_of(values)
    expected = np.quantile(values, [0.25, 0.5, 0.75])
    assert np.allclose([box.first_quartile, box.median, box.third_quartile], expected, rtol=0, atol=1e-12)
    assert math.isclose(box.mean, float(np.mean(values)), abs_tol=1e-12)


@given(fifths)
def test_whiskers_and_outliers_share_all_values(values: list[float]) -> None:
    box = box_of(values)
    reach = 1.5 * (box.third_quartile - box.first_quartile)
    assert box.lower <= box.first_quartile <= box.median <= box.third_quartile <= box.upper
    for outlier in box.outliers:
        assert outlier < box.first_quartile - reach or outlier > box.third_quartile + reach
    inside = [value for value in values if box.lower <= value <= box.upper]
    assert len(inside) + len(box.outliers) == len(values)


def test_whisker_ends_at_the_last_value_within_reach() -> None:
    box = box_of([1, 4, 5, 5, 6, 6, 7, 9])
    # Quartiles 4.75 and 6.25: the reach is 2.25, the fences are 2.5 and 8.5.
    assert (box.lower, box.upper, box.outliers) == (4.0, 7.0, (1.0, 9.0))


def test_value_on_the_fence_in_fifths_stays_inside() -> None:
    # Fences at exactly 1.8 and 3.4 but for binary fractions.
    box = box_of([1.8, 2.4, 2.4, 2.4, 2.6, 2.8, 2.8, 2.8, 3.4])
    assert box.outliers == ()
    assert (box.lower, box.upper) == (1.8, 3.4)


def test_single_value_is_a_box_without_height() -> None:
    box = box_of([3.4])
    assert {box.mean, box.median, box.first_quartile, box.third_quartile, box.lower, box.upper} == {3.4}
