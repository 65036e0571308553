"""Power of the primary test, against a plain simulation, scipy's noncentral t and G*Power's figures."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from core.errors import ParameterError
from inference.average_advantage import AverageAdvantage, MeanEstimates, average_advantage
from inference.power import advantage_power, contrast_power, participants_for_advantage

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(("conditions", "n"), [(3, 43), (5, 26), (7, 19)])
def test_participants_for_a_medium_effect_are_those_of_the_specification(conditions: int, n: int) -> None:
    assert participants_for_advantage(conditions, 0.25, power=0.8) == n
    assert advantage_power(conditions, n - 1, 0.25) < 0.8 <= advantage_power(conditions, n, 0.25)


@pytest.mark.parametrize(("conditions", "n", "f"), [(3, 30, 0.25), (7, 12, 0.25), (5, 5, 0.3)])
def test_advantage_power_is_the_share_of_significant_studies(conditions: int, n: int, f: float) -> None:
    steps = np.arange(conditions, dtype=float)[::-1]
    means = f * (steps - steps.mean()) / steps.std()
    names = [f"A{number}" for number in range(conditions)]
    separated = list(itertools.combinations(names, 2))
    rng = np.random.default_rng(4)
    repetitions, hits = 1000, 0
    for _ in range(repetitions):
        drawn = means[:, None] + rng.standard_normal((conditions, n))
        estimates = MeanEstimates.independent(
            dict(zip(names, drawn.mean(axis=1), strict=True)), drawn.std(axis=1, ddof=1).tolist(), [n] * conditions
        )
        found = average_advantage(estimates, separated)
        hits += isinstance(found, AverageAdvantage) and found.p < 0.05
    # Welch's degrees of freedom, fewer than those of the pooled variance, cost up to .02 with five participants.
    noise = 3 * math.sqrt(0.25 / repetitions)
    assert advantage_power(conditions, n, f) == pytest.approx(hits / repetitions, abs=noise + 0.02)


def test_advantage_power_with_two_conditions_is_the_t_test_of_gpower() -> None:
    # G*Power 3.1, difference between two independent means, d = 0.5, n = 64 each, two-tailed: .8014596.
    assert advantage_power(2, 64, 0.25) == pytest.approx(0.8014596, abs=1e-6)
    assert participants_for_advantage(2, 0.25, power=0.8) == 64


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
        ({"conditions": 1}, "two conditions"),
        ({"n_per_condition": 1}, "two participants"),
        ({"n_per_condition": 2.5}, "whole number"),
        ({"f": 0.0}, "above 0"),
        ({"alpha": 1.0}, "alpha|level"),
    ],
)
def test_advantage_power_says_which_number_is_wrong(change: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"conditions": 3, "n_per_condition": 30, "f": 0.25, **change}
    with pytest.raises(ParameterError, match=said):
        advantage_power(**given)


@pytest.mark.parametrize(
    ("f", "power", "said"), [(0.25, 1.0, "between 0 and 1"), (0.25, 0.0, "between 0 and 1"), (1e-6, 0.8, "1,000,000")]
)
def test_participants_for_advantage_says_which_number_is_wrong(f: float, power: float, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        participants_for_advantage(3, f, power=power)


@pytest.mark.parametrize(
    "given", [{"higher": 0}, {"lower": 0}, {"higher": 3}, {"sides": 3}, {"f": -1.0}, {"n_per_condition": 1}]
)
def test_contrast_power_says_which_number_is_wrong(given: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        contrast_power(**{"higher": 1, "lower": 1, "conditions": 3, "n_per_condition": 30, "f": 0.25, **given})
