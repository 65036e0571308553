"""A second wave: a closed study reopened, and people kept out who took part in another study."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.present.plan import deviations
from analysis.read.reports import reports_of
from analysis.services import build_report
from core.errors import NotAllowedInState, ParallaxError
from core.models import LogEntry
from studies.allocation.selectors.allocations import replayed_log
from studies.data.services.retention import erase_expired, set_retention
from studies.design.services.amending import extend_targets, reopen_study
from studies.design.services.archiving import archive_study
from studies.design.services.launch import close_study
from studies.enums import Mode, ParticipantStatus, Role
from studies.models import Participant, Study
from studies.monitoring.selectors.outcomes import are_outcomes_open
from studies.participation.services.enrolment import accept_about
from studies.participation.services.withdrawal import withdraw
from studies.recruitment.panels.exits import Exit
from studies.recruitment.selectors.recruitment import recruiting_of
from studies.recruitment.services.recruitment import exclude_studies, set_exits
from studies.team.services.members import add_member
from tests.factories.accounts import UserFactory
from tests.factories.studies import ABOUT, assigned, completed, enter, make_study, recruit_on_prolific
from tests.factories.walking import tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db, pytest.mark.slow]

WHY = "The reviewers asked for more participants"
LINK = "PROLIFIC_PID=Ab1&SESSION_ID=s1"


@pytest.fixture
def owner() -> Any:
    return UserFactory(name="Ada")


@pytest.fixture
def study(owner: Any) -> Study:
    """A closed study, full, with a report."""
    study = make_study(per_condition=2, owner=owner)
    for number in range(4):
        completed(study, number=number)
    close_study(study=study)
    build_report(study=study)
    return study


@pytest.fixture
def client(owner: Any) -> Client:
    client = Client()
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return client


# Reopened


def test_a_closed_study_is_reopened_as_a_new_version_and_goes_on(study: Study, client: Client, owner: Any) -> None:
    closed_at, design = study.closed_at, study.design_hash
    assert closed_at is not None
    client.post(reverse("studies:reopen", args=[study.slug]), {"reason": f" {WHY} "}, follow=True)
    study.refresh_from_db()
    assert (study.status, study.closed_at, study.design_hash) == ("live", None, design)
    assert study.reopened_at is not None
    assert study.outcomes_opened_at == closed_at
    assert are_outcomes_open(study)
    assert list(study.versions.values_list("number", "why", "made_by")) == [(1, "", None), (2, WHY, owner.pk)]
    line = LogEntry.objects.get(kind="studies.study", object_id=study.pk, from_status="closed", to_status="live")
    assert (line.to_status, line.reason, line.actor) == ("live", f"Reopened: {WHY}", owner)
    # Full until the targets grow; then the allocation goes on where it was.
    assert assigned(study).status == ParticipantStatus.QUOTA_FULL
    extend_targets(study=study, targets={"TopPop": 3, "PureSVD4": 3}, why=WHY, actor=owner)
    people = [completed(study, number=number) for number in (4, 5)]
    assert {person.version.number for person in people if person.version} == {3}
    assert replayed_log(study, Mode.LIVE).problem == ""


def test_earlier_reports_are_out_of_date_and_later_ones_say_so(study: Study, owner: Any) -> None:
    first = reports_of(owner).get()
    assert not first.is_out_of_date
    assert "reopened" not in json.dumps(first.results["planned"])
    reopen_study(study=study, why=WHY, actor=owner)
    extend_targets(study=study, targets={"TopPop": 3, "PureSVD4": 3}, why=WHY, actor=owner)
    for number in (4, 5):
        completed(study, number=number)
    close_study(study=study)
    assert reports_of(owner).get(pk=first.pk).is_out_of_date
    second = build_report(study=study)
    assert second.pk != first.pk
    assert not reports_of(owner).get(pk=second.pk).is_out_of_date
    planned = second.read_results().planned
    assert planned is not None
    (said,) = [sentence for sentence in deviations(second.read_results(), planned) if "reopened" in sentence]
    assert "by Ada" in said
    assert f"“{WHY}”" in said


def test_what_cannot_be_reopened_is_refused_with_the_reason(study: Study, client: Client) -> None:
    with pytest.raises(ParallaxError, match="State the reason"):
        reopen_study(study=study, why=" ")
    running = make_study(slug="running", run=study.run)
    with pytest.raises(NotAllowedInState, match="is live"):
        reopen_study(study=running, why=WHY)
    assert "reopen/" not in client.get(reverse("studies:detail", args=[make_study(slug="own", run=study.run,
        owner=study.memberships.get().researcher).slug])).content.decode()  # fmt: skip
    set_retention(study=study, external_ids_days=None, answers_days=1)
    erase_expired(now=timezone.now() + timedelta(days=2))
    with pytest.raises(ParallaxError, match="Duplicate"):
        reopen_study(study=study, why=WHY)
    archive_study(study=study)
    with pytest.raises(ParallaxError) as refusal:
        reopen_study(study=study, why=WHY)
    assert refusal.value.code == "study.archived"
    study.refresh_from_db()
    assert study.status == "closed"


def test_who_withdrew_keeps_no_study_closed(study: Study) -> None:
    withdraw(participant=study.participants.first())  # type: ignore[arg-type]
    assert reopen_study(study=study, why=WHY) == 2


# Not those who took part in another study


@pytest.fixture
def first(owner: Any) -> Study:
    """A study in which Ab1 held a slot, and Ab2 never got so far."""
    first = make_study(slug="first", per_condition=3, owner=owner)
    recruit_on_prolific(first)
    for value, about in (("Ab1", 30), ("Ab2", 15)):
        entry = enter(first, parameters={"PROLIFIC_PID": value})

        accept_about(participant=entry.participant, answers={**ABOUT, "age": about})
    assert sorted(first.participants.values_list("status", flat=True)) == ["active", "screened_out"]
    return first


@pytest.fixture
def second(first: Study, owner: Any) -> Study:
    """A study on Prolific that takes nobody from the first."""
    second = make_study(slug="second", per_condition=3, owner=owner, run=first.run)
    recruit_on_prolific(second)
    exclude_studies(study=second, slugs=["first"], actor=owner)
    return second


@pytest.mark.parametrize("language", ["en", "it"])
def test_who_took_part_before_leaves_by_the_screened_out_exit_and_nothing_is_stored(
    second: Study, language: str
) -> None:
    set_exits(study=second, exits={"screened_out": Exit("static", "OUT1")})
    visitor = Client()
    page = tree(visitor.get(f"/s/second/?{LINK}&lang={language}"))
    assert page.get("lang") == language
    assert not page.xpath("//main//form")
    (out,) = page.xpath("//a[contains(@href, 'app.prolific.com')]")
    assert out.get("href") == "https://app.prolific.com/submissions/complete?cc=OUT1"
    assert not second.participants.exists()
    with pytest.raises(ParallaxError) as refusal:  # nor by a form that was sent anyway
        enter(second, parameters={"PROLIFIC_PID": "Ab1"})
    assert refusal.value.code == "study.took_part_before"
    set_exits(study=second, exits={"screened_out": Exit("static", "OUT1", text={"en": "Once is *enough*."})})
    assert "Once is" in visitor.get(f"/s/second/?{LINK}&lang=en").content.decode()


def test_others_enter_and_so_does_who_was_screened_out_or_has_withdrawn(first: Study, second: Study) -> None:
    for value in ("Ab2", "Ab3", "{{%PROLIFIC_PID%}}"):
        enter(second, parameters={"PROLIFIC_PID": value})
    enter(second)
    enter(second, Mode.PREVIEW, parameters={"PROLIFIC_PID": "Ab1"})
    withdraw(participant=Participant.objects.get(study=first, status="active"))
    enter(second, parameters={"PROLIFIC_PID": "Ab1"})


def test_who_had_entered_before_the_rule_goes_on(first: Study, owner: Any) -> None:
    second = make_study(slug="second", per_condition=3, owner=owner, run=first.run)
    recruit_on_prolific(second)
    enter(second, parameters={"PROLIFIC_PID": "Ab1"})
    exclude_studies(study=second, slugs=["first"], actor=owner)
    assert "Welcome back" in Client().get(f"/s/second/?{LINK}").content.decode()


def test_only_studies_that_the_researcher_may_read_are_offered_and_the_choice_is_logged(
    first: Study, second: Study, client: Client, owner: Any
) -> None:
    foreign = make_study(slug="foreign", run=first.run)
    address = reverse("studies:set-entry", args=["second"])
    page = tree(client.get(reverse("studies:recruiting", args=["second"])))
    entry = {"panel": "prolific", "progress_minutes": "10"}
    assert page.xpath("//input[@name='studies']/@value") == ["first"]
    assert page.xpath("//input[@name='studies'][@checked]/@value") == ["first"]
    client.post(address, {**entry, "studies": ["foreign"]})
    with pytest.raises(ParallaxError, match="foreign"):
        exclude_studies(study=second, slugs=["foreign"], actor=owner)
    assert recruiting_of(second).excluded_studies == (first.pk,)
    lines = LogEntry.objects.filter(
        kind="studies.study", object_id=second.pk, reason__startswith="Recruiting: participants"
    )
    assert [" first " in one.reason for one in lines] == [True]
    # What another owner chose stays, and is told as a number.
    other = UserFactory()
    add_member(study=foreign, email=other.email, role=Role.ANALYST)
    add_member(study=second, email=other.email, role=Role.OWNER)
    exclude_studies(study=second, slugs=["foreign"], actor=other)
    assert recruiting_of(second).excluded_studies == (first.pk, foreign.pk)
    page = client.get(reverse("studies:recruiting", args=["second"])).content.decode()
    assert "1 more" in page
    client.post(address, entry)
    assert recruiting_of(second).excluded_studies == (foreign.pk,)
    assert Participant.objects.filter(study=second).count() == 0
