"""Re-ranked models: trained over their base, measured as served, and refused where the data lack what they need."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db.models import ProtectedError
from django.http import QueryDict
from django.utils import timezone
from pydantic import ValidationError

from accounts.models import Project
from catalog.models import Feature
from catalog.selectors.ratings import features_of
from core import artefacts
from core.errors import ArtefactError, ParallaxError
from core.provenance import digest_of
from evaluation.enums import PartKind, PartStatus
from evaluation.experiments.schema import Contender
from evaluation.forms.algorithm_rows import AlgorithmRows
from evaluation.models import EvaluationRun, RunPart, TrainedModel
from evaluation.protocols.observations import NOT_A_PREDICTOR
from evaluation.run_spec import RunSpec, named_algorithms, written
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.serializers import ModelSerializer
from evaluation.services import training
from evaluation.services.parts import leasable_parts, lease_part
from evaluation.services.recommend_for_profile import try_models
from evaluation.services.run_inputs import spec_of_run
from evaluation.services.serving import explain, opened_model, recommend, warm
from evaluation.services.training import base_recipe_of, features_digest, train_on_everything
from evaluation.services.worker_loop import execute
from parallax.integrity.artefacts import check_algorithms, check_artefacts
from recommenders import registry
from recommenders.data import ItemFeatures, Profiles
from recommenders.puresvd import PureSVD
from tests.factories.catalog import make_items, make_version
from tests.factories.evaluation import make_run, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

FIVE = (1.0, 5.0, 1.0)
TEXT = (
    "puresvd:factors=4, puresvd:factors=4|mmr:strength=0.6, puresvd:factors=4|popularity:strength=0.5, "
    "puresvd:factors=4|calibration:strength=0.7, puresvd:factors=4|mmr:strength=0"
)
FULL = {"name": "full-ranking", "relevant": 4.0, "irrelevant": 2.0}


def train(text: str, version: Any = None, **changes: Any) -> TrainedModel:
    ((key, params),) = named_algorithms(text)
    inputs: dict[str, Any] = {"algorithm": key, "params": params, "seed": 1, "threads": 1, **changes}
    return train_on_everything(version=version or make_version(), **inputs).model


def lists_of(run: EvaluationRun, algorithm: Any, n: int) -> dict[int, list[int]]:
    """What each test user would be served by the algorithm's model."""
    cases = cases_of(run)
    ratings = training_rows(cases.profiles_digest)
    served = {}
    for user in np.unique(cases.cases.users).tolist():
        row = ratings.user_items[[int(np.searchsorted(cases.profiled, user))]]
        profile = {"items": row.indices.tolist(), "ratings": row.data.tolist(), "scale": FIVE}
        served[user] = list(recommend(model=algorithm.model, n=n, **profile).items)
    return served


def test_model_is_stored_over_its_base() -> None:
    version = make_version()
    model = train("puresvd:factors=4|mmr:strength=0.6,kinds=genre", version)
    base = model.base
    assert base is not None
    assert TrainedModel.objects.count() == 2
    assert (base.label, base.origin, base.base, base.provenance) == ("PureSVD4", "fitted", None, {})
    assert (model.label, model.origin) == ("PureSVD4 + MMR 0.6 (genre)", "fitted")
    assert model.training_digest == base.training_digest
    stored = artefacts.load("models", model.digest)
    assert set(stored.arrays) == {"indptr", "indices", "values"}  # none of the base
    assert stored.meta["base"] == base.digest
    features = features_of(version)
    columns = [at for at, (kind, _) in enumerate(features.terms) if kind == "genre"]
    genres = ItemFeatures(features.item_terms[:, columns], tuple(features.terms[at] for at in columns))
    settings = {
        "method": "mmr",
        "version": 1,
        "strength": 0.6,
        "kinds": "genre",
        "candidates": 200,
        "places": 20,
        "features": features_digest(features=genres),
    }
    assert model.provenance == {"base": base.digest, "reranking": settings}
    assert model.recipe == digest_of({"base": base.recipe, **settings})
    opened = opened_model(model.digest)
    assert opened.base is opened_model(base.digest)  # type: ignore[attr-defined]  # held once
    with pytest.raises(ProtectedError):
        base.delete()
    model.delete()
    base.delete()


