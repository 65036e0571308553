"""Simulated participants answer every kind of question by reading the pages, and walk through ResQue to its alpha."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from analysis.present.scales import scale_section
from analysis.services import build_report
from studies.enums import ParticipantStatus
from studies.instrument.questionnaires.questions import IN_OWN_WORDS
from studies.models import Study
from studies.monitoring.selectors.exclusions import why_incomplete
from studies.participation.selectors.responses import records
from tests.factories.questionnaires import every_kind, make_resque_study, make_study_asking
from tests.studies.test_walker import walk

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def walked(study: Study, n: int) -> list[Any]:
    found = []
    for seed in range(n):
        person, _requests = walk(study, secrets.token_hex(20), seed=seed)
        assert person.status == ParticipantStatus.COMPLETED
        found.append(person)
    for record in records(study, ["simulated"], completed_only=True):
        assert why_incomplete(study, record) is None
    return found


@pytest.mark.slow
def test_every_kind_is_answered_and_the_check_is_passed_by_reading_it() -> None:
    study = make_study_asking(every_kind(ends_after=1), per_condition=20)
    for person in walked(study, 3):
        given = dict(person.responses.filter(rank=0).values_list("question", "value"))
        assert given["reads"] == "second"
        assert {"streams", "devices", "hours", "mood", "trust_a", "trust_b", "views", "often"} <= set(given)
        assert set(given["views"]) == {"again", "never"}
        assert set(person.responses.values_list("provenance", flat=True)) <= {"true", "modelled"}


@pytest.mark.slow
def test_a_text_is_as_short_as_the_question_allows() -> None:
    asked = every_kind()
    (nickname,) = [question for question in asked["after"] if question["key"] == "nickname"]
    nickname["required"] = True
    (person,) = walked(make_study_asking(asked, per_condition=20), 1)
    assert person.responses.get(question="nickname").value == IN_OWN_WORDS[: nickname["max_length"]].strip()


@pytest.mark.slow
def test_a_report_on_resque_says_alpha_for_every_scale() -> None:
    study = make_resque_study("resque-long", per_condition=20)
    walked(study, 6)
    report = build_report(study=study, mode="simulated")
    scales = report.results["scales"]
    assert len(scales) == 13
    assert {scale["n_scored"] for scale in scales} == {6}
    # The same noise on statements for and against: turned round, they hang together.
    assert all(scale["reliability"]["is_defined"] for scale in scales)
    section = scale_section(report.read_results())
    tables = [block.table for block in section.blocks if block.table is not None]
    assert [table.key for table in tables] == ["scales", "scale-means"]
    first = tables[0].rows[0].cells
    assert (first[0].text, first[1].text, first[2].text) == ("Perceived accuracy of the suggestions", "3", "6")
    assert first[3].value == scales[0]["reliability"]["alpha"]
    assert len(tables[1].rows) == 13 * study.conditions.count()
