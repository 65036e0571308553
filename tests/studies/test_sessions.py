"""A day of sessions: one sign-in, a locked device that returns by itself, notes, and the evaluator's questions."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from core.errors import ParallaxError, ParameterError
from studies.data.codebook.participants import participant_variables
from studies.design.services.questionnaires import add_evaluator_question
from studies.enums import Role
from studies.instrument.questionnaires.problems import QuestionnaireProblems
from studies.instrument.questionnaires.schema import questionnaire_from
from studies.models import Interview, Study
from studies.participation.services import consenting
from studies.participation.services.entry_gate import EntryAttempt
from studies.participation.services.interviews import save_evaluation, save_notes, start_interview
from studies.participation.services.withdrawal import withdraw
from studies.recruitment.selectors.recruitment import InterviewPlace, places_of
from studies.recruitment.services.recruitment import set_places
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.console import signed_in
from tests.factories.studies import make_study
from tests.factories.walking import tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]
PASSWORD = "correct horse battery"
CALM = {"key": "calm", "kind": "likert", "text": {"en": "Was the participant calm?"}, "minimum": 1, "maximum": 5}
REMARK = {"key": "remark", "kind": "long_text", "text": {"en": "Remarks?"}, "required": False}
HELPED = {"key": "helped", "kind": "yes_no", "text": {"en": "Did you help?"}}
ALL_KINDS = [
    CALM,
    REMARK,
    HELPED,
    {"key": "noise", "kind": "choice", "text": {"en": "Noise?"}, "choices": [{"value": "low", "label": {"en": "Low"}}]},
    {"key": "minutes", "kind": "number", "text": {"en": "Minutes?"}, "minimum": 0, "maximum": 240},
]


def _study(status: str = "live", questions: Any = ()) -> tuple[Study, User]:
    study = make_study(status="draft" if questions else status)
    for question in questions:
        add_evaluator_question(study=study, question=question)
    if questions:
        Study.objects.filter(pk=study.pk).update(status=status)
        study.refresh_from_db()
    interviewer = UserFactory(email="interviewer@example.org")
    interviewer.set_password(PASSWORD)
    interviewer.save()
    add_member(study=study, email=interviewer.email, role=Role.INTERVIEWER)
    return study, interviewer


def _handed_over(study: Study, interviewer: User, **fields: str) -> tuple[Client, str]:
    """The device in the participant's hands, and the participant's link."""
    client = signed_in(interviewer)
    started = client.post(reverse("studies:interview", args=[study.slug]), {"where": "here", **fields})
    page = client.get(started.headers["Location"])
    return client, tree(page).xpath("string(//a[@class='go']/@href)")


@pytest.mark.parametrize("secret", ["2468", PASSWORD])
def test_the_researcher_unlocks_by_pin_or_password_and_lands_on_the_session(secret: str) -> None:
    study, interviewer = _study()
    client, _link = _handed_over(study, interviewer, pin="2468")
    assert client.get(reverse("accounts:sign_in")).url == reverse("accounts:unlock")
    assert client.get(reverse("accounts:sign_in"), {"account": "other"}).status_code == 200
    page = client.get(reverse("accounts:unlock")).text
    assert "PIN or password" in page
    assert "2468" not in str(dict(client.session))
    assert "not the PIN" in client.post(reverse("accounts:unlock"), {"secret": "1111"}).text
    assert "_auth_user_id" not in client.session
    session = reverse("studies:session", args=[study.slug, Interview.objects.get().pk])
    assert client.post(reverse("accounts:unlock"), {"secret": secret}).url == session
    assert client.get(session).status_code == 200
    url = reverse("studies:interview", args=[study.slug])
    assert "This device has a PIN" in client.get(url).text
    # The next hand-over locks it again, with the same PIN.
    client.post(url, {"where": "here"})
    assert client.get(session).status_code == 302
    assert client.post(reverse("accounts:unlock"), {"secret": "2468"}).url != session  # but the new one
    assert client.get(session).status_code == 200


def test_five_wrong_pins_leave_only_the_password() -> None:
    study, interviewer = _study()
    client, _link = _handed_over(study, interviewer, pin="2468")
    for _attempt in range(4):
        client.post(reverse("accounts:unlock"), {"secret": "1111"})
    assert client.post(reverse("accounts:unlock"), {"secret": "1111"}).status_code == 200
    assert client.post(reverse("accounts:unlock"), {"secret": "2468"}).status_code == 200
    assert "_auth_user_id" not in client.session
    assert client.post(reverse("accounts:unlock"), {"secret": PASSWORD}).status_code == 302


def test_a_bad_pin_starts_nothing_and_only_a_locked_device_is_unlocked() -> None:
    study, interviewer = _study()
    client = signed_in(interviewer)
    client.post(reverse("studies:interview", args=[study.slug]), {"where": "here", "pin": "12"})
    assert not Interview.objects.exists()
    assert Client().get(reverse("accounts:unlock")).url == reverse("accounts:sign_in")
    locked, _link = _handed_over(study, interviewer)
    User.objects.update(is_active=False)
    assert locked.post(reverse("accounts:unlock"), {"secret": PASSWORD}).url == reverse("accounts:sign_in")


def test_another_account_that_signs_in_ends_the_lock() -> None:
    study, interviewer = _study()
    client, _link = _handed_over(study, interviewer)
    other = UserFactory(email="other@example.org")
    other.set_password(PASSWORD)
    other.save()
    client.post(reverse("accounts:sign_in"), {"username": other.email, "password": PASSWORD})
    client.post(reverse("accounts:sign_out"))
    assert client.get(reverse("accounts:unlock")).url == reverse("accounts:sign_in")


def test_last_pages_return_to_the_interviewer_on_their_device_only() -> None:
    study, interviewer = _study()
    client, link = _handed_over(study, interviewer)
    url = reverse("accounts:unlock")
    assert url not in client.get(link).text  # the study has not begun
    declined = client.post(link, {"choice": "no"}, follow=True)
    assert url in declined.text
    assert "data-hand-back" in declined.text
    assert url not in Client().post(link, {"choice": "no"}, follow=True).text


def test_notes_have_times_and_the_evaluators_answers_are_checked_exported_and_erased() -> None:
    study, interviewer = _study(questions=ALL_KINDS)
    started = start_interview(study=study, interviewer=interviewer, note="Before")
    entry = consenting.consent(EntryAttempt(study=study, entry_key=started.key, browser_key="b" * 43))
    client, url = signed_in(interviewer), reverse("studies:session", args=[study.slug, started.interview.pk])
    calm = next(question["text"]["en"] for question in ALL_KINDS if question["key"] == "calm")
    assert calm in client.get(url).text
    client.post(url, {"part": "evaluation", "evaluator-calm": "9", "evaluator-noise": "low"})
    assert Interview.objects.get().evaluation == {}
    given = {"calm": "4", "helped": "no", "noise": "low", "minutes": "35", "remark": ""}
    posted = {f"evaluator-{key}": value for key, value in given.items()}
    assert client.post(url, {"part": "evaluation", **posted}).status_code == 302
    assert client.post(url, {"before": "Before", "after": "After\r\nwards"}).status_code == 302
    assert client.post(url, {"before": "x" * 2001, "after": ""}).status_code == 200
    row = Interview.objects.get()
    assert row.evaluation == {"calm": 4, "helped": False, "noise": "low", "minutes": 35}
    assert (row.note_before, row.note_after) == ("Before", "After\nwards")
    assert row.noted_before_at < row.noted_after_at
    page = tree(client.get(url))
    assert page.xpath("//input[@name='evaluator-helped' and @value='no' and @checked]")
    variables = {v.name: v for v in participant_variables(study)}
    assert variables["evaluator.calm"].meaning == calm
    owner = study.memberships.get(role=Role.OWNER).researcher
    Study.objects.update(status="closed")
    response = signed_in(owner).get(reverse("studies:export", args=[study.slug, "wide"]), {"completed_only": ""})
    with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as archive:
        table = archive.read(next(n for n in archive.namelist() if n.endswith("wide_data.csv"))).decode()
    assert "evaluator.calm" in table
    withdraw(participant=entry.participant)
    row.refresh_from_db()
    assert (row.evaluation, row.note_before, row.note_after) == ({}, "", "")
    for refused_save in (
        lambda: save_notes(interview=row, before="x", after=""),
        lambda: save_evaluation(interview=row, answers={"calm": 1}),
    ):
        with pytest.raises(ParallaxError, match="erased"):
            refused_save()
    assert "are erased" in client.get(url).text


def test_a_required_question_needs_an_answer_and_a_session_is_its_interviewers() -> None:
    study, interviewer = _study(questions=[HELPED])
    interview = start_interview(study=study, interviewer=interviewer).interview
    with pytest.raises(ParameterError, match="needs an answer"):
        save_evaluation(interview=interview, answers={})
    other = UserFactory()
    add_member(study=study, email=other.email, role=Role.INTERVIEWER)
    url = reverse("studies:session", args=[study.slug, interview.pk])
    owner = study.memberships.get(role=Role.OWNER).researcher
    assert [signed_in(user).get(url).status_code for user in (interviewer, other, owner)] == [200, 404, 200]


def test_an_owner_prepares_places_and_questions() -> None:
    study = make_study(status="draft")
    client = signed_in(study.memberships.get().researcher)
    url = reverse("studies:interviewers", args=[study.slug])
    places = reverse("studies:set-places", args=[study.slug])
    assert client.post(places, {"lines": "lab = Laboratory\n\nhome = At home"}).url == url
    assert places_of(study) == [InterviewPlace("lab", "Laboratory"), InterviewPlace("home", "At home")]
    for lines, problem in (
        ("Lab = X", "is not a valid code"),
        ("a = X\na = Y", "used twice"),
        ("a", "needs a label"),
    ):
        assert problem in client.post(places, {"lines": lines}).text
    add = reverse("studies:evaluator-add", args=[study.slug])
    fields = {"key": "calm", "text": "Calm?", "kind": "likert_7", "required": "on"}
    assert client.post(add, fields).url == url
    assert "used twice" in client.post(add, fields).text
    client.post(add, {"key": "noise", "text": "Noise?", "kind": "choice", "options": "low = Low\nhigh"})
    assert "choice without options" in client.post(add, {"key": "x", "text": "X?", "kind": "choice"}).text
    study.refresh_from_db()
    assert [question["key"] for question in study.questionnaire["evaluator"]] == ["calm", "noise"]
    assert "evaluator.noise" in client.get(url).text
    for key in ("calm", "noise"):
        client.post(reverse("studies:evaluator-delete", args=[study.slug, key]))
    study.refresh_from_db()
    assert "evaluator" not in study.questionnaire  # as if there had been none: the digest of the plan is the same
    live = make_study(slug="live", run=study.run, owner=study.memberships.get().researcher)
    assert "cannot be changed" in client.get(reverse("studies:interviewers", args=["live"])).text
    client.post(reverse("studies:evaluator-add", args=["live"]), fields)
    live.refresh_from_db()
    assert "evaluator" not in live.questionnaire


def test_the_code_of_a_place_with_sessions_stays() -> None:
    study, interviewer = _study()
    set_places(study=study, places=[InterviewPlace("lab", "Laboratory")])
    start_interview(study=study, interviewer=interviewer, place="lab")
    with pytest.raises(ParallaxError, match="lab"):
        set_places(study=study, places=[])
    set_places(study=study, places=[InterviewPlace("lab", "Laboratory, ground floor")])
    assert places_of(study)[0].label == "Laboratory, ground floor"


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ({**CALM, "kind": "slider"}, "A question for the evaluator is of the kind"),
        ({**CALM, "scale": "mood"}, "is for the evaluator and has no shown_if"),
        ({**CALM, "identifies": True}, "is for the evaluator and has no shown_if"),
    ],
)
def test_a_question_that_an_evaluator_cannot_be_asked_is_a_problem(question: dict[str, Any], problem: str) -> None:
    with pytest.raises(QuestionnaireProblems, match=problem):
        questionnaire_from({"evaluator": [question]})
