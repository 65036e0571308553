"""Models: one fit for a recipe."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import numpy as np
import pytest
from django.db import IntegrityError

from catalog.selectors.ratings import features_of, ratings_of
from core import artefacts
from core.errors import ArtefactError, ParallaxError
from evaluation.models import TrainedModel
from evaluation.selectors.cases import training_rows
from evaluation.services import training
from evaluation.services.training import (
    features_digest,
    recipe_of,
    store_training_rows,
    train_on_everything,
    train_or_reuse,
)
from recommenders.data import ItemFeatures, Ratings
from recommenders.puresvd import PureSVD
from tests.factories.catalog import make_version

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

CHOSEN: dict[str, Any] = {"algorithm": "puresvd", "params": {"factors": 4}, "seed": 1, "threads": 1}


def test_training_rows_come_back_as_they_were_stored() -> None:
    ratings = ratings_of(make_version())
    back = training_rows(store_training_rows(ratings=ratings))
    assert back.scale == ratings.scale
    assert (back.user_items != ratings.user_items).nnz == 0


def test_model_of_a_recipe_is_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    version = make_version()
    digest = store_training_rows(ratings=ratings_of(version))
    first = train_or_reuse(version=version, training_digest=digest, **CHOSEN)
    monkeypatch.setattr(PureSVD, "fit", None)
    second = train_or_reuse(version=version, training_digest=digest, **CHOSEN)
    assert (first.was_reused, second.was_reused) == (False, True)
    assert first.model == second.model
    assert first.model.label == "PureSVD4"
    kept = artefacts.load("models", first.model.digest)
    assert kept.arrays["item_factors"].shape == (version.n_items, 4)
    assert kept.meta["params"] == {"factors": 4}


def test_model_that_another_worker_recorded_meanwhile_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    version = make_version()
    digest = store_training_rows(ratings=ratings_of(version))
    theirs = train_or_reuse(version=version, training_digest=digest, **CHOSEN).model
    real = TrainedModel.objects.filter

    class Blind:
        """The recipe was not there when this worker looked."""

        def first(self) -> None:
            return None

    monkeypatch.setattr(TrainedModel.objects, "filter", lambda **_: Blind())
    ours = train_or_reuse(version=version, training_digest=digest, **CHOSEN)
    monkeypatch.setattr(TrainedModel.objects, "filter", real)
    assert ours.model == theirs
    assert ours.was_reused
    assert TrainedModel.objects.count() == 1


def test_database_lets_a_recipe_in_once() -> None:
    version = make_version()
    model = train_on_everything(version=version, **CHOSEN).model
    model.pk = None
    with pytest.raises(IntegrityError):
        model.save(force_insert=True)


def test_recipe_depends_on_every_input() -> None:
    version = make_version()
    ratings = ratings_of(version)
    digest = store_training_rows(ratings=ratings)
    users, items, values = ratings.triples()
    changed = values.copy()
    changed[7] = 1.0 if changed[7] != 1.0 else 2.0
    one_row_changed = store_training_rows(
        ratings=Ratings.from_triples(users, items, changed, ratings.n_users, ratings.n_items, scale=ratings.scale)
    )
    base = {"version": version, "training_digest": digest, **CHOSEN}
    recipes = [
        recipe_of(**{**base, **change})
        for change in (
            {},
            {"training_digest": one_row_changed},
            {"params": {"factors": 5}},
            {"algorithm": "toppop", "params": {}},
            {"seed": 2},
            {"threads": 2},
        )
    ]
    assert len(set(recipes)) == len(recipes)
    assert recipe_of(**base) == recipes[0]


def test_recipe_depends_on_the_version_of_the_algorithm(monkeypatch: pytest.MonkeyPatch) -> None:
    version = make_version()
    base = {"version": version, "training_digest": "x", **CHOSEN}
    before = recipe_of(**base)
    monkeypatch.setattr(PureSVD, "version", PureSVD.version + 1)
    assert recipe_of(**base) != before


def test_recipe_depends_on_the_version_of_the_library_that_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    base = {"version": make_version(), "training_digest": "x", **CHOSEN}
    ours = recipe_of(**base)
    monkeypatch.setattr(PureSVD, "libraries", ("scipy",))
    with_library = recipe_of(**base)
    monkeypatch.setattr("importlib.metadata.version", lambda name: f"another {name}")
    assert len({ours, with_library, recipe_of(**base)}) == 3


def test_stored_model_says_which_version_of_which_library_learned_it(monkeypatch: pytest.MonkeyPatch) -> None:
    version = make_version()
    assert "libraries" not in artefacts.load("models", train_on_everything(version=version, **CHOSEN).model.digest).meta
    monkeypatch.setattr(PureSVD, "libraries", ("scipy",))
    model = train_on_everything(version=version, **CHOSEN).model
    assert artefacts.load("models", model.digest).meta["libraries"] == {"scipy": metadata.version("scipy")}


def test_recipe_depends_on_features_only_where_they_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    version = make_version()
    base = {"version": version, "training_digest": store_training_rows(ratings=ratings_of(version)), **CHOSEN}
    before = recipe_of(**base)
    monkeypatch.setattr(PureSVD, "needs_features", True)
    assert recipe_of(**base) != before


def test_features_digest_depends_on_terms_and_counts() -> None:
    features = features_of(make_version())
    digest = features_digest(features=features)
    counts = features.item_terms.copy()
    counts.data = counts.data.copy()
    counts.data[0] += 1
    assert features_digest(features=ItemFeatures(counts, features.terms)) != digest
    renamed = (("genre", "Something else"), *features.terms[1:])
    assert features_digest(features=ItemFeatures(features.item_terms, renamed)) != digest


def test_seed_of_a_model_is_its_own() -> None:
    one = training.training_seed(seed=1, algorithm="asysvd", params={"factors": 5})
    assert one == training.training_seed(seed=1, algorithm="asysvd", params={"factors": 5})
    assert one != training.training_seed(seed=1, algorithm="asysvd", params={"factors": 6})
    assert one != training.training_seed(seed=2, algorithm="asysvd", params={"factors": 5})


def test_reused_model_whose_files_are_damaged_is_refused(settings: Any) -> None:
    version = make_version()
    model = train_on_everything(version=version, **CHOSEN).model
    folder = settings.VAR_DIR / "artefacts" / "models" / model.digest
    file = folder / "item_factors.npy"
    whole = file.read_bytes()
    artefacts.clear_cache()
    try:
        file.write_bytes(whole[:-8] + bytes(8))
        with pytest.raises(ArtefactError, match="no longer matches"):
            train_on_everything(version=version, **CHOSEN)
    finally:
        file.write_bytes(whole)
        artefacts.clear_cache()


def test_same_seed_trains_the_same_bytes() -> None:
    version = make_version()
    first = train_on_everything(version=version, **CHOSEN).model
    TrainedModel.objects.all().delete()
    assert train_on_everything(version=version, **CHOSEN).model.digest == first.digest


@pytest.mark.parametrize(
    ("algorithm", "params", "words"),
    [
        ("best", {}, "no algorithm 'best'"),
        ("puresvd", {"depth": 3}, "no parameter depth"),
        ("puresvd", {"factors": 4000}, "factors"),
    ],
)
def test_training_refuses_in_a_sentence(algorithm: str, params: dict[str, Any], words: str) -> None:
    with pytest.raises(ParallaxError, match=words) as refused:
        train_on_everything(version=make_version(), algorithm=algorithm, params=params, seed=1, threads=1)
    assert refused.value.code == "model.bad_input"


def test_training_does_not_touch_the_global_random_state() -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002 — the point is that nobody touches it
    train_on_everything(version=make_version(), **CHOSEN)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002 — as above
