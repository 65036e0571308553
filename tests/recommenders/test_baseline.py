from __future__ import annotations

import numpy as np
import pytest

from recommenders.baseline import Baseline
from recommenders.data import Ratings, Scale

pytestmark = pytest.mark.unit


def test_offsets_of_a_hand_worked_example():
    """Ratings 5 and 3 of item 0, 1 of item 1: the mean is 3, the offsets 2 / (1 + 2) and -2 / (1 + 1)."""
    ratings = Ratings.from_triples([0, 1, 0], [0, 0, 1], [5, 3, 1], 2, 3, scale=Scale(1, 5, 1))
    baseline = Baseline.fit(ratings, reg_item=1.0, reg_user=2.0)
    assert baseline.mean == 3.0
    np.testing.assert_allclose(baseline.item_bias, [2 / 3, -1.0, 0.0])
    # User 0: residuals 5 - 3 - 2/3 and 1 - 3 + 1, damped by 2 + 2; user 1: -2/3 by 2 + 1.
    user_bias = np.array([(4 / 3 - 1) / 4, (-2 / 3) / 3])
    np.testing.assert_allclose(baseline.user_bias(ratings.user_items), user_bias)
    expected = 3.0 + user_bias[:, None] + np.array([2 / 3, -1.0, 0.0])
    np.testing.assert_allclose(baseline.scores(ratings.user_items), expected)
    left = [5 - expected[0, 0], 1 - expected[0, 1], 3 - expected[1, 0]]
    np.testing.assert_allclose(baseline.residuals(ratings.user_items), left)


def test_offsets_agree_with_loops(ratings):
    baseline = Baseline.fit(ratings, reg_item=3.0, reg_user=1.5)
    dense = ratings.user_items.toarray().astype(float)
    known = dense[dense > 0]
    for i in range(ratings.n_items):
        column = dense[:, i][dense[:, i] > 0]
        assert baseline.item_bias[i] == pytest.approx(sum(column - known.mean()) / (3.0 + len(column)), abs=1e-12)
    for u, offset in enumerate(baseline.user_bias(ratings.user_items)):
        items = np.flatnonzero(dense[u])
        left = sum(dense[u, i] - known.mean() - baseline.item_bias[i] for i in items)
        assert offset == pytest.approx(left / (1.5 + len(items)), abs=1e-12)


def test_nothing_to_average_and_no_damping_gives_no_offset():
    ratings = Ratings.from_triples([0], [0], [4], 2, 2, scale=Scale(1, 5, 1))
    baseline = Baseline.fit(ratings, reg_item=0.0, reg_user=0.0)
    assert baseline.item_bias.tolist() == [0.0, 0.0]
    assert baseline.user_bias(ratings.user_items).tolist() == [0.0, 0.0]
