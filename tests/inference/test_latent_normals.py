"""Normal values between limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from inference.latent_normals import interval_mass, truncated_normals

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(("low", "high"), [(-np.inf, -1.0), (-0.3, 0.8), (2.0, np.inf), (6.0, 6.5), (-9.0, -8.5)])
def test_draws_have_the_truncated_distribution(low: float, high: float) -> None:
    n = 20_000
    drawn = truncated_normals(np.full(n, low), np.full(n, high), np.random.default_rng(2))
    assert low <= drawn.min()
    assert drawn.max() <= high
    assert stats.kstest(drawn, stats.truncnorm(low, high).cdf).pvalue > 0.001


def test_mass_is_exact_in_both_tails() -> None:
    low, high = np.array([-np.inf, 10.0, -11.0, -1.0]), np.array([np.inf, 11.0, -10.0, 1.0])
    expected = [1.0, stats.norm.sf(10) - stats.norm.sf(11), stats.norm.sf(10) - stats.norm.sf(11), 0.6826894921370859]
    assert interval_mass(low, high).tolist() == pytest.approx(expected, rel=1e-12)


def test_limits_beyond_the_reach_of_floats_are_kept() -> None:
    drawn = truncated_normals(np.array([50.0, -60.0]), np.array([51.0, -55.0]), np.random.default_rng(2))
    assert 50 <= drawn[0] <= 51
    assert -60 <= drawn[1] <= -55
