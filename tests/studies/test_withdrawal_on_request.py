"""A participant erased on request: by code or external id, with a reason, in the console, by command and by program."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from accounts.services import create_token
from analysis.read.reports import reports_of
from analysis.services import build_report
from core.errors import ParallaxError
from core.models import LogEntry
from studies.allocation.selectors.allocations import replayed_log
from studies.design.services.archiving import archive_study
from studies.design.services.launch import close_study
from studies.enums import Mode, ParticipantStatus, Role
from studies.models import ExternalId, Participant, Study
from studies.participation.services.withdrawal import participant_known_as, withdraw, withdraw_on_behalf
from studies.team.services.members import add_member
from tests.approval import assert_approved
from tests.factories.accounts import UserFactory
from tests.factories.studies import completed, make_study

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]

REASON = "Asked by e-mail on 3 May"
LOGGED = f"Withdrawn on behalf of the participant: {REASON}"


@pytest.fixture
def owner() -> Any:
    return UserFactory()


@pytest.fixture
def study(owner: Any) -> Study:
    return make_study(per_condition=4, owner=owner)


@pytest.fixture
def person(study: Study) -> Participant:
    person = completed(study)
    completed(study, number=1)
    ExternalId.objects.create(study=study, participant=person, name="PROLIFIC_PID", value="5f1Ab")
    return person


@pytest.fixture
def client(owner: Any) -> Client:
    client = Client()
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _is_gone(person: Participant, actor: Any) -> None:
    """What the participant's own withdrawal does, and the line of the log."""
    row = Participant.objects.get(pk=person.pk)
    assert (row.status, row.place, row.completion_code) == (ParticipantStatus.WITHDRAWN, None, "")
    assert row.erased_at is not None
    assert row.condition == person.condition
    left = (row.responses, row.profile, row.events, row.external_ids)
    assert [rows.count() for rows in left] == [0, 0, 0, 0]
    line = LogEntry.objects.get(kind="studies.participant", object_id=person.pk, to_status="withdrawn")
    assert (line.reason, line.actor) == (LOGGED, actor)
    assert replayed_log(person.study, Mode.LIVE).problem == ""


def _url(study: Study) -> str:
    return reverse("studies:withdraw", args=[study.slug])


@pytest.mark.parametrize("known_as", ["code", "external id"])
def test_in_the_console_after_a_confirmation(
    study: Study, person: Participant, client: Client, owner: Any, known_as: str
) -> None:
    report = build_report(study=study)
    said = {"known_as": person.code if known_as == "code" else "5f1Ab", "reason": REASON}
    page = client.post(_url(study), said).content.decode()
    assert f'name="confirmed" value="{person.code}"' in page
    assert "cannot be restored" in page
    assert Participant.objects.get(pk=person.pk).status == ParticipantStatus.COMPLETED
    page = client.post(_url(study), {**said, "confirmed": person.code}, follow=True).content.decode()
    assert f"Participant {person.code} is withdrawn" in page
    _is_gone(person, owner)
    assert reports_of(owner).get(pk=report.pk).is_out_of_date
    again = client.post(_url(study), {"known_as": person.code, "reason": REASON, "confirmed": person.code})
    assert "has already withdrawn" in again.content.decode()


def test_the_console_says_what_is_wrong(study: Study, person: Participant, client: Client) -> None:
    page = client.post(_url(study), {"known_as": "5F1AB", "reason": REASON}).content.decode()
    assert "has no participant with the code or external id" in page
    assert "This field is required" in client.post(_url(study), {"known_as": person.code}).content.decode()
    other = completed(study, number=2)
    ExternalId.objects.create(study=study, participant=other, name="workerId", value="5f1Ab")
    page = client.post(_url(study), {"known_as": "5f1Ab", "reason": REASON}).content.decode()
    assert person.code in page
    assert other.code in page
    assert "belongs to 2 participants" in page
    elsewhere = make_study(slug="elsewhere", run=study.run)
    assert client.post(_url(elsewhere), {"known_as": person.code, "reason": REASON}).status_code == 404
    with pytest.raises(ParallaxError, match="no participant"):
        participant_known_as(study=elsewhere, known_as=person.code)


