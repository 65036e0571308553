"""A report tells of interviewers where there were any, and of nesting what it costs."""

from __future__ import annotations

import pytest

from analysis.read.responses import flow_of, read_answers
from analysis.results.sample import Interviews
from analysis.services import build_report
from studies.enums import Mode, Role
from studies.models import Interview, Participant, PersonalLink, Study
from studies.participation.services import consenting, enrolment
from studies.participation.services.entry_gate import EntryAttempt
from studies.participation.services.interviews import start_interview
from studies.recruitment.interviewer_text import interviewed_sentence
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.analysis import page_without_pictures
from tests.factories.studies import ABOUT, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


def _interviewed(study: Study) -> Participant:
    started = start_interview(study=study, interviewer=study.memberships.get(role=Role.INTERVIEWER).researcher)
    entry = consenting.consent(EntryAttempt(study=study, entry_key=started.key, browser_key="b" * 43))
    return enrolment.accept_about(participant=entry.participant, answers=ABOUT)


@pytest.mark.parametrize(("how", "told"), [("crossed", "additional stratification trait"), ("nested", "confounded")])
def test_the_flow_holds_who_was_interviewed_and_how(how: str, told: str) -> None:
    study = make_study(settings={"interviewers": how})
    assert flow_of(study, Mode.LIVE, read_answers(study, Mode.LIVE, {})).interviews is None
    user = UserFactory()
    add_member(study=study, email=user.email, role=Role.INTERVIEWER, condition=study.conditions.first())
    _interviewed(study)
    _interviewed(study)
    found = flow_of(study, Mode.LIVE, read_answers(study, Mode.LIVE, {})).interviews
    assert found == Interviews(n=2, interviewers=1, is_nested=how == "nested")
    sentence = interviewed_sentence(found.n, found.interviewers, found.is_nested)
    assert sentence.startswith("2 participants were")
    assert told in sentence


@pytest.mark.slow
def test_the_report_says_it_where_people_were_interviewed(planted: Study) -> None:
    assert "started by interviewers" not in page_without_pictures(build_report(study=planted))
    for number, person in enumerate(planted.participants.order_by("pk")[:3]):
        link = PersonalLink.objects.create(study=planted, digest=str(number))
        Interview.objects.create(study=planted, link=link, participant=person, number=1 + number % 2)
    page = page_without_pictures(build_report(study=planted))
    assert "3 participants were" in page
    assert "additional stratification trait" in page
