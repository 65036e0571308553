from __future__ import annotations

import numpy as np
import pytest

from recommenders.data import Profiles, Ratings, Scale
from recommenders.puresvd import PureSVD

pytestmark = pytest.mark.unit


@pytest.mark.kernels
@pytest.mark.parametrize("n_users", [30, 8])
@pytest.mark.parametrize("factors", [1, 3, 7])
def test_scores_agree_with_a_dense_decomposition(make_ratings, n_users, factors):
    ratings = make_ratings(21, n_users, 12)
    profiles = Profiles(make_ratings(22, 6, 12).user_items, ratings.scale)
    model = PureSVD.fit(ratings, PureSVD.Params(factors=factors), rng=np.random.default_rng(0))
    right = np.linalg.svd(ratings.user_items.toarray().astype(float))[2][:factors].T
    scores = model.score(profiles)
    rows = profiles.user_items.toarray().astype(float)
    for u in range(5):
        for i in np.flatnonzero(ratings.item_counts):
            expected = sum(rows[u, j] * sum(right[j, f] * right[i, f] for f in range(factors)) for j in range(12))
            assert scores[u, i] == pytest.approx(expected, abs=1e-9)
    assert np.isneginf(scores[:, ratings.item_counts == 0]).all()
    assert ratings.item_counts[11] == 0
    assert np.isneginf(scores[5]).all()  # an empty profile


def test_full_rank_returns_the_training_row(make_ratings):
    ratings = make_ratings(23, 40, 9)
    model = PureSVD.fit(ratings, PureSVD.Params(factors=9), rng=np.random.default_rng(0))
    everybody = np.arange(39)
    scores = model.score(Profiles.of(ratings, everybody))[:, :8]
    np.testing.assert_allclose(scores, ratings.user_items.toarray()[:39, :8], rtol=0, atol=1e-9)


def test_one_factor_by_hand():
    """Rows (3, 4) and (6, 8): one direction (.6, .8); a profile (5, 0) is 3 along it, so (1.8, 2.4)."""
    ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 0, 1], [3, 4, 6, 8], 2, 2, scale=Scale(1, 8, 1))
    model = PureSVD.fit(ratings, PureSVD.Params(factors=1), rng=np.random.default_rng(0))
    np.testing.assert_allclose(model.item_factors, [[0.6], [0.8]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.score(Profiles.single([0], [5], 2, ratings.scale)), [[1.8, 2.4]], atol=1e-12)
