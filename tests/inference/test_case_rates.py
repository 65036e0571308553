"""Exact limits of rates over cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from core.errors import DataError
from inference.case_rates import RateLimits, rate_limits
from inference.results import Undefined

pytestmark = pytest.mark.unit


def limits(hits, cases, **kwargs) -> RateLimits:
    found = rate_limits(hits, cases, **kwargs)
    assert isinstance(found, RateLimits)
    return found


@pytest.mark.parametrize("events", [0, 1, 9, 10, 100, 248, 249])
def test_one_case_per_user_is_clopper_and_pearson(events):
    hits = (np.arange(249) < events)[:, None]
    found = limits(hits, np.ones(249))
    expected = stats.binomtest(events, 249).proportion_ci()
    assert (found.low[0], found.high[0]) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert found.is_rare == (events < 10 or events > 239,)


def test_clustering_widens_the_limits():
    rng = np.random.default_rng(2)
    cases = np.full(80, 5)
    independent = rng.binomial(5, 0.3, 80)
    clustered = 5 * (rng.random(80) < 0.3)
    found = limits(np.column_stack([independent, clustered]), cases)
    # Of five cases a user that agree, one counts.
    n = 400 / 5
    x = found.rates[1] * n
    assert found.low[1] == pytest.approx(stats.beta.ppf(0.025, x, n - x + 1), abs=0.01)
    assert found.high[1] == pytest.approx(stats.beta.ppf(0.975, x + 1, n - x), abs=0.01)
    assert found.high[0] - found.low[0] < 1.3 * (1.96 * 2 * (0.3 * 0.7 / 400) ** 0.5)


def test_rare_events_assume_some_clustering():
    cases = np.full(50, 5)
    found = limits(np.zeros((50, 1)), cases)
    assert found.high[0] == pytest.approx(1 - 0.025 ** (1.4 / 250))
    full = limits(np.full((50, 1), 5), cases)
    assert full.low[0] == pytest.approx(1 - found.high[0])
    assert full.high == (1.0,)


def test_columns_are_those_of_single_algorithms_and_users_without_cases_are_left_out():
    rng = np.random.default_rng(4)
    cases = rng.integers(0, 6, 100)
    hits = rng.binomial(cases[:, None], [0.02, 0.2, 0.97])
    together = limits(hits, cases)
    for column in range(3):
        alone = limits(hits[cases > 0, column : column + 1], cases[cases > 0])
        assert (alone.low[0], alone.high[0]) == pytest.approx((together.low[column], together.high[column]))


def test_coverage_of_rare_rates():
    rng = np.random.default_rng(6)
    for rate, correlation in ((0.004, 0.0), (0.02, 0.3), (0.2, 0.1)):
        covered = 0
        for _ in range(400):
            cases = np.full(83, 3)
            if correlation:
                total = 1 / correlation - 1
                of_user = rng.beta(rate * total, (1 - rate) * total, 83)
            else:
                of_user = np.full(83, rate)
            found = limits(rng.binomial(cases, of_user)[:, None], cases)
            covered += found.low[0] <= rate <= found.high[0]
        assert covered / 400 >= 0.93


def test_errors():
    with pytest.raises(DataError):
        rate_limits([[2], [0]], [1, 1])
    assert isinstance(rate_limits([[0], [0]], [1, 0]), Undefined)
