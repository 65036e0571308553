"""Intervals by resampling whole users."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import DataError
from inference.bootstrap import mean_interval, percentile_intervals, pooled_interval, user_means
from inference.results import Undefined

pytestmark = pytest.mark.unit
nan = float("nan")


def ratio(sums):
    return np.where(sums[:, 1] > 0, sums[:, 0] / np.maximum(sums[:, 1], 1), np.nan)


def test_interval_of_a_mean_is_that_of_the_resampled_means():
    values = np.random.default_rng(4).random(50)
    found = mean_interval([*values, nan], 500, np.random.default_rng(9))
    means = user_means(values[:, None], 500, np.random.default_rng(9))
    (expected,) = percentile_intervals(means)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.value == pytest.approx(values.mean())
    assert found.n_users == 50
    assert found.low < found.value < found.high


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(200):
        cases = rng.integers(1, 6, 60)
        hits = rng.binomial(cases, 0.3)
        found = pooled_interval(np.column_stack([hits, cases]), ratio, 300, rng)
        covered += found.low <= 0.3 <= found.high
    assert 175 <= covered <= 199


def test_resamples_without_a_value_are_left_out():
    found = pooled_interval([[1, 1], [0, 0], [0, 0]], ratio, 200, np.random.default_rng(1))
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


def test_there_may_be_nothing_to_resample():
    rng = np.random.default_rng(1)
    assert isinstance(mean_interval([nan, nan], 10, rng), Undefined)
    assert isinstance(pooled_interval([[0, 0]], ratio, 10, rng), Undefined)
    with pytest.raises(DataError, match="not finite"):
        pooled_interval([[1.0, nan]], ratio, 10, rng)
