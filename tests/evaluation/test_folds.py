"""Runs of splits that train several models: pooled by user, the same however cut, and nothing that a study takes."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.apps import apps

from catalog.models import DatasetVersion
from catalog.services import import_parsed
from core import artefacts
from core.errors import ParallaxError
from evaluation.enums import PartKind, RunStatus
from evaluation.exports import run_document
from evaluation.models import EvaluationRun, MetricResult, RunPart
from evaluation.protocols.fold_pooling import by_user
from evaluation.protocols.outcomes import Outcome, Outcomes
from evaluation.selectors.cases import cases_of, training_rows
from evaluation.selectors.models import models_on
from evaluation.selectors.paired_tests import chosen_on_development, intervals, run_tests_of
from evaluation.selectors.results import model_rows, user_values
from evaluation.selectors.run_comparison import compare_runs
from evaluation.selectors.runs import metric_names, newest_succeeded_run
from evaluation.services.case_files import export_cases
from evaluation.services.parts import describe, lease_part
from evaluation.services.runs import BLOCK_USERS, cancel_run, resume_run
from evaluation.services.worker_loop import execute
from studies.design.services.design import create_study
from studies.team.selectors.studies import runs_to_study
from tests.factories.accounts import UserFactory
from tests.factories.catalog import make_parsed, make_version
from tests.factories.evaluation import make_run, work_off

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
LIMITS = {"relevant": 4.0, "irrelevant": 2.0}
HITS = {"name": "one-plus-random", "negatives": 20, **LIMITS}


def numbers(run: EvaluationRun) -> dict[tuple[str, int, str], Any]:
    return {
        (one.algorithm.label, one.profile_length, one.metric): (one.value, one.reason, one.users_digest)
        for one in MetricResult.objects.filter(algorithm__run=run).select_related("algorithm")
    }


def folded(over: str = "ratings", *, name: str = "one-plus-random", k: int = 3, **kwargs: Any) -> EvaluationRun:
    """A run of k folds."""
    protocol = HITS if name == "one-plus-random" else {"name": name, **LIMITS}
    given = {"profile_lengths": (), "algorithms": "toppop,random", **kwargs}
    return make_run(split={"name": "k-fold", "k": k, "over": over}, protocol=protocol, **given)


def timed() -> DatasetVersion:
    """A dataset whose ratings came one by one, in a random order."""
    parsed = make_parsed()
    times = 1_000_000 + np.random.default_rng(5).permutation(len(parsed.users)).astype(np.int64)
    return import_parsed(
        parsed=replace(parsed, timestamps=times),
        name="timed",
        title="Timed",
        source_format="factory",
        is_synthetic=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("over", ["ratings", "users"])
@pytest.mark.parametrize("name", ["one-plus-random", "full-ranking"])
def test_numbers_are_the_same_however_a_run_of_folds_is_cut(over: str, name: str) -> None:
    version = make_version(n_users=3 * BLOCK_USERS, n_items=40, per_user=9)
    given = {"version": version, "k": 2, "name": name, "profile_lengths": (3,)}
    whole = work_off(folded(over, part_users=100 * BLOCK_USERS, **given))
    cut = work_off(folded(over, part_users=1, **given))
    assert whole.status == cut.status == RunStatus.SUCCEEDED, (whole.error, cut.error)
    assert cut.parts.count() > whole.parts.count()
    assert numbers(whole) == numbers(cut) != {}


def test_folds_over_ratings_hide_every_rating_once_and_pool_a_users_cases() -> None:
    run = work_off(folded(name="rating-prediction", algorithms="userknn-cosine"))
    assert run.status == RunStatus.SUCCEEDED, run.error
    folds = [cases_of(run, fold) for fold in range(3)]
    n_cases = sum(len(one.cases) for one in folds)
    assert run.n_relevant + run.n_irrelevant == n_cases
    assert run.left_out["ratings of reserved users"] == run.version.n_ratings - n_cases
    assert run.left_out["reserved users"] == len(folds[0].reserved)
    keys = np.concatenate([one.cases.users.astype(np.int64) * one.cases.n_items + one.cases.items for one in folds])
    assert len(np.unique(keys)) == len(keys)
    order = np.argsort(keys)
    truth = np.concatenate([one.cases.values for one in folds])[order]
    owners = np.concatenate([one.cases.users for one in folds])[order]
    (row,) = model_rows(run)
    kept = artefacts.load("results", row.users_digest)
    scored = np.isfinite(kept.arrays["scores"])
    errors = (np.clip(kept.arrays["scores"], 1, 5) - truth) ** 2
    name = metric_names(run)[0]
    assert name.startswith("rmse")
    assert row.cells[name].value == pytest.approx(float(np.sqrt(errors[scored].mean())))
    found = user_values(run, name)
    first = scored & (owners == found.user_ids[0])
    assert found.values[0, 0] == pytest.approx(float(np.sqrt(errors[first].mean())))
    assert kept.meta["models"] == list(row.fold_hashes)


def test_a_fold_is_measured_by_the_model_that_has_not_seen_it() -> None:
    run = work_off(folded(algorithms="puresvd:factors=3"))
    for fold in range(3):
        found = cases_of(run, fold)
        trained = training_rows(found.training_digest).user_items.toarray()
        assert not trained[np.searchsorted(found.trained, found.cases.users), found.cases.items].any()
        assert run.parts.get(kind=PartKind.FIT, fold=fold).model.training_digest == found.training_digest
    assert len({run.parts.get(kind=PartKind.FIT, fold=fold).model_id for fold in range(3)}) == 3
    assert run.algorithms.get().model is None


def test_users_of_a_fold_are_scored_by_profiles_that_their_model_was_not_trained_on() -> None:
    run = work_off(folded("users", algorithms="toppop,puresvd:factors=3", profile_lengths=(2,)))
    assert run.status == RunStatus.SUCCEEDED, run.error
    tested: list[int] = []
    for fold in range(3):
        found = cases_of(run, fold)
        users = np.unique(found.cases.users)
        tested += users.tolist()
        assert not np.isin(users, found.trained).any()
        assert np.isin(users, found.profiled).all()
        assert training_rows(found.training_digest).n_users == len(found.trained)
        assert training_rows(found.profiles_digest).n_users == len(found.profiled)
    assert len(set(tested)) == len(tested)
    assert set(user_values(run, "recall").user_ids.tolist()) <= set(tested)


@pytest.mark.parametrize("name", ["full-ranking", "test-observations"])
def test_a_users_lists_from_several_models_are_drawn_together(name: str) -> None:
    own = ("half-life", "roc-area")
    if name == "full-ranking":
        own = ("novelty@5", "recall@5", "catalogue-coverage@5", "arp@5", "popularity-lift@5", "calibration@5")
    run = work_off(folded(name=name, metrics=("serendipity@5", "precision@5", *own)))
    assert run.status == RunStatus.SUCCEEDED, run.error
    users = np.unique(np.concatenate([cases_of(run, fold).cases.users for fold in range(3)]))
    for metric, value in ((metric, row) for row in model_rows(run) for metric, row in row.cells.items()):
        found = user_values(run, metric)
        assert np.array_equal(found.user_ids, users)
        assert value.value is None or np.isfinite(value.value)
    for row in model_rows(run):
        serendipity, precision = (row.cells[key].value for key in ("serendipity@5", "precision@5"))
        assert serendipity == 0 if row.label == "TopPop" else 0 < serendipity <= precision, row.label
    if name == "full-ranking":
        by_label = intervals(run, "recall@5")
        assert by_label["TopPop"][1] is not None  # the mean over users, so it has an interval
        cells = {row.label: row.cells for row in model_rows(run)}
        most = cells.pop("TopPop")
        for metric in ("arp@5", "popularity-lift@5"):
            assert all(most[metric].value > others[metric].value for others in cells.values())
    assert run_tests_of(run)


def test_exact_times_train_a_model_for_every_test_user() -> None:
    run = work_off(
        make_run(
            version=timed(),
            split={"name": "temporal-exact", "test_users": 8},
            protocol={"name": "full-ranking", **LIMITS},
            algorithms="toppop",
            profile_lengths=(),
        )
    )
    assert run.status == RunStatus.SUCCEEDED, run.error
    skipped = run.counted["folds without a case, for which nothing is trained"]
    assert len(run.folds) + skipped == 8
    assert run.parts.filter(kind=PartKind.FIT).count() == len(run.folds)
    users = [np.unique(cases_of(run, fold).cases.users).tolist() for fold in range(len(run.folds))]
    assert all(len(one) == 1 for one in users)
    assert user_values(run, "recall@5").user_ids.tolist() == sorted(one[0] for one in users)
    assert any("cannot use" in said for said in run.comments)


def test_run_of_folds_goes_on_where_it_stopped() -> None:
    whole = work_off(folded())
    run = folded(version=whole.version)
    for _ in range(4):
        part = lease_part(run=run)
        assert part is not None
        execute(part=part)
    waiting = lease_part(run=run)
    assert waiting is not None
    assert describe(waiting).startswith(("Fitting TopPop, fold", "Fitting Random, fold"))
    run.refresh_from_db()
    cancel_run(run=run)
    resumed = work_off(resume_run(run=run))
    assert resumed.status == RunStatus.SUCCEEDED
    assert numbers(resumed) == numbers(whole)
    assert describe(resumed.parts.filter(kind=PartKind.MEASURE).first()).count("fold 1 of 3") == 1


def test_what_several_models_cannot_do_is_refused_in_words(tmp_path: Path) -> None:
    run, researcher = work_off(folded()), UserFactory()
    assert newest_succeeded_run(run.version) is None
    assert run not in runs_to_study(researcher)
    assert models_on(run.version, researcher) == []
    assert chosen_on_development(run) is None
    with pytest.raises(ParallaxError, match="to serve") as refused:
        create_study(slug="folds", version=run.version, run=run)
    assert refused.value.code == "study.run_of_many_models"
    with pytest.raises(ParallaxError, match="3 models"):
        export_cases(run=run, path=tmp_path / "cases.npz")
    assert any("not independent" in said for said in run.comments)
    document = run_document(run)
    assert [fold["label"] for fold in document["folds"]] == ["fold 1 of 3", "fold 2 of 3", "fold 3 of 3"]
    assert len(document["algorithms"][0]["fold_hashes"]) == 3
    other = work_off(make_run(version=run.version, profile_lengths=(), algorithms="toppop,random"))
    assert compare_runs(run, other).has_same_cases is False
    assert "folds" not in run_document(other)
    assert [len(line.runs) for line in models_on(run.version, researcher)] == [1, 1]


def test_fold_that_cannot_be_fitted_is_named() -> None:
    run = work_off(folded(algorithms="asysvd:factors=5,learning_rate=1e6"))
    assert run.status == RunStatus.FAILED
    assert "on fold 1 of 3" in run.error


@pytest.mark.parametrize(
    ("split", "protocol", "words"),
    [
        (
            {"name": "temporal-exact", "test_users": 0},
            HITS,
            "120 in total.*test_users=8 or less",
        ),
        ({"name": "k-fold", "k": 600}, HITS, "trains 600 models of each algorithm.*Use k=8 or less"),
        ({"name": "k-fold"}, {"name": "unconstrained", **LIMITS}, "cannot be ranked in one list"),
    ],
)
def test_too_many_models_are_refused(
    split: dict[str, Any], protocol: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.services.run_inputs.MAX_MODELS", 16)
    with pytest.raises(ParallaxError, match=words):
        make_run(split=split, protocol=protocol)


def test_no_limit_is_named_where_even_one_algorithm_each_would_be_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.services.run_inputs.MAX_MODELS", 3)
    with pytest.raises(ParallaxError, match="Measure fewer algorithms"):
        make_run(split={"name": "k-fold"})


def test_folds_with_nothing_to_measure_fail_the_run() -> None:
    parsed = make_parsed(n_users=10)
    parsed = replace(parsed, values=np.full(len(parsed.values), 3, dtype=np.float32))
    dull = import_parsed(parsed=parsed, name="dull", title="Dull", source_format="factory", is_synthetic=True)
    run = work_off(folded(version=dull))
    assert run.status == RunStatus.FAILED
    assert "nothing to measure" in run.error
    assert run.folds == []


def test_values_without_one_for_a_user_stay_missing() -> None:
    lists = {"user_ids": np.array([0, 1, 2, 3]), "user_values": np.array([[np.nan], [np.nan], [1.0], [np.nan]])}
    found = by_user(Outcomes((Outcome("rr", 1.0),), lists), 2)
    assert np.isnan(found.arrays["user_values"][0, 0])
    assert found.values[0].value == 1.0
    whole = by_user(Outcomes((Outcome("half-life", 0.4),), lists), 2)
    assert whole.values[0].value == 0.4
    none = {**lists, "user_values": np.full((4, 1), np.nan)}
    assert by_user(Outcomes((Outcome("rr", None),), none), 2).values[0].value is None


def test_fits_of_runs_made_before_learn_their_recipe_and_model() -> None:
    run = work_off(make_run(profile_lengths=(), algorithms="toppop"))
    before = list(RunPart.objects.filter(kind=PartKind.FIT).values_list("recipe", "model"))
    RunPart.objects.update(recipe="", model=None)
    import_module("evaluation.migrations.0004_fits_know_their_models").tell_fits(apps, None)
    assert list(run.parts.filter(kind=PartKind.FIT).values_list("recipe", "model")) == before
