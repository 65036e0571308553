"""Before a launch every condition makes a list as for a participant, and the planned report has to be possible."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from analysis.services.report_builder import build_report
from core.errors import ParallaxError
from evaluation.models import EvaluationRun
from recommenders import registry
from studies.design.services.design import change_design, create_study
from studies.design.services.launch import launch_problems, launch_study
from studies.models import Notice, Study
from tests.factories.catalog import make_half_stars_version, make_usage_version
from tests.factories.evaluation import make_run_at
from tests.factories.picky import OFF_GRID
from tests.factories.studies import make_study, rated

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def picky(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that brings an algorithm is installed."""
    point = EntryPoint("picky", "tests.factories.picky:Picky", registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])


def draft_on(run: EvaluationRun, study: Study) -> Study:
    """The draft, as one of an older version that took any run."""
    Study.objects.filter(pk=study.pk).update(run=run, dataset_version=run.version)
    for condition, algorithm in zip(
        study.conditions.order_by("position"), run.algorithms.order_by("position"), strict=True
    ):
        condition.model, condition.model_digest = algorithm.model, algorithm.model.digest  # type: ignore[union-attr]
        condition.save()
    return Study.objects.select_related("run", "dataset_version").get(pk=study.pk)


@pytest.mark.usefixtures("picky")
def test_a_condition_that_makes_no_list_of_participants_ratings_is_named() -> None:
    run = make_run_at("succeeded", version=make_half_stars_version(), algorithms="toppop,picky")
    study = make_study(run=run, status="draft")
    with pytest.raises(ParallaxError) as refusal:
        launch_study(study=study)
    (problem,) = refusal.value.extra["problems"]
    assert problem.startswith("Picky: ")
    assert OFF_GRID in problem
    study.refresh_from_db()
    assert study.status == "draft"


@pytest.mark.usefixtures("picky")
def test_a_model_that_fails_after_the_launch_pauses_the_study_instead_of_holding_participants() -> None:
    run = make_run_at("succeeded", version=make_half_stars_version(), algorithms="toppop,picky")
    study = make_study(run=run, status="draft")
    Study.objects.filter(pk=study.pk).update(status="live")  # as one that was launched before conditions were proved
    with pytest.raises(ParallaxError) as refusal:
        [rated(study) for _ in range(4)]
    assert refusal.value.code == "study.model_unavailable"
    assert OFF_GRID not in str(refusal.value)  # participants read a calm sentence
    study.refresh_from_db()
    assert study.status == "paused"
    assert OFF_GRID in Notice.objects.get(study=study).text


def test_the_proof_leaves_nothing_behind() -> None:
    study = make_study(status="draft")
    assert launch_problems(study) == []
    assert study.participants.count() == 0


def test_usage_data_are_proved_with_and_without_a_taken_item() -> None:
    protocol = {"name": "one-plus-random", "negatives": 20, "relevant": 1.0, "irrelevant": 0.5}
    run = make_run_at("succeeded", version=make_usage_version(), protocol=protocol)
    assert launch_problems(make_study(run=run, status="draft")) == []


def _test_observations(version: Any) -> EvaluationRun:
    return make_run_at("succeeded", version=version, protocol={"name": "test-observations"})


def test_a_study_of_a_run_whose_report_would_be_refused_is_not_made() -> None:
    run = _test_observations(make_study().dataset_version)
    with pytest.raises(ParallaxError) as refusal:
        create_study(slug="observed", version=run.version, run=run)
    assert refusal.value.code == "study.run_not_reportable"
    assert "test-observations" in str(refusal.value)


def test_a_draft_of_such_a_run_is_not_launched_for_the_reason_that_the_report_gives() -> None:
    study = make_study(status="draft")
    run = _test_observations(study.dataset_version)
    draft = draft_on(run, study)
    (problem,) = launch_problems(draft)
    launched = make_study(slug="launched")
    with pytest.raises(ParallaxError) as refusal:
        build_report(study=launched, run=_remade(run, launched))
    assert problem == str(refusal.value)
    with pytest.raises(CommandError, match="one-plus-random"):
        call_command("launch_study", study.slug)


def _remade(run: EvaluationRun, study: Study) -> EvaluationRun:
    """The run, of the very models that another study pinned."""
    for condition, algorithm in zip(
        study.conditions.order_by("position"), run.algorithms.order_by("position"), strict=True
    ):
        condition.model, condition.model_digest = algorithm.model, algorithm.model.digest  # type: ignore[union-attr]
        condition.save()
    return run


def test_a_run_without_recall_at_its_list_length_is_refused() -> None:
    run = make_run_at("succeeded", protocol={"name": "full-ranking"}, metrics=["ndcg@5", "recall@10"])
    with pytest.raises(ParallaxError, match="recall@5") as refusal:
        create_study(slug="full", version=run.version, run=run)
    assert refusal.value.code == "study.run_not_reportable"


def test_fallout_is_no_primary_metric_of_whole_lists() -> None:
    study = make_study(run=make_run_at("succeeded", protocol={"name": "full-ranking"}), status="draft")
    assert launch_problems(study) == []
    change_design(study=study, settings={"primary": {"perceived": "accuracy", "objective": "fallout"}})
    study.refresh_from_db()
    (problem,) = launch_problems(study)
    assert {"fallout,", "full-ranking", "recall"} <= set(problem.split())


def test_a_primary_metric_without_a_case_is_refused() -> None:
    protocol = {"name": "one-plus-random", "negatives": 20, "relevant": 1.0, "irrelevant": 0.5}
    run = make_run_at("succeeded", version=make_usage_version(), protocol=protocol)
    study = make_study(run=run, status="draft")
    change_design(study=study, settings={"primary": {"perceived": "accuracy", "objective": "fallout"}})
    study.refresh_from_db()
    (problem,) = launch_problems(study)
    assert "fallout" in problem
    assert f"run {run.pk} " in problem
