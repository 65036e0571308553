"""What models give to a made-up profile, and why: the service behind the page that tries them."""

from __future__ import annotations

import numpy as np
import pytest

from catalog.models import DatasetVersion
from catalog.selectors.ratings import ratings_of
from core.errors import ParallaxError
from evaluation.models import TrainedModel
from evaluation.selectors.models import models_on
from evaluation.services.recommend_for_profile import try_models
from evaluation.services.serving import explain, recommend
from evaluation.services.training import train_on_everything
from recommenders.puresvd import PureSVD
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run_at

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
FIVE = (1.0, 5.0, 1.0)
PROFILE = {0: 5.0, 3: 1.0, 8: 4.0}


def train(version: DatasetVersion, algorithm: str, **params: object) -> TrainedModel:
    return train_on_everything(version=version, algorithm=algorithm, params=params, seed=1, threads=1).model


@pytest.fixture
def version() -> DatasetVersion:
    return make_version()


def number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def test_explanations_are_those_of_the_fitted_model(version: DatasetVersion) -> None:
    model = train(version, "puresvd", factors=4)
    fitted = PureSVD.fit(ratings_of(version), PureSVD.Params(factors=4), rng=np.random.default_rng(0))
    profile = {"items": list(PROFILE), "ratings": list(PROFILE.values()), "scale": FIVE}
    served = recommend(model=model, n=5, **profile)
    explained = explain(model=model, of=served.items, **profile)
    for item, score, one in zip(served.items, served.scores, explained, strict=True):
        assert one is not None
        assert one.items.tolist() == [0, 3, 8]
        assert one.score == pytest.approx(score, abs=1e-9)
        by_hand = fitted.item_factors[[0, 3, 8]] @ fitted.item_factors[item] * [5.0, 1.0, 4.0]
        assert one.contributions == pytest.approx(by_hand)
    with pytest.raises(ParallaxError, match="no item number 99") as refused:
        explain(model=model, of=[1], items=[99], ratings=[4.0], scale=FIVE)
    assert refused.value.code == "model.bad_profile"


def test_each_model_gives_its_list_with_parts_that_make_the_score(version: DatasetVersion) -> None:
    models = [train(version, "nncosngr"), train(version, "toppop"), train(version, "ease", reg=5)]
    tried = try_models(version=version, models=models, ratings=PROFILE, scale=FIVE, n=4)
    assert [one.model for one in tried] == models
    assert [one.explains for one in tried] == [True, False, True]
    assert not any(one.is_rating or one.problem for one in tried)
    for one in tried:
        served = recommend(model=one.model, items=list(PROFILE), ratings=list(PROFILE.values()), scale=FIVE, n=4)
        assert tuple(line.item.index for line in one.lines) == served.items
    assert all(line.why is None for line in tried[1].lines)
    assert all(line.score.isdigit() for line in tried[1].lines)  # numbers of ratings
    for line in (*tried[0].lines, *tried[2].lines):
        assert line.why is not None
        assert line.why.how == "sum"
        values = [number(part.contribution) for part in line.why.parts]
        assert values == sorted(values, reverse=True)
        assert {part.item.index for part in line.why.parts} <= set(PROFILE)
        assert len(line.why.parts) + line.why.n_idle == 3
        start = number(line.why.start) if line.why.start else 0.0
        assert start + sum(values) == pytest.approx(number(line.score), abs=0.003)  # each is rounded
        assert [part.bar.is_against for part in line.why.parts] == [value < 0 for value in values]
    assert all(line.why is not None and line.why.start for line in tried[0].lines)
    assert all(line.why is not None and line.why.n_idle >= 1 for line in tried[2].lines)  # a dislike is no part


def test_predicted_ratings_are_told_apart_from_orders(version: DatasetVersion) -> None:
    (tried,) = try_models(version=version, models=[train(version, "corngr")], ratings=PROFILE, scale=FIVE, n=3)
    assert tried.is_rating


def test_places_filled_by_popularity_have_no_score_and_no_answer(version: DatasetVersion) -> None:
    model = train(version, "itemitem")
    (tried,) = try_models(version=version, models=[model], ratings={3: 1.0}, scale=FIVE, n=3)
    assert [(line.score, line.is_filled, line.why) for line in tried.lines] == [("–", True, None)] * 3


def test_model_that_cannot_be_used_says_so_and_leaves_the_others(
    version: DatasetVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, good = train(version, "puresvd", factors=3), train(version, "toppop")
    missing = train(version, "ease")
    missing.digest = "0" * 64
    monkeypatch.setattr(PureSVD, "version", 99)
    tried = try_models(version=version, models=[gone, missing, good], ratings=PROFILE, scale=FIVE, n=3)
    assert "version 99 is installed" in tried[0].problem
    assert tried[1].problem
    assert tried[0].lines == tried[1].lines == ()
    assert len(tried[2].lines) == 3


def test_independent_chances_make_the_score(version: DatasetVersion) -> None:
    model = train(version, "itemitem", aggregate="noisy-or")
    (tried,) = try_models(version=version, models=[model], ratings={0: 5.0, 1: 4.0}, scale=FIVE, n=3)
    for line in tried.lines:
        assert line.why is not None
        assert line.why.how == "noisy-or"
        left = np.prod([1 - number(part.contribution) for part in line.why.parts])
        assert 1 - left == pytest.approx(number(line.score), abs=0.003)


def test_models_of_a_version_come_by_run_with_their_origin(version: DatasetVersion) -> None:
    alone = train(version, "ease")
    old = make_run_at("succeeded", version=version, algorithms="toppop,puresvd:factors=4")
    new = make_run_at("succeeded", version=version, algorithms="corngr,toppop")
    train(make_version(name="other", seed=2), "toppop")
    found = [(line.model.label, line.origin) for line in models_on(version, UserFactory())]
    assert found == [
        ("CorNgr", f"run {new.pk}"),
        ("TopPop", f"runs {old.pk}, {new.pk}"),
        ("PureSVD4", f"run {old.pk}"),
        (alone.label, "trained outside a run"),
    ]


@pytest.mark.parametrize("n_models", [1, 3])
def test_models_take_two_queries_however_many(
    version: DatasetVersion, n_models: int, django_assert_num_queries: object
) -> None:
    for factors in range(2, 2 + n_models):
        train(version, "puresvd", factors=factors)
    researcher = UserFactory()
    with django_assert_num_queries(2):  # type: ignore[operator]
        assert len(models_on(version, researcher)) == n_models
