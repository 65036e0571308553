"""Spearman's rho and Kendall's tau-b of scores and ratings, user by user."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics import rank_correlation
from evaluation.metrics.rank_correlation import kendall, spearman, user_values
from evaluation.metrics.registry import metric


@pytest.mark.reference
def test_values_equal_those_of_scipy(monkeypatch):
    rng = np.random.default_rng(8)
    users = rng.permutation(np.repeat(np.arange(40), rng.integers(0, 30, 40)))
    scores, ratings = np.round(rng.normal(size=len(users)), 1), rng.integers(1, 6, len(users)).astype(float)
    monkeypatch.setattr(rank_correlation, "CELLS", 2_000)  # so that users come in blocks
    rho = spearman(users, scores, ratings, n_users=41)
    tau = kendall(users, scores, ratings, n_users=41)
    compared = 0
    for user in range(41):
        own = users == user
        if own.sum() < 2 or len(set(scores[own])) < 2 or len(set(ratings[own])) < 2:
            assert np.isnan([rho[user], tau[user]]).all()
            continue
        compared += 1
        assert rho[user] == pytest.approx(stats.spearmanr(scores[own], ratings[own]).statistic, abs=1e-12)
        assert tau[user] == pytest.approx(stats.kendalltau(scores[own], ratings[own]).statistic, abs=1e-12)
    assert compared > 25


@pytest.mark.unit
def test_pairs_tied_on_one_side_count_below_the_line():
    # C = 3, D = 1, one pair tied in ratings only, one in scores only.
    scores, ratings = [4.0, 3.0, 2.0, 2.0], [5.0, 5.0, 1.0, 3.0]
    directions = [(1, 0), (1, 1), (1, 1), (1, 1), (1, 1), (0, -1)]
    concordant = sum(a * b > 0 for a, b in directions)
    expected = concordant / np.sqrt((concordant + 1) * (concordant + 1))
    assert kendall([0] * 4, scores, ratings, n_users=1)[0] == pytest.approx(expected)


@pytest.mark.unit
def test_no_score_ranks_below_every_score():
    assert kendall([0, 0], [np.nan, -5.0], [1, 2], n_users=1).tolist() == [1.0]
    assert spearman([0, 0], [np.nan, np.nan], [1, 2], n_users=1).tolist() != [1.0]


@pytest.mark.unit
def test_least_number_of_items_is_a_choice():
    values = user_values(metric("spearman(least=3)"), [0, 0, 1, 1, 1], [1, 2, 1, 2, 3], [1, 2, 3, 2, 1], n_users=2)
    assert np.isnan(values[0])
    assert values[1] == -1.0


@pytest.mark.unit
def test_nobody_has_no_value():
    assert np.isnan(kendall([], [], [], n_users=1)).all()
