"""Simulated participants pass attention checks in any wording, and a pilot says whom the plan leaves out."""

from __future__ import annotations

import copy
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from studies.design.services.design import change_design
from studies.design.services.launch import launch_study
from studies.enums import Mode
from tests.factories.evaluation import make_run_at
from tests.factories.questionnaires import every_kind, make_study_asking, words
from tests.factories.studies import enter

pytestmark = [pytest.mark.integration, pytest.mark.django_db(transaction=True)]

GERMAN_CHECKS: list[dict[str, Any]] = [
    {
        "key": "check_points", "kind": "attention", "expects": 4, "minimum": 1, "maximum": 5,
        "text": words("Bitte hier die zweithöchste Stufe ankreuzen."),
    },
    {
        "key": "check_choice", "kind": "attention", "expects": "second",
        "text": words("Zur Kontrolle bitte die mittlere Antwort ankreuzen."),
        "choices": [{"value": name, "label": words(name.title())} for name in ("first", "second", "third")],
    },
]  # fmt: skip


def walked(study: Any, url: str) -> str:
    out = StringIO()
    call_command("simulate_participants", study.slug, "--per-condition", "3", "--base-url", url, stdout=out)
    return out.getvalue()


def with_checks() -> dict[str, Any]:
    asked = every_kind()
    asked["after"] += copy.deepcopy(GERMAN_CHECKS)
    return asked


@pytest.mark.slow
def test_checks_in_german_are_passed_and_the_pilot_says_whom_the_plan_leaves_out(live_server: Any) -> None:
    study = make_study_asking(with_checks(), status="draft", run=make_run_at("succeeded", reserve=0.3))
    change_design(study=study, settings={"plan": {**study.settings["plan"], "exclude": ["attention_failed"]}})
    launch_study(study=study)
    said = walked(study, live_server.url)
    people = study.participants.filter(mode=Mode.SIMULATED)
    given = list(people.values_list("responses__question", "responses__value"))
    assert [value for key, value in given if key == "check_points"] == [4] * 6
    assert [value for key, value in given if key == "check_choice"] == ["second"] * 6
    assert "6 of 6 " in said
    assert "none of the 6." in said

    # Somebody who answered otherwise is counted with the reason.
    people.first().responses.filter(question="check_points").update(value=1)
    assert "excludes 1 of the 6" in walked(study, live_server.url)


@pytest.mark.slow
def test_the_pilot_says_that_a_plan_without_a_rule_excludes_nobody(live_server: Any) -> None:
    study = make_study_asking(every_kind(), run=make_run_at("succeeded", reserve=0.3))
    assert "so all 6 " in walked(study, live_server.url)


def test_no_page_says_which_answer_passes_a_check() -> None:
    asked = with_checks()
    asked["about"] += [{**copy.deepcopy(GERMAN_CHECKS[1]), "key": "check_about"}]
    study = make_study_asking(asked)
    entry = enter(study)
    page = Client().get(f"/s/p/{entry.token}/about/").content.decode()
    assert "Zur Kontrolle" in page
    assert "expects" not in page
    options = [part for part in page.split("<input") if 'name="check_about"' in part]
    shapes = {
        part.partition(">")[0].replace(value, "")
        for part, value in zip(options, ("first", "second", "third"), strict=True)
    }
    assert len({shape.replace("-1", "").replace("-2", "").replace("-3", "") for shape in shapes}) == 1, shapes
