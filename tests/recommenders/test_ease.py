from __future__ import annotations

import numpy as np
import pytest

from recommenders.data import Profiles, Ratings, Scale
from recommenders.ease import EASE

pytestmark = pytest.mark.unit


def weights(likes: np.ndarray, reg: float) -> np.ndarray:
    """B column by column: each item's ridge regression on all the others, as the problem is stated."""
    n_items = likes.shape[1]
    result = np.zeros((n_items, n_items))
    for j in range(n_items):
        others = [i for i in range(n_items) if i != j]
        left = likes[:, others]
        gram = left.T @ left + reg * np.eye(n_items - 1)
        result[others, j] = np.linalg.solve(gram, left.T @ likes[:, j])
    return result


# 12 items: with 40 users through the items' side, with 8 through the users'.
@pytest.mark.parametrize("n_users", [40, 8])
@pytest.mark.parametrize("reg", [0.5, 20.0])
def test_scores_agree_with_one_regression_an_item(make_ratings, n_users, reg):
    ratings = make_ratings(61, n_users, 12, density=0.7)
    profiles = Profiles(make_ratings(62, 9, 12).user_items, ratings.scale)
    model = EASE.fit(ratings, EASE.Params(reg=reg), rng=np.random.default_rng(0))
    assert (model.inverse.shape[0] < model.inverse.shape[1]) == (n_users == 8)
    likes = (ratings.user_items.toarray() >= 4).astype(float)
    rows = (profiles.user_items.toarray() >= 4).astype(float)
    expected = rows @ weights(likes, reg)
    scores = model.score(profiles)
    is_liked = likes.any(axis=0)
    for u in range(9):
        if rows[u, is_liked].any():
            np.testing.assert_allclose(scores[u, is_liked], expected[u, is_liked], rtol=0, atol=1e-9)
            assert np.isneginf(scores[u, ~is_liked]).all()
        else:
            assert np.isneginf(scores[u]).all()
    assert not is_liked.all()


def test_two_items_by_hand():
    """Item 0 liked by 3, item 1 by 2, both by 2; λ = 1. Each regression has one weight: 2 / (3 + 1), 2 / (2 + 1)."""
    users, items = [0, 0, 1, 1, 2], [0, 1, 0, 1, 0]
    ratings = Ratings.from_triples(users, items, [1] * 5, 3, 2, scale=Scale(1, 1, 1))
    model = EASE.fit(ratings, EASE.Params(reg=1), rng=np.random.default_rng(0))
    assert model.score(Profiles.single([0], [1], 2, ratings.scale))[0].tolist() == pytest.approx([0, 0.5], abs=1e-12)
    assert model.score(Profiles.single([1], [1], 2, ratings.scale))[0].tolist() == pytest.approx([2 / 3, 0], abs=1e-12)


def test_regularisation_shrinks_the_weights(make_ratings):
    ratings = make_ratings(63, 40, 10)
    profile = Profiles.of(ratings, [0])
    sizes = []
    for reg in (1.0, 10.0, 1000.0):
        model = EASE.fit(ratings, EASE.Params(reg=reg), rng=np.random.default_rng(0))
        scores = model.score(profile)
        sizes.append(np.abs(scores[np.isfinite(scores)]).sum())
    assert sizes[0] > sizes[1] > sizes[2]


def test_training_without_a_like_gives_no_score():
    ratings = Ratings.from_triples([0, 0], [0, 1], [1, 2], 1, 2, scale=Scale(1, 5, 1))
    model = EASE.fit(ratings, rng=np.random.default_rng(0))
    assert np.isneginf(model.score(Profiles.single([0], [5], 2, ratings.scale))).all()
