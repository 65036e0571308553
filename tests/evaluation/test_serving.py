"""Recommendations from a stored model."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from catalog.selectors.ratings import ratings_of
from core import artefacts
from core.errors import ArtefactError, ParallaxError
from evaluation.models import TrainedModel
from evaluation.services.serving import opened_model, recommend, warm
from evaluation.services.training import train_on_everything
from recommenders.data import Profiles, Scale
from recommenders.puresvd import PureSVD
from tests.factories.catalog import make_version

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
FIVE = (1.0, 5.0, 1.0)


@pytest.fixture
def model() -> TrainedModel:
    return train_on_everything(
        version=make_version(), algorithm="puresvd", params={"factors": 4}, seed=1, threads=1
    ).model


@pytest.fixture
def fresh() -> Iterator[None]:
    """Nothing kept open from other tests, and nothing left for them."""
    opened_model.cache_clear()
    artefacts.clear_cache()
    yield
    opened_model.cache_clear()
    artefacts.clear_cache()


def test_list_is_what_the_fitted_model_ranks_first(model: TrainedModel) -> None:
    ratings = ratings_of(model.version)
    fitted = PureSVD.fit(ratings, PureSVD.Params(factors=4), rng=np.random.default_rng(0))
    items, values = [0, 3, 8, 11, 20], [5.0, 1.0, 4.0, 2.0, 3.0]
    served = recommend(model=model, items=items, ratings=values, scale=FIVE, n=5)
    scores = fitted.score(Profiles.single(items, values, model.version.n_items, Scale(*FIVE)))[0]
    scores[items] = -np.inf
    assert served.items == tuple(np.argsort(-scores, kind="stable")[:5].tolist())
    assert served.scores == pytest.approx(tuple(scores[list(served.items)]))
    assert served.is_filled == (False,) * 5
    assert served.digest == model.digest
    assert served.seconds > 0


def test_ratings_on_another_scale_are_mapped_to_that_of_the_training_data(model: TrainedModel) -> None:
    on_five = recommend(model=model, items=[0, 1], ratings=[5.0, 1.0], scale=FIVE, n=5)
    on_ten = recommend(model=model, items=[0, 1], ratings=[9.0, 1.0], scale=(1.0, 9.0, 1.0), n=5)
    assert on_five.items == on_ten.items
    assert on_five.scores == pytest.approx(on_ten.scores)


def test_items_of_the_profile_are_never_recommended(model: TrainedModel) -> None:
    items = list(range(30))
    served = recommend(model=model, items=items, ratings=[4.0] * 30, scale=FIVE, n=40)
    assert len(served.items) == 10
    assert not set(served.items) & set(items)


def test_empty_profile_is_filled_by_popularity_and_says_so(model: TrainedModel) -> None:
    served = recommend(model=model, items=[], ratings=[], scale=FIVE, n=3)
    counts = ratings_of(model.version).item_counts
    assert served.items == tuple(np.lexsort((np.arange(len(counts)), -counts))[:3].tolist())
    assert served.scores == (None, None, None)
    assert served.is_filled == (True, True, True)


@pytest.mark.parametrize(
    ("items", "values", "words"),
    [([0, 0], [1.0, 2.0], "twice"), ([99], [1.0], "no item number 99"), ([1], [7.0], "outside the scale")],
)
def test_bad_profile_is_refused_in_a_sentence(
    model: TrainedModel, items: list[int], values: list[float], words: str
) -> None:
    with pytest.raises(ParallaxError, match=words) as refused:
        recommend(model=model, items=items, ratings=values, scale=FIVE, n=5)
    assert refused.value.code == "model.bad_profile"


def test_model_is_opened_once_a_process(model: TrainedModel, fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    warm(model=model)
    monkeypatch.setattr(artefacts, "load", None)
    assert len(recommend(model=model, items=[1], ratings=[5.0], scale=FIVE, n=5).items) == 5


def test_model_with_damaged_bytes_is_refused(model: TrainedModel, fresh: None, settings: Any) -> None:
    file = settings.VAR_DIR / "artefacts" / "models" / model.digest / "item_factors.npy"
    whole = file.read_bytes()
    try:
        file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(ArtefactError) as refused:
            recommend(model=model, items=[1], ratings=[5.0], scale=FIVE, n=5)
        assert refused.value.code == "artefact.damaged"
        file.unlink()
        with pytest.raises(ArtefactError) as refused:
            recommend(model=model, items=[1], ratings=[5.0], scale=FIVE, n=5)
        assert refused.value.code == "artefact.missing"
    finally:
        file.write_bytes(whole)


def test_model_of_another_version_of_its_algorithm_is_refused(
    model: TrainedModel, fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PureSVD, "version", 99)
    with pytest.raises(ArtefactError, match=r"version 99"):
        warm(model=model)


def test_model_whose_library_is_gone_is_refused_with_what_to_install(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("implicit", reason="implicit is not installed")
    theirs = train_on_everything(
        version=make_version(), algorithm="implicit-cosine", params={}, seed=1, threads=1
    ).model  # fmt: skip
    assert len(recommend(model=theirs, items=[1], ratings=[5.0], scale=FIVE, n=5).items) == 5
    opened_model.cache_clear()
    monkeypatch.setitem(sys.modules, "implicit", None)  # as Python marks what cannot be imported
    with pytest.raises(ArtefactError, match=r"pip install implicit==") as refused:
        recommend(model=theirs, items=[1], ratings=[5.0], scale=FIVE, n=5)
    assert refused.value.code == "model.no_algorithm"


def test_stored_model_is_plain_arrays_and_json(model: TrainedModel, settings: Any) -> None:
    folder = settings.VAR_DIR / "artefacts" / "models" / model.digest
    assert sorted(file.name for file in folder.iterdir()) == ["item_factors.npy", "meta.json", "popularity.npy"]
    meta = json.loads((folder / "meta.json").read_text())
    assert meta["meta"] == {
        "algorithm": "puresvd",
        "version": PureSVD.version,
        "params": {"factors": 4},
        "scale": [1.0, 5.0, 1.0],
    }
