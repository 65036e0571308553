"""Conditions of a draft: any of a run's algorithms, or models of several runs on the dataset version."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from core.errors import NotAllowedInState, ParallaxError
from core.models import LogEntry
from evaluation.models import EvaluationRun
from studies.design.selectors.available_models import available_models, report_problems
from studies.design.services.conditions import choose_conditions
from studies.design.services.design import change_design, create_study
from studies.design.services.launch import launch_study
from studies.enums import Mode
from studies.models import Participant, Study
from tests.approval import assert_approved, without_variable
from tests.factories.analysis import planted_person
from tests.factories.catalog import make_version
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def run() -> EvaluationRun:
    return make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4")


@pytest.fixture
def draft(run: EvaluationRun) -> Study:
    return make_study(run=run, status="draft", per_condition=3)


def labels_of(study: Study) -> list[str]:
    return list(study.conditions.order_by("position").values_list("label", flat=True))


def digests_of(study: Study, *labels: str) -> list[str]:
    by_label = {entry.label: entry.model.digest for entry in available_models(study, None)}
    return [by_label[label] for label in labels]


def test_a_study_is_created_on_some_algorithms_of_a_run(run: EvaluationRun) -> None:
    study = create_study(slug="two", version=run.version, run=run, labels=["PureSVD4", "TopPop"])
    assert labels_of(study) == ["TopPop", "PureSVD4"]
    with pytest.raises(ParallaxError, match=r"LSA\..* TopPop, CorNgr, PureSVD4\."):
        create_study(slug="three", version=run.version, run=run, labels=["LSA", "TopPop"])


def test_the_command_names_them(run: EvaluationRun) -> None:
    make_study(run=run, status="draft")  # so that somebody can own it
    out, name = StringIO(), run.version.dataset.name
    call_command("create_study", "two", "--dataset", name, "--conditions", "CorNgr", "TopPop", stdout=out)
    assert labels_of(Study.objects.get(slug="two")) == ["TopPop", "CorNgr"]
    assert_approved("commands/create-study", without_variable(out.getvalue()))
    with pytest.raises(CommandError, match="measured no LSA"):
        call_command("create_study", "three", "--dataset", name, "--conditions", "LSA", stdout=out)


def test_conditions_are_left_out_and_come_back(draft: Study) -> None:
    change_design(study=draft, targets={0: 5})
    choose_conditions(study=draft, digests=digests_of(draft, "PureSVD4", "TopPop"))
    assert labels_of(draft) == ["PureSVD4", "TopPop"]
    assert list(draft.conditions.order_by("position").values_list("target", flat=True)) == [3, 5]
    draft.refresh_from_db()
    assert draft.settings["block_weights"] == [3, 5]
    choose_conditions(study=draft, digests=digests_of(draft, "TopPop", "CorNgr", "PureSVD4"))
    assert labels_of(draft) == ["TopPop", "CorNgr", "PureSVD4"]
    entry = LogEntry.objects.filter(reason="Conditions changed.").latest("pk")
    assert entry.facts["conditions"] == ["TopPop", "CorNgr", "PureSVD4"]
    launch_study(study=draft)


def test_models_of_another_run_join_and_the_report_needs_a_run_of_all(draft: Study, run: EvaluationRun) -> None:
    make_run_at("succeeded", version=run.version, algorithms="puresvd:factors=2")
    choose_conditions(study=draft, digests=digests_of(draft, "TopPop", "PureSVD2"))
    draft.refresh_from_db()
    assert draft.run == run
    (problem,) = report_problems(draft, "recall")
    assert problem.startswith("PureSVD2: ")
    assert f"run {run.pk} " in problem
    with pytest.raises(ParallaxError, match="PureSVD2"):
        launch_study(study=draft)
    every = make_run_at("succeeded", version=run.version, algorithms="toppop,puresvd:factors=2,corngr")
    choose_conditions(study=draft, digests=digests_of(draft, "TopPop", "PureSVD2", "CorNgr"))
    draft.refresh_from_db()
    assert draft.run == every
    assert report_problems(draft, "recall") == []
    launch_study(study=draft)


def test_equal_labels_of_two_models_name_the_run(draft: Study, run: EvaluationRun) -> None:
    other = make_run_at("succeeded", version=run.version, algorithms="toppop,puresvd:factors=4", seed=2)
    both = [entry.model.digest for entry in available_models(draft, None) if entry.label == "PureSVD4"]
    assert len(both) == 2
    choose_conditions(study=draft, digests=both)
    assert labels_of(draft) == ["PureSVD4", f"PureSVD4 (run {other.pk})"]


def test_what_walked_the_old_conditions_is_removed(draft: Study) -> None:
    planted_person(draft, "CorNgr", [3, 3, 3, 3, 3], 3, mode=Mode.SIMULATED)
    planted_person(draft, "CorNgr", [3, 3, 3, 3, 3], 3, mode=Mode.PREVIEW)
    planted_person(draft, "TopPop", [3, 3, 3, 3, 3], 3, mode=Mode.PREVIEW)
    choose_conditions(study=draft, digests=digests_of(draft, "TopPop", "PureSVD4"))
    assert [person.condition.label for person in Participant.objects.all()] == ["TopPop"]


def test_what_cannot_be_chosen(draft: Study) -> None:
    with pytest.raises(ParallaxError, match="at least 2 conditions"):
        choose_conditions(study=draft, digests=digests_of(draft, "TopPop"))
    with pytest.raises(ParallaxError, match=f"measured {'f' * 12}"):
        choose_conditions(study=draft, digests=["f" * 64])
    contrast: dict[str, Any] = {"higher": ["CorNgr"], "lower": ["TopPop"], "sides": 2}
    change_design(study=draft, settings={"primary": {**draft.settings["primary"], "contrast": contrast}})
    with pytest.raises(ParallaxError, match="contrast"):
        choose_conditions(study=draft, digests=digests_of(draft, "TopPop", "PureSVD4"))
    assert labels_of(draft) == ["TopPop", "CorNgr", "PureSVD4"]
    launch_study(study=draft)
    with pytest.raises(NotAllowedInState):
        choose_conditions(study=draft, digests=digests_of(draft, "TopPop", "CorNgr"))


def test_models_of_other_versions_and_protocols_are_not_offered(draft: Study, run: EvaluationRun) -> None:
    make_run_at("succeeded", version=make_version(name="others"), algorithms="puresvd:factors=2")
    protocol = {"name": "test-observations"}
    make_run_at("succeeded", version=run.version, algorithms="puresvd:factors=3", protocol=protocol)
    assert [entry.label for entry in available_models(draft, None)] == ["TopPop", "CorNgr", "PureSVD4"]


def test_the_page_offers_and_saves_them(draft: Study, client: Client) -> None:
    client.force_login(draft.memberships.get().researcher)
    address = reverse("studies:conditions", args=[draft.slug])
    assert client.get(address).content.decode().count('name="recommenders"') == 3
    shown = {"doses": "as ranked", "presentation": "plain"}
    refused = client.post(address, {"recommenders": digests_of(draft, "TopPop"), **shown})
    assert "A comparison needs at least 2 conditions." in refused.content.decode()
    saved = client.post(address, {"recommenders": digests_of(draft, "TopPop", "CorNgr"), **shown}, follow=True)
    assert "Saved." in saved.content.decode()
    assert labels_of(draft) == ["TopPop", "CorNgr"]
    launch_study(study=draft)
    page = client.get(address).content.decode()
    assert "Read-only since" in page
    assert page.count("disabled") >= 2
    assert "Remove TopPop" not in page
