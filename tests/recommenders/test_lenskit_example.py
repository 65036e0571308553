"""The example package docs/how-to/lenskit-algorithms, where LensKit is installed: it agrees with LensKit.

Its page states the commands that install both into an environment of their own and run this file there.
"""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

import numpy as np
import pytest

from recommenders.data import Profiles, Ratings
from recommenders.positives import positives
from recommenders.testing import CHECKS, Trial

pytestmark = pytest.mark.unit
pytest.importorskip("lenskit", reason="LensKit is not installed")

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "how-to" / "lenskit-algorithms"))
import parallax_lenskit  # noqa: E402 — an example, installed or not
from parallax_lenskit import LensKitALS, LensKitBiasedMF, LensKitItemKNN, lenskit_dataset  # noqa: E402

ALGORITHMS = [LensKitALS, LensKitBiasedMF, LensKitItemKNN]


@pytest.fixture
def known(make_ratings) -> Ratings:
    """Ratings of 60 users and 30 items; the last of either has none."""
    return make_ratings(4, n_users=60, n_items=30, density=0.6)


def seed_of(rng: np.random.Generator) -> int:
    """What an algorithm draws first, and gives LensKit."""
    return int(rng.integers(2**31))


def scored(model, ratings: Ratings) -> np.ndarray:
    return model.score(Profiles.of(ratings, np.arange(ratings.n_users)))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_contract(algorithm, check):
    check(Trial(algorithm))


def test_docstring_examples_hold():
    outcome = doctest.testmod(parallax_lenskit)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("algorithm", [LensKitALS, LensKitItemKNN])
def test_data_in_which_nobody_likes_anything_give_no_score(algorithm, make_ratings):
    known = Ratings.from_triples([0, 1], [0, 1], [1.0, 2.0], 2, 3, scale=make_ratings(1, 3, 3).scale)
    params = algorithm.Params.from_mapping({"factors": 1} if algorithm is LensKitALS else {})
    assert np.isneginf(scored(algorithm.fit(known, params, rng=np.random.default_rng(0)), known)).all()


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
