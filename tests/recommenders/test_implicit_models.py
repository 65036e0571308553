"""Algorithms of the library implicit: there with the library only, and agreeing with it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from core.errors import ParameterError
from recommenders import implicit_models, registry
from recommenders.data import Profiles, Ratings
from recommenders.implicit_models import ImplicitALS, ImplicitBPR, ImplicitCosine, fold_in, int32_matrix
from recommenders.positives import positives

ROOT = Path(__file__).resolve().parents[2]
KEYS = ["implicit-als", "implicit-bpr", "implicit-cosine"]
pytestmark = pytest.mark.unit
with_implicit = pytest.mark.skipif(not implicit_models.is_installed(), reason="implicit is not installed")


@pytest.fixture
def known(make_ratings) -> Ratings:
    """Ratings of 60 users and 30 items; the last of either has none."""
    return make_ratings(4, n_users=60, n_items=30, density=0.6)


def seed_of(rng: np.random.Generator) -> int:
    """What an adapter draws first, and gives its library."""
    return int(rng.integers(2**31))


def scored(model, ratings: Ratings) -> np.ndarray:
    return model.score(Profiles.of(ratings, np.arange(ratings.n_users)))


def test_without_the_library_no_key_is_listed_and_the_error_says_what_to_install(monkeypatch):
    for is_imported in (True, False):
        monkeypatch.setitem(sys.modules, "implicit", None)  # as Python marks what cannot be imported
        if not is_imported:
            monkeypatch.delitem(sys.modules, "implicit")
            monkeypatch.setattr(implicit_models, "find_spec", lambda name: None)
        assert not set(KEYS) & set(registry.keys())
        with pytest.raises(ParameterError, match=r"'implicit-als' is .*: \.venv/bin/pip install implicit==0\.7\.3"):
            registry.params_of("implicit-als")


@with_implicit
def test_the_version_named_is_the_version_tested():
    version = implicit_models.TESTED_VERSION
    assert [key for key in registry.keys() if key in KEYS] == KEYS  # noqa: SIM118 — a function
    assert re.findall(r"^implicit==(\S+)", (ROOT / "requirements-test.txt").read_text(), re.MULTILINE) == [version]
    page = (ROOT / "docs" / "how-to" / "your-own-algorithm.md").read_text()
    for key in KEYS:
        assert f"`{registry.install_command(key)}`" in page
        assert f"`{key}`" in page
        assert registry.algorithm(key).library_versions() == {"implicit": version}


@with_implicit
@pytest.mark.parametrize("alpha", [0.0, 10.0])
def test_implicit_als_agrees_with_the_librarys_own_fold_in(known, alpha):
    from threadpoolctl import threadpool_limits

    params = ImplicitALS.Params(factors=6, alpha=alpha, reg=0.5, epochs=8)
    model = ImplicitALS.fit(known, params, rng=np.random.default_rng(3))
    liked = int32_matrix(positives(known.user_items, known.scale, 4.0))
    from implicit.als import AlternatingLeastSquares

    with threadpool_limits(limits=1, user_api="blas"):
        learner = AlternatingLeastSquares(
            factors=6, alpha=1 + alpha, regularization=0.5, iterations=8, num_threads=1,
            random_state=seed_of(np.random.default_rng(3)),
        )  # fmt: skip
        learner.fit(liked, show_progress=False)
    assert (learner.item_factors == model.item_factors).all()
    scores = scored(model, known)
    for user in range(known.n_users - 1):
        items, theirs = learner.recommend(
            user, liked[user], N=30, filter_already_liked_items=False, recalculate_user=True
        )
        is_scored = np.isfinite(scores[user, items])
        assert is_scored.sum() >= 20
        # What nobody liked has no vector and scores 0 there.
        assert (theirs[~is_scored] == 0).all()
        ours = scores[user, items[is_scored]]
        np.testing.assert_allclose(ours, theirs[is_scored], rtol=0, atol=1e-5)  # theirs are float32


@with_implicit
def test_implicit_cosine_agrees_with_the_librarys_recommendations(known):
    model = ImplicitCosine.fit(known, ImplicitCosine.Params(neighbours=8), rng=np.random.default_rng(0))
    from implicit.nearest_neighbours import CosineRecommender

    liked = int32_matrix(positives(known.user_items, known.scale, 4.0))
    learner = CosineRecommender(K=8, num_threads=1)
    with pytest.warns(match="Method expects CSR input"):
        learner.fit(liked, show_progress=False)
    scores = scored(model, known)
    for user in range(known.n_users):
        items, theirs = learner.recommend(user, liked[user], N=30, filter_already_liked_items=False)
        np.testing.assert_allclose(scores[user, items], theirs, rtol=0, atol=1e-12)
        assert np.isneginf(np.delete(scores[user], items)).all()


@with_implicit
def test_implicit_bpr_holds_the_librarys_factors_and_ranks_training_users_as_their_vectors_do(make_ratings):
    # Two tastes, so that there is something to learn.
    users, items = (side.ravel() for side in np.indices((40, 30)))
    is_seen = ((users + items) % 2 == 0) & (np.random.default_rng(2).random(users.size) < 0.6)
    known = Ratings.from_triples(users[is_seen], items[is_seen], np.full(is_seen.sum(), 5.0), 40, 30,
                                 scale=make_ratings(1, 3, 3).scale)  # fmt: skip
    model = ImplicitBPR.fit(known, ImplicitBPR.Params(factors=4, epochs=300), rng=np.random.default_rng(3))
    from implicit.bpr import BayesianPersonalizedRanking

    learner = BayesianPersonalizedRanking(
        factors=4, iterations=300, num_threads=1, random_state=seed_of(np.random.default_rng(3))
    )
    liked = int32_matrix(positives(known.user_items, known.scale, 4.0))
    learner.fit(liked, show_progress=False)
    assert (learner.item_factors == np.column_stack([model.item_factors, model.item_bias])).all()
    scores = scored(model, known)
    agreements = []
    for user in range(known.n_users):
        found, theirs = learner.recommend(user, liked[user], N=30, filter_already_liked_items=False)
        agreements.append(np.corrcoef(scores[user, found], theirs)[0, 1])
    assert min(agreements) > 0.9
    assert np.mean(agreements) > 0.97


def test_long_fold_in_ends_where_the_criterion_is_highest():
    """Against a slow gradient ascent, and the gradient written out pair by pair."""
    rng = np.random.default_rng(5)
    own, others, bias = rng.normal(size=(3, 2)), rng.normal(size=(4, 2)), rng.normal(size=7)
    weights = rng.random(4)
    weights /= 3 * weights.sum()
    lead = bias[:3, np.newaxis] - bias[3:]

    def gradient(vector):
        total = -0.1 * vector
        for i in range(3):
            for j in range(4):
                gap = vector @ (own[i] - others[j]) + lead[i, j]
                total = total + weights[j] / (1 + np.exp(gap)) * (own[i] - others[j])
        return total

    ended = fold_in(own, others, lead, weights, reg=0.1, duration=1e9)
    np.testing.assert_allclose(gradient(ended), 0, atol=1e-5)
    # A short path is the first step of the ascent, up to its square.
    short = fold_in(own, others, lead, weights, reg=0.1, duration=1e-4)
    np.testing.assert_allclose(short, 1e-4 * gradient(np.zeros(2)), rtol=1e-3)
    # In between, many small steps of the ascent end near the eight.
    walked = np.zeros(2)
    for _ in range(4000):
        walked = walked + 1e-3 * gradient(walked)
    np.testing.assert_allclose(fold_in(own, others, lead, weights, reg=0.1, duration=4.0), walked, rtol=0.1)


@with_implicit
def test_implicit_bpr_of_someone_who_likes_everything_orders_by_bias(make_ratings):
    everything = np.indices((3, 4)).reshape(2, -1)
    known = Ratings.from_triples(*everything, np.full(12, 5.0), 3, 4, scale=make_ratings(1, 3, 3).scale)
    model = ImplicitBPR.fit(known, ImplicitBPR.Params(factors=2), rng=np.random.default_rng(0))
    np.testing.assert_array_equal(scored(model, known)[0], model.item_bias.astype(np.float64))


@with_implicit
@pytest.mark.parametrize("key", KEYS)
def test_data_in_which_nobody_likes_anything_give_no_score(key, make_ratings):
    found = registry.algorithm(key)
    known = Ratings.from_triples([0, 1], [0, 1], [1.0, 2.0], 2, 3, scale=make_ratings(1, 3, 3).scale)
    params = registry.params_of(key, {"factors": 1} if "factors" in found.Params().as_dict() else {})
    assert np.isneginf(scored(found.fit(known, params, rng=np.random.default_rng(0)), known)).all()
