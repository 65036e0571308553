"""Algorithms that read an upload, on arrays alone; files and runs are followed in tests/evaluation/test_uploads.py."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import DataError, ParameterError
from recommenders.data import Profiles, Ratings, Scale
from recommenders.data_limits import TrainingSize
from recommenders.testing.score_checks import count_explained
from recommenders.uploaded import Factors, Matrix

pytestmark = pytest.mark.unit

FIVE = Scale(1, 5, 1)
RATINGS = Ratings.from_triples([0, 0, 1], [0, 1, 1], [5, 4, 3], n_users=2, n_items=3, scale=FIVE)
KNOWN = np.array([True, True, False])
WEIGHTS = {"indptr": np.array([0, 2, 3, 3]), "indices": np.array([1, 2, 0]), "weights": np.array([0.5, 9.0, -0.25])}
DIGEST = "0" * 64


def test_only_items_of_the_upload_are_scored_and_scored_by() -> None:
    model = Matrix.read({**WEIGHTS, "is_known": KNOWN}, RATINGS, Matrix.Params(upload=DIGEST))
    assert model.popularity.tolist() == [1, 2, 0]
    scores = model.score(Profiles.single([0, 2], [4, 5], 3, FIVE))[0]
    assert scores.tolist() == [0.0, 2.0, -np.inf]
    assert np.isneginf(model.score(Profiles.single([2], [5], 3, FIVE))).all()
    assert count_explained(model, Profiles.single([0, 1], [4, 2], 3, FIVE)) == 2


def test_likes_weigh_one_each_and_a_profile_without_likes_has_no_scores() -> None:
    params = Matrix.Params(upload=DIGEST, profile="likes")
    model = Matrix.read({**WEIGHTS, "is_known": KNOWN}, RATINGS, params)
    assert model.score(Profiles.single([0, 1], [5, 2], 3, FIVE))[0].tolist() == [0.0, 0.5, -np.inf]
    assert np.isneginf(model.score(Profiles.single([0, 1], [3, 2], 3, FIVE))).all()


@pytest.mark.parametrize("reg", [[], [0.5]])
def test_stored_factors_score_as_before(reg: list[float]) -> None:
    factors = np.array([[1.0, 0.5], [0.25, 2.0], [0.0, 0.0]])
    contents = {"item_factors": factors, "reg": np.array(reg), "is_known": KNOWN}
    model = Factors.read(contents, RATINGS, Factors.Params(upload=DIGEST))
    again = Factors.from_state(model.state(), model.params, model.scale)
    profile = Profiles.single([0, 1], [4, 2], 3, FIVE)
    assert again.score(profile).tobytes() == model.score(profile).tobytes()
    assert count_explained(again, profile) == 2


def test_what_cannot_be_read_is_refused() -> None:
    size, other = TrainingSize(2, 3), Ratings.from_triples([0], [0], [5], n_users=1, n_items=2, scale=FIVE)
    with pytest.raises(DataError, match="over 3 items, but the ratings are of 2"):
        Matrix.read({**WEIGHTS, "is_known": KNOWN}, other, Matrix.Params(upload=DIGEST))
    with pytest.raises(DataError, match="learns nothing from ratings"):
        Matrix.fit(RATINGS, Matrix.Params(upload=DIGEST), rng=np.random.default_rng(0))
    with pytest.raises(DataError, match="store one with the command upload_model"):
        Matrix.check(Matrix.Params(), size)
    with pytest.raises(ParameterError, match="longer than 60 characters"):
        Matrix.check(Matrix.Params(upload=DIGEST, name="n" * 61), size)
    with pytest.raises(ParameterError, match="one of the characters"):
        Matrix.check(Matrix.Params(upload=DIGEST, name="a,b"), size)


def test_label_is_the_name_or_the_start_of_the_digest() -> None:
    assert Factors.label(Factors.Params(upload=DIGEST)) == "Factors 00000000"
    assert Factors.label(Factors.Params(upload=DIGEST, name="ALS in R", profile="likes")) == "ALS in R"
