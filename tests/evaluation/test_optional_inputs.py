"""Item fields, times and order in recipes, fits, measurements and served lists, for classes that ask for them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from catalog.models import DatasetVersion, Item
from catalog.selectors import item_fields
from catalog.selectors.item_fields import items_of
from catalog.selectors.ratings import ratings_of, timestamps_of
from catalog.services import import_parsed
from core.errors import ArtefactError, DataError, ParallaxError
from evaluation.enums import PartKind
from evaluation.models import TrainedModel
from evaluation.run_spec import RunSpec
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.runs import failed_algorithms
from evaluation.services import optional_inputs
from evaluation.services.recommend_for_profile import try_models
from evaluation.services.serving import explain, opened_model, recommend
from evaluation.services.training import recipe_of, store_training_rows, train_on_everything
from evaluation.services.tuning import Budget, search
from recommenders import registry
from recommenders.data import History, Profiles, Scale
from recommenders.popularity import TopPop
from recommenders.search_space import Space
from tests.factories.catalog import make_items, make_parsed
from tests.factories.evaluation import make_run, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "how-to" / "your-own-sequential-algorithm"))
from parallax_markov import Markov  # noqa: E402 — the example is not installed

FIVE = (1.0, 5.0, 1.0)
FULL = {"name": "full-ranking", "relevant": 4.0}


class Recording(Markov):
    """The example, noting the profiles that it scores."""

    key, name = "recording", "Recording"
    seen: ClassVar[list[Profiles]] = []

    def _score_profiles(self, profiles):
        self.seen.append(profiles)
        return super()._score_profiles(profiles)


class Described(TopPop):
    """Popularity, and for equally popular items the year and the length of the description."""

    key, name = "described", "Described"
    item_fields = frozenset({"ids", "titles", "years", "texts", "features"})

    def _score(self, user_items):
        items = self.items
        assert len(items.ids) == len(items.titles) == items.features.n_items == self.n_items
        lengths = np.array([len(text) for text in items.texts[""]])
        return super()._score(user_items) + items.years / 1e6 + lengths / 1e9


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    kinds = (Markov, Recording, Described)
    points = [EntryPoint(kind.key, f"{__name__}:{kind.__name__}", registry.ENTRY_POINT_GROUP) for kind in kinds]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    Recording.seen.clear()
    yield
    opened_model.cache_clear()


def timed_version(name: str = "timed", shift: int = 0) -> DatasetVersion:
    """Ratings with times, in no order of items; `shift` seconds later for every third."""
    parsed = make_parsed()
    rng = np.random.default_rng(7)
    times = 10**9 + rng.permutation(parsed.n_ratings) * 60
    times[::3] += shift
    parsed = replace(parsed, timestamps=times.astype(np.int64))
    return import_parsed(parsed=parsed, name=name, title=name, source_format="factory", is_synthetic=True)


def untimed_version(**options: Any) -> DatasetVersion:
    return import_parsed(
        parsed=make_parsed(**options), name="untimed", title="u", source_format="factory", is_synthetic=True
    )


def time_of(version: DatasetVersion) -> dict[tuple[int, int], int]:
    users, items, _ = ratings_of(version).triples()
    return dict(zip(zip(users.tolist(), items.tolist(), strict=True), timestamps_of(version).tolist(), strict=True))


def train(version: DatasetVersion, key: str) -> TrainedModel:
    return train_on_everything(version=version, algorithm=key, params={}, seed=1, threads=1).model


@pytest.mark.parametrize(
    "split",
    [
        {"name": "probe", "share": 0.2},
        {"name": "strangers", "share": 0.2, "given": 0, "given_share": 0.8},
        {"name": "k-fold", "k": 3},
    ],
    ids=lambda split: split["name"],
)
def test_a_run_gives_fits_and_profiles_the_times_of_their_users(split: dict[str, Any]) -> None:
    version = timed_version()
    made = make_run(version=version, algorithms="recording,toppop", split=split, protocol=FULL, profile_lengths=(3,))
    run = work_off(made)
    assert not failed_algorithms(run)
    known = time_of(version)
    for fold in range(len(run.folds) or 1):
        cases = cases_of(run, fold)
        rows = training_rows(cases.training_digest)
        users, items, _ = rows.triples()
        times = np.array([known[int(cases.trained[user]), int(item)] for user, item in zip(users, items, strict=True)])
        direct = Markov.fit(replace(rows, times=times), rng=np.random.default_rng(0))
        part = run.parts.get(kind=PartKind.FIT, fold=fold, algorithm__algorithm="recording")
        stored = opened_model(part.model.digest)
        assert stored.shares.tobytes() == direct.shares.tobytes()
    by_user: dict[int, set[tuple[int, int]]] = {}
    for (user, item), time in known.items():
        by_user.setdefault(user, set()).add((item, time))
    lengths = set()
    for profiles in Recording.seen:
        entries = np.split(np.arange(profiles.user_items.nnz), profiles.user_items.indptr[1:-1])
        for own in entries if profiles.n_profiles else []:
            pairs = set(zip(profiles.user_items.indices[own].tolist(), profiles.times[own].tolist(), strict=True))
            assert any(pairs <= of_user for of_user in by_user.values())
            lengths.add(len(pairs))
        assert profiles.order_kind == "consumption"
    assert 3 in lengths  # the short profiles too
    assert max(lengths) > 3


def test_times_and_items_are_in_the_recipes_of_classes_that_ask() -> None:
    first, later = timed_version("first"), timed_version("later", shift=10**6)
    digests = [store_training_rows(ratings=ratings_of(version)) for version in (first, later)]
    assert digests[0] == digests[1]  # the times are beside the rows, not in them

    def recipe(version: DatasetVersion, key: str) -> str:
        params = registry.params_of(key).as_dict()
        return recipe_of(version=version, training_digest=digests[0], algorithm=key, params=params, seed=1, threads=1)

    assert recipe(first, "toppop") == recipe(later, "toppop")
    assert recipe(first, "markov") != recipe(later, "markov")
    assert recipe(first, "described") == recipe(later, "described")
    renamed = make_parsed(items=tuple(replace(item, title=f"{item.title}!") for item in make_items(40)))
    other = import_parsed(parsed=renamed, name="other", title="o", source_format="factory", is_synthetic=True)
    assert recipe(other, "toppop") == recipe(first, "toppop")
    assert recipe(other, "described") != recipe(first, "described")


def test_a_dataset_without_times_is_refused_before_anything_is_learned() -> None:
    version = untimed_version()
    with pytest.raises(ParallaxError, match=r"Markov \(markov\): the algorithm needs the time of each rating"):
        train(version, "markov")
    with pytest.raises(DataError, match="has no times of ratings"):
        optional_inputs.with_times(ratings_of(version), version, None)
    with pytest.raises(DataError, match="Rows of 60 users cannot have the times of 2 users"):
        optional_inputs.with_times(ratings_of(version), timed_version(), np.array([0, 1]))


def test_a_stored_model_has_the_items_that_it_was_trained_with(monkeypatch: pytest.MonkeyPatch) -> None:
    version = timed_version()
    model = train(version, "described")
    opened = opened_model(model.digest)
    assert opened.items.ids == tuple(version.items.order_by("index").values_list("external_id", flat=True))
    assert opened.items.fields == Described.item_fields
    served = recommend(model=model, items=[3], ratings=[5.0], scale=FIVE, n=5)
    years = dict(version.items.values_list("index", "year"))
    assert served.scores[0] == pytest.approx(
        opened.popularity[served.items[0]] + years[served.items[0]] / 1e6, abs=1e-6
    )
    with pytest.raises(DataError, match="'images' was not asked for"):
        opened.items.images  # noqa: B018 — a property
    # Rows never change under a hash; where they did all the same, the model is not served with other items.
    Item.objects.filter(version=version, index=0).update(title="Another")
    item_fields._column.cache_clear()
    optional_inputs._field_digest.cache_clear()
    opened_model.cache_clear()
    with pytest.raises(ArtefactError, match="no dataset of the model"):
        opened_model(model.digest)


def test_fields_are_read_once_for_a_version() -> None:
    version = timed_version()
    first, second = items_of(version, {"titles", "texts"}), items_of(version, {"titles", "ids"})
    assert first.titles is second.titles
    assert first.texts[""][4] == "A short story about number 5."
    Item.objects.filter(version=version, index=1).update(texts={"it": {"title": "Uno", "plot": "Una storia."}})
    item_fields._column.cache_clear()
    texts = items_of(version, {"texts"}).texts
    assert (sorted(texts), texts["it"][:3]) == (["", "it"], ("", "Una storia.", ""))
    assert items_of(version, {"images"}).images == ("",) * 40
    assert items_of(version, {"years"}).years[:2].tolist() == [1980, 1981]


def test_a_served_list_follows_the_order_of_its_profile() -> None:
    version = timed_version()
    model = train(version, "markov")
    profile: dict[str, Any] = {"items": [0, 1, 2], "ratings": [5.0, 4.0, 5.0], "scale": FIVE}
    opened = opened_model(model.digest)
    for order in ([1, 2, 3], [3, 2, 1]):
        history = History("rating", order=order)
        served = recommend(model=model, n=4, left_out=[5], history=history, **profile)
        scores = opened.score(Profiles.single([0, 1, 2], [5, 4, 5], 40, Scale(*FIVE), history))[0]
        best = [item for item in np.argsort(-scores, kind="stable").tolist() if item not in {0, 1, 2, 5}][:4]
        assert sorted(served.items) == sorted(best)
        assert explain(model=model, of=served.items, history=history, **profile) == (None,) * 4
    forward, backward = (
        recommend(model=model, n=4, history=History("rating", order=order), **profile).scores
        for order in ([1, 2, 3], [3, 2, 1])
    )
    assert forward != backward
    (tried,) = try_models(version=version, models=[model], ratings={0: 5.0, 1: 4.0, 2: 5.0}, scale=FIVE, n=4)
    assert not tried.problem
    assert [line.item.index for line in tried.lines] == list(
        recommend(model=model, n=4, history=History("rating", order=[1, 2, 3]), **profile).items
    )


def test_parameters_are_tuned_with_times() -> None:
    spec = RunSpec.of(
        algorithms="recording",
        split={"name": "holdout", "share": 0.3},
        protocol=FULL,
        metrics="recall@5",
        reserve=0.1,
        threads=1,
    )
    found = search(version=timed_version(), spec=spec, space=Space(grid="decay=0.1,0.9"), budget=Budget())
    assert [trial.reason for trial in found.trials] == ["", ""]
    assert {profiles.order_kind for profiles in Recording.seen if profiles.n_profiles} == {"consumption"}
