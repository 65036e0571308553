"""Power of the primary test, against a plain simulation, scipy's noncentral t and G*Power's figures."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest
from scipy import stats

from core.errors import ParameterError
from inference import primary_power
from inference.agreement import kendall
from inference.primary_power import contrast_power, rank_power

pytestmark = pytest.mark.unit


def test_examples_run() -> None:
    result = doctest.testmod(primary_power)
    assert result.attempted > 0
    assert result.failed == 0


def test_rank_power_is_the_share_of_studies_that_kendall_finds_significant() -> None:
    values, errors = [0.10, 0.30, 0.15, 0.40, 0.20, 0.25], [0.05] * 6
    found = rank_power(values, errors, 20, 0.3, rng=np.random.default_rng(3))
    rng = np.random.default_rng(8)
    steps = np.arange(6) - 2.5
    means = 0.3 * (steps / steps.std())[np.argsort(np.argsort(values))]
    hits = 0
    for _ in range(1000):
        test = kendall(values + rng.normal(0, errors), means + rng.normal(0, 1 / math.sqrt(20), 6))
        hits += test.p < 0.05 and test.coefficient > 0
    assert found.power == pytest.approx(hits / 1000, abs=4 * math.sqrt(0.25 / 1000))
    assert 0.2 < found.power < found.ceiling < 1
    assert found.interval.low < found.power < found.interval.high
    assert found.least_tau == pytest.approx(13 / 15)
    assert (found.least_concordant, found.n_pairs) == (14, 15)  # 14 concordant less 1 discordant


def test_offline_errors_take_power_that_participants_cannot_give_back() -> None:
    sure, unsure = (
        rank_power([1, 2, 3, 4, 5], [error] * 5, 100_000, 0.25, rng=np.random.default_rng(1)) for error in (0.0, 1.0)
    )
    assert (sure.power, sure.ceiling) == (1.0, 1.0)
    assert unsure.power == pytest.approx(unsure.ceiling, abs=0.02)
    assert unsure.power < 0.5


def test_no_order_of_four_is_significant_so_nothing_is_simulated() -> None:
    found = rank_power([1, 2, 3, 4], [0] * 4, 1000, 1.0, rng=np.random.default_rng(1))
    assert (found.power, found.ceiling, found.least_tau) == (0.0, 0.0, None)


def test_level_is_held_where_offline_values_are_noise() -> None:
    found = rank_power([0] * 7, [1.0] * 7, 30, 0.25, rng=np.random.default_rng(5), repetitions=40_000)
    # Of all orders of seven a share of .0151 have a tau of 15 / 21 or more, and as many of -15 / 21 or less.
    assert found.least_tau == pytest.approx(15 / 21)
    assert found.power == pytest.approx(0.01508, abs=4 * math.sqrt(0.0151 / 40_000))


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(("higher", "lower", "conditions", "n", "f"), [(1, 1, 2, 64, 0.25), (2, 3, 7, 30, 0.2)])
def test_contrast_power_agrees_with_simulated_t_tests(
    higher: int, lower: int, conditions: int, n: int, f: float, sides: int
) -> None:
    found = contrast_power(higher, lower, conditions, n, f, sides=sides)
    means = np.zeros(conditions)
    means[:higher] = found.difference * lower / (higher + lower)
    means[higher : higher + lower] = -found.difference * higher / (higher + lower)
    assert math.sqrt(np.mean(means**2)) == pytest.approx(f)
    rng = np.random.default_rng(2)
    weights = np.zeros(conditions)
    weights[:higher], weights[higher : higher + lower] = 1 / higher, -1 / lower
    drawn = means[:, None] + rng.standard_normal((4000, conditions, n))
    pooled = drawn.var(axis=2, ddof=1).mean(axis=1)
    t = (drawn.mean(axis=2) @ weights) / np.sqrt(pooled * np.square(weights).sum() / n)
    p = stats.t.sf(t, found.df) if sides == 1 else 2 * stats.t.sf(abs(t), found.df)
    assert found.power == pytest.approx(np.mean(p < 0.05), abs=4 * math.sqrt(0.25 / 4000))


def test_contrast_of_two_conditions_is_the_t_test_of_gpower() -> None:
    # G*Power 3.1, difference between two independent means, d = 0.5, n = 64 each, two-tailed: .8014596.
    assert contrast_power(1, 1, 2, 64, 0.25).power == pytest.approx(0.8014596, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"offline": [1.0]}, "two"),
        ({"errors": [0.1, 0.1]}, "standard error"),
        ({"errors": [0.1, -0.1, 0.1]}, "standard error"),
        ({"offline": [1.0, math.nan, 2.0]}, "finite"),
        ({"n_per_condition": 1}, "two participants"),
        ({"n_per_condition": 2.5}, "whole number"),
        ({"f": 0.0}, "above 0"),
        ({"repetitions": 99}, "100 repetitions"),
        ({"offline": list(range(51)), "errors": [0.0] * 51}, "at most 50"),
    ],
)
def test_rank_power_says_which_number_is_wrong(change: dict[str, object], said: str) -> None:
    given = {"offline": [1.0, 2.0, 3.0], "errors": [0.0] * 3, "n_per_condition": 30, "f": 0.25, **change}
    with pytest.raises(ParameterError, match=said):
        rank_power(rng=np.random.default_rng(1), **given)


@pytest.mark.parametrize(
    "given", [{"higher": 0}, {"lower": 0}, {"higher": 3}, {"sides": 3}, {"f": -1.0}, {"n_per_condition": 1}]
)
def test_contrast_power_says_which_number_is_wrong(given: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        contrast_power(**{"higher": 1, "lower": 1, "conditions": 3, "n_per_condition": 30, "f": 0.25, **given})
