"""The beta-binomial model of hits: closed forms, an independent integral, coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from core.errors import DataError
from inference.beta_binomial import HitPrior, hit_rate_draws


def drawn(hits: Any, cases: Any, prior: HitPrior | None = None, n: int = 40_000) -> np.ndarray[Any, Any]:
    return hit_rate_draws(hits, cases, prior or HitPrior(), draws=n, rng=np.random.default_rng(3))


@pytest.mark.reference
@pytest.mark.parametrize(("hits", "n", "prior"), [(3, 10, (1.0, 1.0)), (0, 50, (0.5, 0.5)), (900, 5000, (2.0, 2.0))])
def test_one_case_per_user_is_a_beta_posterior(hits: int, n: int, prior: tuple[float, float]) -> None:
    rates = drawn([1] * hits + [0] * (n - hits), [1] * n, HitPrior(mean=prior))
    exact = stats.beta(prior[0] + hits, prior[1] + n - hits)
    assert rates.mean() == pytest.approx(exact.mean(), abs=0.02 * exact.std())
    assert rates.std() == pytest.approx(exact.std(), rel=0.02)
    assert np.quantile(rates, [0.05, 0.95]) == pytest.approx(exact.ppf([0.05, 0.95]), abs=0.04 * exact.std())


@pytest.mark.reference
def test_posterior_mean_is_that_of_adaptive_integration() -> None:
    hits, cases, prior = [0, 5, 1, 7, 3], [8, 8, 3, 9, 3], HitPrior((1.0, 2.0), (1.0, 3.0))

    def density(correlation: float, mean: float) -> float:
        precision = 1 / correlation - 1
        likelihood = np.prod(stats.betabinom.pmf(hits, cases, mean * precision, (1 - mean) * precision))
        return float(likelihood * stats.beta.pdf(mean, *prior.mean) * stats.beta.pdf(correlation, *prior.correlation))

    limits = (1e-6, 1 - 1e-6)
    whole = integrate.dblquad(density, *limits, *limits, epsabs=1e-10)[0]
    mean = integrate.dblquad(lambda c, m: m * density(c, m), *limits, *limits, epsabs=1e-10)[0] / whole
    assert drawn(hits, cases, prior).mean() == pytest.approx(mean, abs=0.003)


@pytest.mark.unit
def test_users_who_differ_make_the_rate_less_certain() -> None:
    alike, apart = drawn([5] * 40, [10] * 40), drawn([0] * 20 + [10] * 20, [10] * 40)
    assert apart.std() > 2 * alike.std()
    assert apart.mean() == pytest.approx(alike.mean(), abs=0.01)


@pytest.mark.unit
def test_intervals_cover_the_true_rate() -> None:
    rng, covered = np.random.default_rng(6), 0
    for _ in range(60):
        chances = rng.beta(0.3 * 4, 0.7 * 4, 50)
        cases = rng.integers(1, 5, 50)
        low, high = np.quantile(drawn(rng.binomial(cases, chances), cases, n=2000), [0.05, 0.95])
        covered += low < 0.3 < high
    assert 47 <= covered <= 60  # 54 expected, three standard errors


@pytest.mark.unit
def test_users_without_cases_and_fractions_of_hits() -> None:
    plain = drawn([1, 0, 1], [2, 1, 1])
    assert np.array_equal(plain, drawn([1, 0, 1, 0], [2, 1, 1, 0]))
    low, middle, high = (drawn([1, 0, 1, third], [2, 1, 1, 1]).mean() for third in (0, 0.5, 1))
    assert low < middle < high


@pytest.mark.unit
def test_unusable_hits_and_priors() -> None:
    with pytest.raises(DataError, match="No user has a case"):
        drawn([0], [0])
    for hits in (-1, 3, np.nan):
        with pytest.raises(DataError, match="between 0 and the number"):
            drawn([hits], [2])
