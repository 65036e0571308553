"""A metric over repetitions: against a plain regression with clusters, and coverage in simulated runs."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from core.errors import DataError
from inference import repeats as module
from inference.repeats import RepeatedRatios, repeated_ratios
from inference.results import Undefined

pytestmark = pytest.mark.unit
Floats = NDArray[np.float64]


def test_examples_run() -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def ratios(hits: Floats, cases: Floats) -> RepeatedRatios:
    found = repeated_ratios(hits, cases)
    assert isinstance(found, RepeatedRatios)
    return found


def simulated(rng: np.random.Generator, shape: tuple[int, int, int], sd_repeat: float) -> tuple[Floats, Floats]:
    """Hits of two cases: users differ in both algorithms and in each, repetitions differ in each algorithm."""
    n_repeats, n_users, k = shape
    user = rng.normal(0, 0.7, (n_users, 1)) + rng.normal(0, 0.35, (n_users, k))
    logit = user + rng.normal(0, sd_repeat, (n_repeats, 1, k)) - 0.5
    return rng.binomial(2, 1 / (1 + np.exp(-logit))).astype(float), np.full((n_repeats, n_users), 2.0)


def test_values_are_pooled_and_variances_are_sums_over_clusters() -> None:
    rng = np.random.default_rng(1)
    cases = rng.integers(0, 4, (3, 20)).astype(float)
    cases[:, 7] = 0  # a user without a case
    hits = rng.binomial(cases.astype(int)[:, :, None], [0.3, 0.6]).astype(float)
    found = ratios(hits, cases)
    assert found.n_users == 19
    assert found.values == pytest.approx([hits[..., j].sum() / cases.sum() for j in range(2)])
    assert found.by_repetition == pytest.approx(np.array([hits[r].sum(axis=0) / cases[r].sum() for r in range(3)]))
    # Differences of the algorithms, cell by cell, as in a regression on a constant with weights.
    cells = (hits[..., 0] - hits[..., 1] - (found.values[0] - found.values[1]) * cases) / cases.sum()
    by_user = 19 / 18 * sum(cells[:, u].sum() ** 2 for u in range(20))
    result = found.estimate([1, -1])
    assert result.se_users == pytest.approx(math.sqrt(by_user))
    assert result.se >= result.se_users
    half = stats.t.ppf(0.975, result.df) * result.se
    assert (result.interval.low, result.interval.high) == pytest.approx((result.value - half, result.value + half))


def test_one_algorithm_gives_the_two_way_variance_itself() -> None:
    hits, cases = simulated(np.random.default_rng(4), (4, 300, 1), 0.5)
    found = ratios(hits, cases)
    cells = (hits[..., 0] - found.values[0] * cases) / cases.sum()
    users = 300 / 299 * np.square(cells.sum(axis=0)).sum()
    repetitions = 4 / 3 * np.square(cells.sum(axis=1)).sum() - np.square(cells).sum()
    assert repetitions > 0
    result = found.estimate([1])
    assert result.se == pytest.approx(math.sqrt(users + repetitions))
    assert result.df == pytest.approx((users + repetitions) ** 2 / (users**2 / 299 + repetitions**2 / 3))


def test_equal_repetitions_add_nothing() -> None:
    once = np.random.default_rng(2).binomial(2, 0.4, (1, 60, 2)).astype(float)
    found = ratios(np.repeat(once, 5, axis=0), np.full((5, 60), 2.0)).estimate([1, -1])
    difference = (once[0, :, 0] - once[0, :, 1]) / 2
    assert found.se == pytest.approx(difference.std(ddof=1) / math.sqrt(60))
    assert found.df == pytest.approx(59)
    nothing = ratios(np.ones((2, 5, 2)), np.ones((2, 5))).estimate([1, -1])
    assert (nothing.value, nothing.se, nothing.df) == (0, 0, 4)


def test_draws_have_the_covariance_of_the_estimates() -> None:
    hits, cases = simulated(np.random.default_rng(6), (20, 200, 3), 0.05)
    found = ratios(hits, cases)
    draws = found.draws(40_000, np.random.default_rng(7))
    expected = found.users + found.repetitions
    df = min(found.estimate(weights).df for weights in ([1, -1, 0], [1, 0, -1], [0, 1, -1]))
    assert draws.mean(axis=0) == pytest.approx(found.values, abs=5e-4)
    assert np.cov(draws.T) == pytest.approx(expected * df / (df - 2), rel=0.05)
    assert ratios(hits[..., :1], cases).draws(5, np.random.default_rng(7)).shape == (5, 1)


@pytest.mark.parametrize("sd_repeat", [0.0, 0.2])
def test_intervals_of_differences_cover_and_the_naive_one_does_not_use_more_data(sd_repeat: float) -> None:
    rng, n = np.random.default_rng(8), 400
    covered = 0
    for _ in range(n):
        interval = ratios(*simulated(rng, (5, 100, 2), sd_repeat)).estimate([1, -1]).interval
        covered += interval.low <= 0 <= interval.high
    assert covered / n >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / n)


def test_what_cannot_be_is_refused() -> None:
    for hits, cases in (([[[np.nan]]], [[1.0]]), ([[[1.0]]], [[np.inf]])):
        with pytest.raises(DataError, match="finite"):
            repeated_ratios(hits, cases)
    assert isinstance(repeated_ratios(np.ones((1, 4, 1)), np.ones((1, 4))), Undefined)
    assert isinstance(repeated_ratios(np.ones((3, 1, 1)), np.ones((3, 1))), Undefined)
    empty = repeated_ratios(np.zeros((2, 3, 1)), [[1, 1, 1], [0, 0, 0]])
    assert isinstance(empty, Undefined)
    assert "no case" in empty.reason