def test_an_archived_study_still_erases_and_nobody_but_the_owner_may(
    study: Study, person: Participant, client: Client, owner: Any
) -> None:
    analyst = UserFactory()
    add_member(study=study, email=analyst.email, role=Role.ANALYST)
    as_analyst = Client()
    as_analyst.force_login(analyst, backend="django.contrib.auth.backends.ModelBackend")
    assert as_analyst.get(_url(study)).status_code == 403
    assert _url(study) not in as_analyst.get(reverse("studies:quality", args=[study.slug])).content.decode()
    close_study(study=study)
    archive_study(study=study)
    assert _url(study) in client.get(reverse("studies:quality", args=[study.slug])).content.decode()
    client.post(_url(study), {"known_as": person.code, "reason": REASON, "confirmed": person.code})
    _is_gone(person, owner)


def test_by_command_after_a_look_at_what_would_go(study: Study, person: Participant) -> None:
    out = StringIO()
    call_command("withdraw_participant", study.slug, "5f1Ab", "--reason", REASON, stdout=out)
    assert_approved("commands/withdraw-participant", out.getvalue().replace(person.code, "CODE"))
    assert Participant.objects.get(pk=person.pk).status == ParticipantStatus.COMPLETED
    call_command("withdraw_participant", study.slug, "5f1Ab", "--reason", REASON, "--yes", stdout=out)
    assert out.getvalue().count(person.code) == 2
    _is_gone(person, None)
    for given, problem in (
        ((study.slug, person.code), "has already withdrawn"),
        ((study.slug, "nobody"), "has no participant"),
        (("none", person.code), "'none'"),
    ):
        with pytest.raises(CommandError, match=problem):
            call_command("withdraw_participant", *given, "--reason", REASON, "--yes")


def _program(who: Any, scope: str) -> APIClient:
    _token, text = create_token(owner=who, name="R", scope=scope)
    program = APIClient()
    program.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return program


def test_by_a_program_whose_token_reaches_as_far(study: Study, person: Participant, owner: Any) -> None:
    address = f"/api/v1/studies/{study.slug}/withdrawals/"
    asked = {"participant": "5f1Ab", "reason": REASON}
    for scope in ("read", "report"):
        assert _program(owner, scope).post(address, asked, format="json").status_code == 403
    analyst = UserFactory()
    add_member(study=study, email=analyst.email, role=Role.ANALYST)
    assert _program(analyst, "withdraw").post(address, asked, format="json").status_code == 403
    assert _program(UserFactory(), "withdraw").post(address, asked, format="json").status_code == 404
    program = _program(owner, "withdraw")
    assert program.post(address, {"participant": "5f1Ab"}, format="json").status_code == 400
    refused = program.post(address, {"participant": "nobody", "reason": REASON}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "withdrawal.not_found")
    assert Participant.objects.get(pk=person.pk).status == ParticipantStatus.COMPLETED
    answer = program.post(address, asked, format="json")
    assert (answer.status_code, answer.json()) == (200, {"code": person.code, "status": "withdrawn"})
    _is_gone(person, owner)
    assert _program(owner, "withdraw").post("/api/v1/reports/", {"study": study.slug}, format="json").status_code == 403


def test_a_reason_is_needed_and_one_who_withdrew_by_themselves_stays(study: Study, person: Participant) -> None:
    with pytest.raises(ParallaxError, match="State the reason"):
        withdraw_on_behalf(participant=person, reason="  ")
    with pytest.raises(ParallaxError, match="at most"):
        withdraw_on_behalf(participant=person, reason="x" * 2001)
    withdraw(participant=person)
    with pytest.raises(ParallaxError, match="already withdrawn"):
        withdraw_on_behalf(participant=person, reason=REASON)
