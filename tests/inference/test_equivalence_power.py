"""Power of equivalence tests, against simulated studies and the large-sample formula."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest
from scipy import stats

from core.errors import ParameterError
from inference import power as module
from inference.power import equivalence_power, needed_bound

pytestmark = pytest.mark.unit


def test_examples_run() -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize(("bound", "n", "pairs"), [(0.8, 12, 1), (0.6, 30, 3), (1.0, 30, 21)])
def test_power_is_the_share_of_simulated_studies(bound: float, n: int, pairs: int) -> None:
    rng, studies = np.random.default_rng(3), 20_000
    difference = rng.normal(0, math.sqrt(2 / n), studies)
    se = np.sqrt(2 / n * rng.chisquare(2 * (n - 1), studies) / (2 * (n - 1)))
    limit = stats.t.ppf(1 - 0.05 / pairs, 2 * (n - 1))
    share = np.mean((difference + bound > limit * se) & (difference - bound < -limit * se))
    error = math.sqrt(share * (1 - share) / studies)
    assert equivalence_power(bound, n, pairs=pairs) == pytest.approx(share, abs=4 * error)


def test_many_participants_give_the_normal_formula() -> None:
    z = stats.norm.ppf(0.95)
    expected = 2 * stats.norm.cdf(math.sqrt(100_000 / 2) * 0.013 - z) - 1
    assert equivalence_power(0.013, 100_000) == pytest.approx(expected, abs=1e-4)


def test_the_needed_bound_has_the_power() -> None:
    bound = needed_bound(30, pairs=21)
    assert equivalence_power(bound, 30, pairs=21) == pytest.approx(0.8, abs=1e-9)
    assert bound > needed_bound(30)


@pytest.mark.parametrize(
    "change", [{"bound": 0.0}, {"bound": math.nan}, {"pairs": 0}, {"n_per_condition": 1}, {"alpha": 1.0}]
)
def test_what_cannot_be_is_refused(change: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        equivalence_power(**{"bound": 0.5, "n_per_condition": 30, **change})
