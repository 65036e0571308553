"""A panel's list loaded back: slots released, whom to approve, and files that are refused."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import User
from core.errors import ParallaxError
from core.models import LogEntry
from studies.data.services.retention import _erase_ids
from studies.enums import AllocationKind, ParticipantStatus
from studies.models import Exclusion, ExternalId, Participant, Study, Submission
from studies.monitoring.selectors.approvals import APPROVE, LOOK, NOTHING, approvals_of
from studies.monitoring.services.exclusions import exclude
from studies.recruitment.panels.exits import Exit
from studies.recruitment.panels.panel import Columns
from studies.recruitment.panels.submissions import LARGEST
from studies.recruitment.services.recruitment import set_exits, set_panel
from studies.recruitment.services.submissions import load_submissions
from tests.approval import assert_approved, without_variable
from tests.factories.accounts import UserFactory
from tests.factories.studies import assigned, completed, enter, make_study, recruit_on_prolific

pytestmark = [pytest.mark.integration, pytest.mark.django_db]

HEAD = "Submission id,Participant id,Status,Completion code\n"


@pytest.fixture
def owner() -> User:
    return UserFactory()


@pytest.fixture
def study(owner: User) -> Study:
    study = make_study(per_condition=8, owner=owner)
    recruit_on_prolific(study)
    set_exits(study=study, exits={"complete": Exit("static", "C1")})
    return study


def named(person: Participant, value: str, name: str = "PROLIFIC_PID") -> Participant:
    ExternalId.objects.create(study=person.study, participant=person, name=name, value=value)
    return person


def _load(study: Study, rows: str, head: str = HEAD, **given: Any) -> Any:
    return load_submissions(study=study, data=(head + rows).encode(), **given)


def _state(study: Study) -> Any:
    return (
        list(Submission.objects.order_by("pk").values()),
        list(Participant.objects.order_by("pk").values("status", "place", "updated_at")),
        study.allocations.count(),
        LogEntry.objects.count(),
    )


def test_returned_and_timed_out_free_their_places_once(study: Study, owner: User) -> None:
    gone, late = named(assigned(study), "p1"), named(assigned(study), "p2")
    done, here = named(completed(study), "p3"), named(assigned(study), "p4")
    only_consented = named(enter(study).participant, "p5")
    rows = (
        "s1,p1,RETURNED,\ns2,p2,TIMED-OUT,\ns3,p3,RETURNED,C1\ns4,p4,ACTIVE,\ns5,p5,RETURNED,\ns6,nobody,APPROVED,C1\n"
    )
    found = _load(study, rows, actor=owner)
    assert (found.n_read, found.n_new, found.n_changed, found.n_returned, found.n_unknown) == (6, 6, 0, 3, 1)
    statuses = [Participant.objects.get(pk=one.pk).status for one in (gone, late, done, here, only_consented)]
    assert statuses == ["returned", "returned", "completed", "active", "returned"]
    assert study.allocations.filter(kind=AllocationKind.RELEASED).count() == 2
    entry = LogEntry.objects.get(object_id=late.pk, to_status="returned")
    assert "timed-out" in entry.reason
    assert entry.actor == owner
    before = _state(study)
    again = _load(study, rows, actor=owner)
    assert (again.n_new, again.n_changed, again.n_returned) == (0, 0, 0)
    assert _state(study) == before
    newer = _load(study, rows.replace("s4,p4,ACTIVE", "s4,p4,RETURNED"))
    assert (newer.n_changed, newer.n_returned) == (1, 1)


def test_who_returned_once_and_came_again_keeps_their_place(study: Study) -> None:
    person = named(assigned(study), "p1")
    assert _load(study, "s1,p1,RETURNED,\ns2,p1,AWAITING REVIEW,C1\n").n_returned == 0
    assert Participant.objects.get(pk=person.pk).status == ParticipantStatus.ACTIVE


def test_somebody_who_came_by_a_session_alone_is_found_by_it(study: Study) -> None:
    person = named(assigned(study), "s7", "SESSION_ID")
    assert _load(study, "s7,p7,RETURNED,\n").n_returned == 1
    assert Submission.objects.get().participant == person


@pytest.mark.parametrize(
    ("rows", "line", "column", "reason"),
    [
        ("s1,p1,RETURNED,\ns2,,RETURNED,\n", 3, "Participant id", "missing"),
        ("s1,p1,RETURNED,\ns2,p2,VANISHED,\n", 3, "Status", "'VANISHED' is unknown"),
        ("s1,p1,RETURNED,\ns2,p2\n", 3, "", "2 cells"),
        ("s1,p1,RETURNED,\ns1,p1,APPROVED,\n", 3, "Submission id", "The line contradicts line 2"),
    ],
)
def test_a_bad_file_is_refused_and_nothing_is_half_done(
    study: Study, rows: str, line: int, column: str, reason: str
) -> None:
    named(assigned(study), "p1")
    before = _state(study)
    with pytest.raises(ParallaxError) as refusal:
        _load(study, rows)
    assert refusal.value.code == "submissions.bad_file"
    (problem,) = refusal.value.extra["problems"]
    assert (problem["line"], problem["column"]) == (line, column)
    assert reason in problem["reason"]
    assert _state(study) == before


def test_columns_are_named_where_no_panel_says_them(study: Study) -> None:
    set_panel(study=study, panel="none", entrance="open")
    person = named(assigned(study), "w1", "workerId")
    rows, head = "w1;expired\n", "who;what\n"
    with pytest.raises(ParallaxError, match="Say which column"):
        _load(study, rows, head)
    assert _load(study, rows, head, columns=Columns(("who",), (), ("what",))).n_returned == 1
    assert Participant.objects.get(pk=person.pk).status == ParticipantStatus.RETURNED


def test_the_list_says_whom_to_approve_and_why_not(study: Study, owner: User) -> None:
    people = {
        "right": named(completed(study), "right"),
        "uncoded": named(completed(study), "uncoded"),
        "wrong": named(completed(study), "wrong"),
        "out": named(completed(study), "out"),
        "torn": named(completed(study), "torn"),
        "halfway": named(assigned(study), "halfway"),
        "paid": named(completed(study), "paid"),
        "early": named(assigned(study), "early"),
        "back": named(completed(study), "back"),
        "unlisted": named(completed(study), "unlisted"),
    }
    exclude(participant=people["out"], reason="Spoke to a friend", actor=owner)
    people["torn"].responses.filter(question="satisfaction").delete()
    assert Exclusion.objects.count() == 1
    _load(
        study,
        "1,right,AWAITING REVIEW,C1\n2,uncoded,AWAITING REVIEW,NOCODE\n3,wrong,AWAITING REVIEW,C9\n"
        "4,out,AWAITING REVIEW,C1\n5,torn,AWAITING REVIEW,C1\n6,halfway,AWAITING REVIEW,C1\n7,paid,APPROVED,C1\n"
        "12,early,APPROVED,C1\n8,back,RETURNED,\n9,stranger,AWAITING REVIEW,C1\n10,gone,RETURNED,\n11,bad,REJECTED,\n",
    )
    found = {one.person: one for one in approvals_of(study)}
    assert {name: one.verdict for name, one in found.items()} == {
        "right": APPROVE, "uncoded": APPROVE, "wrong": LOOK, "out": LOOK, "torn": LOOK, "halfway": LOOK,
        "paid": NOTHING, "early": LOOK, "back": LOOK, "stranger": LOOK, "gone": NOTHING, "bad": LOOK,
        "unlisted": APPROVE,
    }  # fmt: skip
    reasons = "".join(f"{name}: {one.verdict}. {one.reason} ({one.panel_state})\n" for name, one in found.items())
    assert_approved("studies/reasons-of-approvals", without_variable(reasons))
    assert found["right"].is_code_right
    assert not found["wrong"].is_code_right
    assert (found["right"].is_complete, found["halfway"].is_complete, found["stranger"].is_complete) == (1, 0, 0)
    set_panel(study=study, panel="generic", entrance="open", names={"person": ["PROLIFIC_PID"]})
    set_exits(study=study, exits={"complete": Exit("unique")})
    assert {one.person: one.code_expected for one in approvals_of(study)}["right"] == people["right"].completion_code


def test_retention_erases_what_panels_said(study: Study) -> None:
    named(completed(study), "p1")
    _load(study, "s1,p1,APPROVED,C1\ns2,unknown,APPROVED,C1\n")
    _erase_ids(study)
    assert not Submission.objects.exists()


def _page(owner: User) -> Client:
    client = Client()
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return client


def test_a_list_is_loaded_from_its_page_and_comes_out_as_a_file(study: Study, owner: User) -> None:
    client, url = _page(owner), reverse("studies:submissions", args=[study.slug])
    named(completed(study), "=p1")
    named(assigned(study), "p2")
    bad = SimpleUploadedFile("x.csv", (HEAD + "s1,p2,VANISHED,\n").encode())
    page = client.post(url, {"file": bad}).content.decode()
    assert "The file was not imported." in page
    assert '<td class="n">2</td><td>Status</td>' in page
    assert not Submission.objects.exists()
    large = SimpleUploadedFile("x.csv", b"x" * (LARGEST + 1))
    assert "at most 10,000,000 are read" in client.post(url, {"file": large}).text
    good = SimpleUploadedFile("x.csv", (HEAD + "s1,=p1,AWAITING REVIEW,C1\ns2,p2,RETURNED,\n").encode())
    page = client.post(url, {"file": good}, follow=True).content.decode()
    assert "2 submissions read: 2 new, 0 changed; 1 slots reopened." in page
    assert page.count("<strong>Approve.</strong>") == 1
    response = client.get(reverse("studies:approvals-file", args=[study.slug]))
    assert "no-store" in response.headers["Cache-Control"]
    assert "identifiable-true" in response.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert [(row["person"], row["verdict"], row["is_complete"]) for row in rows] == [
        ("'=p1", APPROVE, "1"), ("p2", NOTHING, "0"),
    ]  # fmt: skip