def test_only_the_named_features_and_settings_make_another_model() -> None:
    version = make_version()
    model = train("puresvd:factors=4|mmr:strength=0.6,kinds=genre", version)
    Feature.objects.create(item=version.items.get(index=0), kind="tag", value="new")
    recipe = {
        "version": version,
        "training_digest": model.training_digest,
        "algorithm": model.algorithm,
        "seed": 1,
        "threads": 1,
    }
    assert training.recipe_of(params=model.params, **recipe) == model.recipe
    others = [{"mmr_strength": 0.5}, {"mmr_kinds": "all"}, {"factors": 5}]
    assert (
        len({training.recipe_of(params={**model.params, **other}, **recipe) for other in others} | {model.recipe}) == 4
    )
    assert base_recipe_of(params=model.params, **recipe) == model.base.recipe  # type: ignore[union-attr]
    assert base_recipe_of(**{**recipe, "algorithm": "puresvd"}, params={"factors": 4}) == ""


@pytest.mark.parametrize("protocol", ["one-plus-random", "full-ranking"])
def test_metrics_of_a_run_are_those_of_the_lists_served(protocol: str) -> None:
    settings = {} if protocol == "one-plus-random" else {"protocol": FULL}
    run = work_off(
        make_run(algorithms=TEXT, metrics="recall@3" if settings else "", n=3, profile_lengths=(), **settings)
    )
    assert run.status == "succeeded", run.error
    base, *reranked, unchanged = run.algorithms.all()
    cases = cases_of(run).cases
    hit_rates = {}
    for algorithm in (base, *reranked, unchanged):
        assert algorithm.model is not None
        lists = lists_of(run, algorithm, cases.n_items)
        name = "recall@3" if settings else "recall"
        measured = algorithm.results.get(metric=name, profile_length=0)
        shares: dict[int, list[float]] = {}
        for case in np.flatnonzero(cases.is_relevant).tolist():
            user, item = int(cases.users[case]), int(cases.items[case])
            rivals = set(cases.candidates(case).tolist()) | {item}
            listed = lists[user] if settings else [each for each in lists[user] if each in rivals]
            shares.setdefault(user, []).append(float(item in listed[:3]))
        by_user = [float(np.mean(hits)) for hits in shares.values()]
        pooled = [hit for hits in shares.values() for hit in hits]
        expected = np.mean(by_user) if settings else np.mean(pooled)
        assert measured.value == pytest.approx(float(expected), abs=1e-12)
        hit_rates[algorithm.label] = measured.value
    assert hit_rates["PureSVD4 + MMR 0"] == hit_rates["PureSVD4"]
    assert len(set(hit_rates.values())) >= 3
    assert [each.model.base for each in reranked] == [base.model] * 3  # type: ignore[union-attr]
    assert not base.was_reused  # fitted first, and once
    assert TrainedModel.objects.filter(algorithm="puresvd").count() == 1


def test_rating_errors_are_not_measurable() -> None:
    protocol = {"name": "rating-prediction", "relevant": 4.0, "irrelevant": 2.0}
    text = "puresvd:factors=4|popularity, userknn-pearson|popularity"
    run = work_off(make_run(algorithms=text, protocol=protocol, profile_lengths=()))
    assert run.status == "succeeded", run.error
    rows = [row for algorithm in run.algorithms.all() for row in algorithm.results.all()]
    assert {row.metric.partition("(")[0] for row in rows} == {"rmse", "mae", "nmae", "prediction-coverage"}
    assert {row.value for row in rows} == {None}
    assert {row.reason for row in rows} == {NOT_A_PREDICTOR}


def test_label_that_no_table_holds_is_refused_with_the_run() -> None:
    text = (
        "asysvd:factors=4,epochs=3,learning_rate=0.015,reg=0.025,reg_item=22.5,reg_user=12.5,held_out=0.15,spread=0.35"
        "|mmr:strength=0.25"
    )
    with pytest.raises(ParallaxError, match=r"tables hold 80\. Change fewer parameters") as refusal:
        make_run(algorithms=text)
    assert refusal.value.code == "run.bad_input"


