"""Reserved users."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.splitting.rows import reserve

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(("n_users", "share", "expected"), [(610, 0.15, 92), (10, 0.0, 0), (0, 0.5, 0), (3, 0.5, 2)])
def test_reserve_gives_exactly_the_share_in_ascending_order(n_users, share, expected):
    users = reserve(n_users, share, seed=1)
    assert len(users) == len(np.unique(users)) == expected
    assert np.array_equal(users, np.sort(users))
    assert ((users >= 0) & (users < n_users)).all()


def test_reserve_repeats_by_seed_and_favours_nobody():
    assert np.array_equal(reserve(100, 0.2, seed=5), reserve(100, 0.2, seed=5))
    times = np.bincount(np.concatenate([reserve(40, 0.5, seed=seed) for seed in range(400)]), minlength=40)
    statistic = ((times - 200) ** 2 / 100).sum() * 39 / 40
    assert 1e-4 < stats.chi2.sf(statistic, 39) < 1 - 1e-4
