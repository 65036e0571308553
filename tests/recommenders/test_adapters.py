"""Adapters of other libraries' algorithms: there with their library only, and agreeing with it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from core.errors import ParameterError
from recommenders import registry
from recommenders.adapters.implicit_models import ImplicitALS, ImplicitBPR, ImplicitCosine, fold_in
from recommenders.adapters.lenskit_models import LensKitALS, LensKitBiasedMF, LensKitItemKNN, lenskit_dataset
from recommenders.adapters.library import IMPLICIT, LENSKIT, int32_matrix
from recommenders.data import Profiles, Ratings
from recommenders.positives import positives

ROOT = Path(__file__).resolve().parents[2]
KEYS = {
    "implicit": ("implicit-als", "implicit-bpr", "implicit-cosine"),
    "lenskit": ("lenskit-als", "lenskit-biasedmf", "lenskit-itemknn"),
}
pytestmark = pytest.mark.unit
with_implicit = pytest.mark.skipif(not IMPLICIT.is_installed, reason="implicit is not installed")
with_lenskit = pytest.mark.skipif(not LENSKIT.is_installed, reason="LensKit is not installed (make test-lenskit)")


@pytest.fixture
def known(make_ratings) -> Ratings:
    """Ratings of 60 users and 30 items; the last of either has none."""
    return make_ratings(4, n_users=60, n_items=30, density=0.6)


def seed_of(rng: np.random.Generator) -> int:
    """What an adapter draws first, and gives its library."""
    return int(rng.integers(2**31))


def scored(model, ratings: Ratings) -> np.ndarray:
    return model.score(Profiles.of(ratings, np.arange(ratings.n_users)))


@pytest.mark.parametrize(
    ("package", "words"),
    [
        ("implicit", r"'implicit-als' is that of the library implicit, .*: \.venv/bin/pip install implicit==0\.7\.3"),
        (
            "lenskit",
            r"'lenskit-als' is that of the library lenskit, .*: \.venv/bin/pip install -r requirements-lenskit\.txt",
        ),
    ],
)
def test_without_its_library_a_key_is_not_listed_and_says_what_to_install(package, words, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)  # as Python marks what cannot be imported
    assert not set(KEYS[package]) & set(registry.keys())
    with pytest.raises(ParameterError, match=words):
        registry.params_of(f"{package}-als")


def test_a_library_that_is_nowhere_is_not_installed():
    library = type(IMPLICIT)("no_such_library_anywhere", "1.0")
    assert not library.is_installed
    assert library.how_to_install() == ".venv/bin/pip install no_such_library_anywhere==1.0"


@pytest.mark.parametrize("library", [IMPLICIT, LENSKIT])
def test_keys_are_listed_where_the_library_is_installed(library):
    listed = [key for key in registry.keys() if key in KEYS[library.package]]  # noqa: SIM118 — a function
    assert listed == (list(KEYS[library.package]) if library.is_installed else [])


@pytest.mark.parametrize(
    ("library", "file"), [(IMPLICIT, "requirements-test.txt"), (LENSKIT, "requirements-lenskit.txt")]
)
def test_the_version_named_is_the_version_tested(library, file):
    pins = re.findall(rf"^{library.package}==(\S+)", (ROOT / file).read_text(), re.MULTILINE)
    assert pins == [library.tested]
    page = (ROOT / "docs" / "how-to" / "your-own-algorithm.md").read_text()
    assert f"`{library.how_to_install()}`" in page
    assert all(f"`{key}`" in page for key in KEYS[library.package])
    for key in KEYS[library.package]:
        if library.is_installed:
            assert registry.algorithm(key).library_versions() == {library.package: library.tested}


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


@pytest.mark.parametrize("key", [*KEYS["implicit"], *KEYS["lenskit"]])
def test_data_in_which_nobody_likes_anything_give_no_score(key, make_ratings):
    if key not in registry.keys() or key == "lenskit-biasedmf":  # noqa: SIM118 — a function, not a mapping's
        pytest.skip("its library is not installed, or it asks for ratings, not likes")
    found = registry.algorithm(key)
    known = Ratings.from_triples([0, 1], [0, 1], [1.0, 2.0], 2, 3, scale=make_ratings(1, 3, 3).scale)
    params = registry.params_of(key, {"factors": 1} if "factors" in found.Params().as_dict() else {})
    assert np.isneginf(scored(found.fit(known, params, rng=np.random.default_rng(0)), known)).all()


def lenskit_scores(learner, ratings: Ratings, user: int) -> np.ndarray:
    """LensKit's own scores of every item for the user's history."""
    from lenskit.data import ItemList, RecQuery

    own = ratings.user_items[[user]]
    history = ItemList(item_ids=own.indices, rating=own.data.astype(np.float32))
    return learner(RecQuery(history_items=history), ItemList(item_ids=np.arange(ratings.n_items))).scores()


def likes(ratings: Ratings) -> Ratings:
    """The positive ratings alone."""
    liked = positives(ratings.user_items, ratings.scale, 4.0)
    liked.data[:] = 5.0
    return Ratings(liked, ratings.scale)


@with_lenskit
def test_lenskit_als_agrees_with_the_librarys_own_fold_in(known):
    from lenskit.als import ImplicitMFScorer
    from lenskit.training import TrainingOptions

    params = LensKitALS.Params(factors=6, alpha=20, reg=0.5, epochs=8)
    model = LensKitALS.fit(known, params, rng=np.random.default_rng(3))
    learner = ImplicitMFScorer(embedding_size=6, epochs=8, regularization=0.5, weight=20)
    liked = likes(known)
    learner.train(lenskit_dataset(liked.user_items), TrainingOptions(rng=seed_of(np.random.default_rng(3))))
    scores = scored(model, known)
    for user in range(known.n_users - 1):
        theirs = lenskit_scores(learner, liked, user)
        np.testing.assert_allclose(scores[user, :-1], theirs[:-1], rtol=0, atol=1e-4)  # theirs are float32


@with_lenskit
def test_lenskit_biasedmf_agrees_with_the_librarys_own_fold_in(known):
    from lenskit.als import BiasedMFScorer
    from lenskit.training import TrainingOptions

    params = LensKitBiasedMF.Params(factors=6, damping=3, reg=0.2, epochs=8)
    model = LensKitBiasedMF.fit(known, params, rng=np.random.default_rng(3))
    learner = BiasedMFScorer(embedding_size=6, epochs=8, regularization=0.2, damping=3.0)
    learner.train(lenskit_dataset(known.user_items), TrainingOptions(rng=seed_of(np.random.default_rng(3))))
    scores = scored(model, known)
    for user in range(known.n_users - 1):
        theirs = lenskit_scores(learner, known, user)
        np.testing.assert_allclose(scores[user, :-1], theirs[:-1], rtol=0, atol=1e-4)  # theirs are float32


@with_lenskit
@pytest.mark.parametrize("neighbours", [2, 20])
def test_lenskit_itemknn_agrees_with_the_library(known, neighbours):
    from lenskit.knn import ItemKNNScorer

    model = LensKitItemKNN.fit(known, LensKitItemKNN.Params(neighbours=neighbours), rng=np.random.default_rng(0))
    learner = ItemKNNScorer(max_nbrs=neighbours, feedback="implicit")
    liked = likes(known)
    learner.train(lenskit_dataset(liked.user_items))
    scores = scored(model, known)
    for user in range(known.n_users - 1):
        theirs = lenskit_scores(learner, liked, user)
        expected = np.where(np.isfinite(theirs), theirs, -np.inf)
        np.testing.assert_allclose(scores[user], expected, rtol=0, atol=1e-5)  # theirs are float32