def test_served_list_preview_and_explanations() -> None:
    version = make_version()
    model = train("itemitem|mmr:strength=0.6", version)
    assert model.base is not None
    warm(model=model)
    profile: dict[str, Any] = {"items": [0, 3, 8], "ratings": [5.0, 4.0, 1.0], "scale": FIVE}
    long = recommend(model=model, n=20, **profile)
    short = recommend(model=model, n=5, **profile)
    assert (short.items, short.digest) == (long.items[:5], model.digest)
    assert short.scores == (-1.0, -2.0, -3.0, -4.0, -5.0)
    left_out = recommend(model=model, n=5, left_out=[long.items[1]], **profile)
    assert left_out.items == (long.items[0], *long.items[2:6])
    scores = opened_model(model.digest).score(
        Profiles.single([0, 3, 8], [5.0, 4.0, 1.0], 40, opened_model(model.digest).scale)
    )
    scores[0, [0, 3, 8]] = -np.inf
    assert long.items[:20] == tuple(np.argsort(-scores[0], kind="stable")[:20].tolist())
    ours, theirs = (explain(model=each, of=short.items, **profile) for each in (model, model.base))
    assert [each.contributions.tolist() for each in ours if each] == [
        each.contributions.tolist() for each in theirs if each
    ]
    (trial,) = try_models(
        version=version, models=[model], ratings=dict(zip([0, 3, 8], [5, 4, 1], strict=True)), scale=FIVE, n=5
    )
    assert not trial.problem
    assert [line.item.index for line in trial.lines] == list(short.items)
    assert trial.explains
    assert not trial.is_rating
    assert ModelSerializer(model).data["base"] == model.base.digest


def test_command_prints_the_re_ranked_list() -> None:
    version = make_version()
    output = StringIO()
    options = {"algorithm": "puresvd:factors=4|mmr:strength=0.6", "profile": "1:5,4:4", "n": 4, "threads": 1}
    call_command("recommend", "small", stdout=output, **options)
    lines = output.getvalue().splitlines()
    assert lines[0] == f"PureSVD4 + MMR 0.6 on {version}, for a profile of 2"
    model = TrainedModel.objects.get(algorithm="puresvd|mmr")
    served = recommend(model=model, items=[0, 3], ratings=[5.0, 4.0], scale=FIVE, n=4)
    titles = [str(version.items.get(index=index)) for index in served.items]
    assert [title in line for title, line in zip(titles, lines[1:], strict=True)] == [True] * 4


def test_run_is_refused_where_the_data_lack_the_features() -> None:
    items = tuple(replace(item, features=(), plot="") for item in make_items(40))
    version = make_version(items=items)
    with pytest.raises(ParallaxError, match="no item features of kind genre; the kinds it has: none") as refusal:
        make_run(version=version, algorithms="toppop, puresvd:factors=4|calibration")
    assert refusal.value.code == "run.bad_input"
    run = make_run(version=version, algorithms="puresvd:factors=4|popularity")
    assert run.algorithms.get().params == {"factors": 4, "popularity_strength": 0.3}
    with pytest.raises(ParallaxError, match="must be at most 1"):
        make_run(version=version, algorithms="toppop|popularity:strength=2")


def test_default_of_the_base_is_lowered_to_what_the_data_allow() -> None:
    run = make_run(algorithms="puresvd|popularity")
    assert run.algorithms.get().params["factors"] == 40
    assert "PureSVD40 + Popularity 0.3 was trained with factors=40" in " ".join(run.comments)


def test_no_two_workers_fit_one_base() -> None:
    run = make_run(algorithms="puresvd:factors=4|popularity, puresvd:factors=4|mmr, toppop, puresvd:factors=4")
    prepare = lease_part(run=run)
    assert prepare is not None
    execute(part=prepare)
    fits = run.parts.filter(kind=PartKind.FIT)
    assert [part.algorithm.algorithm for part in fits.select_related("algorithm")][2:] == [
        "puresvd|popularity",
        "puresvd|mmr",
    ]  # type: ignore[union-attr]
    by_key = {part.algorithm.algorithm: part for part in fits.select_related("algorithm")}  # type: ignore[union-attr]
    later = timezone.now() + timedelta(minutes=5)

    def waiting(key: str) -> set[str]:
        """The fits that wait while a worker has this one."""
        RunPart.objects.filter(pk=by_key[key].pk).update(status=PartStatus.LEASED, leased_until=later)
        ready = set(leasable_parts(run=run).filter(kind=PartKind.FIT).values_list("algorithm__algorithm", flat=True))
        RunPart.objects.filter(pk=by_key[key].pk).update(status=PartStatus.QUEUED, leased_until=None)
        return set(by_key) - ready - {key}

    assert waiting("puresvd") == {"puresvd|popularity", "puresvd|mmr"}
    assert waiting("puresvd|mmr") == {"puresvd", "puresvd|popularity"}
    assert waiting("toppop") == set()
    assert work_off(run).status == "succeeded"


def test_base_of_a_stored_model_needs_no_memory_for_a_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    run = work_off(make_run(algorithms="puresvd:factors=4"))
    monkeypatch.setattr(PureSVD, "fit", None)
    monkeypatch.setattr("evaluation.services.memory.available_bytes", lambda: 10)
    again = work_off(make_run(version=run.version, algorithms="puresvd:factors=4|popularity"))
    assert again.status == "succeeded", again.error
    assert again.algorithms.get().model.base == run.algorithms.get().model  # type: ignore[union-attr]


