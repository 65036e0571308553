from __future__ import annotations

import numpy as np
import pytest

from recommenders import ials, threads
from recommenders.data import Profiles, Ratings, Scale
from recommenders.ials import IALS

pytestmark = [pytest.mark.unit, pytest.mark.kernels]


def solved(likes: np.ndarray, others: np.ndarray, alpha: float, reg: float) -> np.ndarray:
    """Weighted ridge regressions, row by row, with the full matrix of confidences written out."""
    rows = []
    for row in likes:
        confidence = np.diag(1 + alpha * row)
        left = others.T @ confidence @ others + reg * np.eye(others.shape[1])
        rows.append(np.linalg.solve(left, others.T @ confidence @ row))
    return np.array(rows)


@pytest.mark.parametrize(("factors", "alpha", "reg"), [(1, 10.0, 1.0), (3, 2.0, 0.1), (5, 0.0, 5.0)])
def test_scores_agree_with_dense_regressions(make_ratings, factors, alpha, reg):
    ratings = make_ratings(71, 25, 12)
    profiles = Profiles(make_ratings(72, 8, 12).user_items, ratings.scale)
    params = IALS.Params(factors=factors, alpha=alpha, reg=reg, epochs=4)
    model = IALS.fit(ratings, params, rng=np.random.default_rng(0))
    likes = (ratings.user_items.toarray() >= 4).astype(float)
    rows = (profiles.user_items.toarray() >= 4).astype(float)
    right = np.linalg.svd(likes)[2]
    items = right[:factors].T * np.where(np.abs(right[:factors]).max(axis=1) == right[:factors].max(axis=1), 1, -1)
    for _ in range(4):
        users = solved(likes, items, alpha, reg)
        items = solved(likes.T, users, alpha, reg)
    expected = solved(rows, items, alpha, reg) @ items.T
    scores = model.score(profiles)
    is_liked = likes.any(axis=0)
    for u in range(8):
        if rows[u, is_liked].any():
            np.testing.assert_allclose(scores[u, is_liked], expected[u, is_liked], rtol=0, atol=1e-9)
            assert np.isneginf(scores[u, ~is_liked]).all()
        else:
            assert np.isneginf(scores[u]).all()


def test_the_objective_never_rises(make_ratings):
    ratings = make_ratings(73, 30, 11)
    likes = (ratings.user_items.toarray() >= 4).astype(float)
    everybody = Profiles.of(ratings, np.arange(30))
    losses = []
    for epochs in range(1, 9):
        params = IALS.Params(factors=3, alpha=4.0, reg=0.5, epochs=epochs)
        model = IALS.fit(ratings, params, rng=np.random.default_rng(0))
        users = solved(likes, model.item_factors, 4.0, 0.5)
        error = (1 + 4.0 * likes) * (likes - users @ model.item_factors.T) ** 2
        losses.append(error.sum() + 0.5 * ((users**2).sum() + (model.item_factors**2).sum()))
        has_score = np.isfinite(model.score(everybody))
        np.testing.assert_allclose(
            model.score(everybody)[has_score], (users @ model.item_factors.T)[has_score], rtol=0, atol=1e-9
        )
    assert (np.diff(losses) <= 1e-9).all()
    assert losses[-1] < losses[0]


def test_one_factor_by_hand():
    """Two people like both of two items; α = 1, λ = 1, one epoch.

    q starts at (√½, √½): each p is 2·(2√½) / (1 + 2·1) = 2√2/3. Then each q is 2·2p / (1 + 2·2p²) = 24√2/41.
    A profile with item 0 alone: p = 2q / (λ + 3q²), and both items get p·q.
    """
    ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 0, 1], [1] * 4, 2, 2, scale=Scale(1, 1, 1))
    params = IALS.Params(factors=1, alpha=1.0, reg=1.0, epochs=1)
    model = IALS.fit(ratings, params, rng=np.random.default_rng(0))
    q = 24 * np.sqrt(2) / 41
    np.testing.assert_allclose(model.item_factors, [[q], [q]], rtol=0, atol=1e-12)
    expected = 2 * q * q / (1 + 3 * q * q)
    np.testing.assert_allclose(
        model.score(Profiles.single([0], [1], 2, ratings.scale)), [[expected, expected]], rtol=0, atol=1e-12
    )


def test_seed_changes_nothing(make_ratings):
    ratings = make_ratings(74, 20, 9)
    params = IALS.Params(factors=2)
    first, second = (IALS.fit(ratings, params, rng=np.random.default_rng(seed)) for seed in (1, 2))
    assert first.item_factors.tobytes() == second.item_factors.tobytes()


def test_threads_and_pieces_change_no_bit(make_ratings, monkeypatch):
    ratings = make_ratings(75, 40, 12)
    params = IALS.Params(factors=3, epochs=2)
    whole = IALS.fit(ratings, params, rng=np.random.default_rng(0))
    monkeypatch.setattr(ials, "BLOCK_STEPS", 100)
    with threads.using(2):
        cut = IALS.fit(ratings, params, rng=np.random.default_rng(0))
    assert cut.item_factors.tobytes() == whole.item_factors.tobytes()


def test_more_likes_than_are_multiplied_together():
    likes = np.ones((1, 300))
    users, items = np.divmod(np.arange(600), 300)
    ratings = Ratings.from_triples(users, items, [5] * 600, 2, 300, scale=Scale(1, 5, 1))
    model = IALS.fit(ratings, IALS.Params(factors=1, epochs=1), rng=np.random.default_rng(0))
    folded = solved(likes, model.item_factors, 40.0, 100.0)
    np.testing.assert_allclose(
        model.score(Profiles.single(items[:300], [5] * 300, 300, ratings.scale)),
        folded @ model.item_factors.T,
        rtol=0,
        atol=1e-9,
    )


def test_training_without_a_like_gives_no_score():
    ratings = Ratings.from_triples([0, 0, 1], [0, 1, 1], [1, 2, 2], 2, 2, scale=Scale(1, 5, 1))
    model = IALS.fit(ratings, IALS.Params(factors=1), rng=np.random.default_rng(0))
    assert np.isneginf(model.score(Profiles.single([0], [5], 2, ratings.scale))).all()
