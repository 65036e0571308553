"""The jackknife over groups of users."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import DataError
from inference.claim_estimates import group_jackknife

pytestmark = pytest.mark.unit


def test_groups_of_one_give_the_standard_error_of_a_mean() -> None:
    sample = np.random.default_rng(1).normal(size=50)
    without = [np.delete(sample, at).mean() for at in range(50)]
    found = group_jackknife(sample.mean(), without)
    low, high = found.interval(0.95).low, found.interval(0.95).high
    # t of 49 degrees of freedom, as any table has it.
    assert (high - low) / 2 == pytest.approx(2.00958 * sample.std(ddof=1) / np.sqrt(50), rel=1e-4)


def test_interval_of_twenty_groups_covers_as_it_says() -> None:
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(400):
        users = rng.exponential(size=200)
        groups = np.array_split(rng.permutation(200), 20)
        without = [np.delete(users, group).mean() ** 2 for group in groups]
        interval = group_jackknife(users.mean() ** 2, without).interval(0.95)
        covered += interval.low <= 1.0 <= interval.high
    assert 0.91 <= covered / 400 <= 0.98


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(DataError, match="at least 2 groups"):
        group_jackknife(1.0, [1.0])
    with pytest.raises(DataError, match="finite"):
        group_jackknife(1.0, [1.0, np.nan])