def test_damaged_base_is_noticed_when_the_model_is_reused() -> None:
    version = make_version()
    model = train("puresvd:factors=4|popularity", version)
    assert model.base is not None
    artefacts.remove("models", model.base.digest)
    artefacts.clear_cache()
    opened_model.cache_clear()
    with pytest.raises(ArtefactError):
        train("puresvd:factors=4|popularity", version)


def test_check_of_the_installation_knows_the_base() -> None:
    version = make_version()
    model = train("puresvd:factors=4|popularity", version)
    assert list(check_artefacts()) == []
    assert list(check_algorithms()) == []
    other = train("toppop", version)
    TrainedModel.objects.filter(pk=model.pk).update(base=other)
    (found,) = check_artefacts()
    assert (found.code, found.ids) == ("model.other_base", {"model": [model.pk]})
    assert other.digest[:12] in found.what
    TrainedModel.objects.filter(pk=model.pk).update(base=model.base, training_digest="")  # rows that are not known
    assert list(check_artefacts()) == []


def test_run_with_folds_trains_a_base_for_each() -> None:
    run = work_off(
        make_run(algorithms="puresvd:factors=4|popularity", split={"name": "k-fold", "k": 3}, profile_lengths=())
    )
    assert run.status == "succeeded", run.error
    assert TrainedModel.objects.filter(base__isnull=False).count() == 3
    assert TrainedModel.objects.filter(base=None).count() == 3


def test_base_of_another_projects_run_is_not_shown(django_user_model: Any) -> None:
    run = work_off(make_run(algorithms="puresvd:factors=4|popularity"))
    project = Project.objects.create(name="theirs")
    EvaluationRun.objects.filter(pk=run.pk).update(project=project)
    stranger = django_user_model.objects.create_user("stranger@example.org")
    assert not TrainedModel.objects.visible_to(stranger).exists()


def test_settings_as_text_fill_the_form_and_are_written_again() -> None:
    text = "puresvd:factors=4|mmr:strength=0.6,kinds=genre+tag, toppop"
    algorithms = named_algorithms(text)
    assert algorithms == [
        ("puresvd|mmr", {"factors": 4, "mmr_strength": 0.6, "mmr_kinds": "genre+tag"}),
        ("toppop", {}),
    ]
    assert written(algorithms) == text
    rows = AlgorithmRows.of(algorithms)
    assert rows.rows[0].label == "PureSVD4 + MMR 0.6 (genre+tag)"
    assert set(rows.rows[0].form.fields) == {"factors", "mmr_strength", "mmr_kinds"}
    run = make_run(algorithms="puresvd:factors=4|mmr:strength=0.6")
    assert spec_of_run(run=run).algorithms == (
        ("puresvd|mmr", {"factors": 4, "mmr_strength": 0.6, "mmr_kinds": "all"}),
    )
    with pytest.raises(ParallaxError, match="listed twice"):
        RunSpec.of(
            algorithms="puresvd|mmr, puresvd|mmr:strength=0.3",
            split={"name": "probe"},
            protocol={"name": "full-ranking"},
        )


def test_experiment_names_an_algorithm_as_commands_do() -> None:
    contender = Contender.model_validate({"algorithm": "puresvd|mmr:strength=0.6", "factors": 4})
    assert (contender.algorithm, contender.params) == ("puresvd|mmr", {"factors": 4, "mmr_strength": "0.6"})
    assert registry.label(contender.algorithm, contender.params) == "PureSVD4 + MMR 0.6"
    apart = Contender.model_validate({"algorithm": "puresvd|mmr", "factors": 4, "mmr_strength": 0.6})
    assert registry.params_of(apart.algorithm, apart.params) == registry.params_of(
        contender.algorithm, contender.params
    )
    with pytest.raises(ValidationError, match="factors is stated twice"):
        Contender.model_validate({"algorithm": "puresvd:factors=4|mmr", "factors": 4})


def test_posted_rows_keep_a_re_ranked_algorithm() -> None:
    data = QueryDict("row=0:puresvd|mmr&row=1:puresvd|nothing&row0-factors=4&row0-mmr_strength=0.6&row0-mmr_kinds=all")
    assert AlgorithmRows.posted(data, is_checked=True).named_settings() == [
        ("puresvd|mmr", {"factors": 4, "mmr_strength": 0.6})
    ]
