"""Pages of accounts, invitations, interview days and jobs: no barrier, and a device that returns by itself."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from accounts.services.invitations import invite
from jobs.models import Job, JobStatus
from studies.design.services.questionnaires import add_evaluator_question
from studies.enums import Role
from studies.models import Study
from studies.participation.services.interviews import start_interview
from studies.recruitment.selectors.recruitment import InterviewPlace
from studies.recruitment.services.recruitment import set_places
from studies.team.services.members import add_member, invite_to_study
from tests.e2e.test_accessibility import SIDEWAYS, violations, with_axe
from tests.e2e.test_console_accessibility import LOOKS, look_at, signed_in, unfolded
from tests.factories.accounts import UserFactory
from tests.factories.studies import make_study

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PASSWORD = "correct horse battery"


@pytest.fixture
def study(transactional_db: None) -> Study:
    """A live study with questions for the evaluator and places, whose owner is an administrator."""
    owner = UserFactory(is_superuser=True, is_staff=True)
    draft = make_study(slug="draft", status="draft", owner=owner)
    for question in (
        {"key": "calm", "kind": "likert", "text": {"en": "Calm?"}, "minimum": 1, "maximum": 5},
        {"key": "remark", "kind": "long_text", "text": {"en": "Remarks?"}, "required": False},
    ):
        add_evaluator_question(study=draft, question=question)
    draft.refresh_from_db()
    study = make_study(run=draft.run, owner=owner)
    Study.objects.filter(pk=study.pk).update(questionnaire=draft.questionnaire)
    study.refresh_from_db()
    set_places(study=study, places=[InterviewPlace("lab", "Laboratory")])
    interviewer = UserFactory(email="interviewer@example.org")
    interviewer.set_password(PASSWORD)
    interviewer.save()
    add_member(study=study, email=interviewer.email, role=Role.INTERVIEWER)
    return study


def test_no_page_about_people_or_jobs_has_a_violation(live_server: Any, browser: Browser, study: Study) -> None:
    owner = study.memberships.get(role=Role.OWNER).researcher
    closed = UserFactory(is_active=False)
    _invitation, key = invite(actor=owner)
    invite_to_study(study=study, role=Role.ANALYST, email="ana@example.org", actor=owner)
    session = start_interview(study=study, interviewer=owner, place="lab", label="A7").interview
    jobs = [
        study.jobs.create(kind="simulation", payload={"per_condition": 2, "seed": 1}, status=status)
        for status in (JobStatus.FAILED, JobStatus.SUCCEEDED)
    ]

    def simulation(job: Job) -> str:
        return reverse("studies:simulation", args=[study.slug, job.pk])

    of_study = {
        name: (reverse(f"studies:{name}", args=[study.slug]), unfolded)
        for name in ("members", "interview", "interviewers", "simulate")
    }
    pages = {
        **of_study,
        "interviewers of a draft": (reverse("studies:interviewers", args=["draft"]), unfolded),
        "session": (reverse("studies:session", args=[study.slug, session.pk]), None),
        **{
            f"simulation {job.status}": (reverse("studies:simulation", args=[study.slug, job.pk]), None) for job in jobs
        },
        "account": (reverse("accounts:researcher", args=[closed.pk]), None),
    }
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    signed_in(context, live_server.url, owner)
    assert look_at(context, live_server.url, pages) == len(LOOKS) * len(pages)
    visitor = browser.new_context(viewport={"width": 1280, "height": 900})
    look_at(
        visitor,
        live_server.url,
        {
            "invitation": (reverse("accounts:invitation", args=[key]), None),
            "invalid invitation": (reverse("accounts:invitation", args=["nothing"]), None),
        },
    )


def _looked_at(page: Page, name: str) -> None:
    with_axe(page)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert not page.evaluate(SIDEWAYS), name
        assert violations(page) == [], name


def _handed_over(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_label("PIN for this device").fill("2468")
    page.get_by_role("button", name="Start on this device").click()
    page.get_by_role("link", name="I am the participant").click()
    page.locator("button[value=no]").click()


def test_the_device_returns_by_itself_or_by_a_button_and_a_pin_unlocks_it(
    live_server: Any, browser: Browser, study: Study
) -> None:
    interviewer = User.objects.get(email="interviewer@example.org")
    context = browser.new_context()
    signed_in(context, live_server.url, interviewer)
    page = context.new_page()
    page.clock.install()
    console = f"{live_server.url}/studies/{study.slug}/interview/"
    _handed_over(page, console)
    expect(page.get_by_text("This page returns to the interviewer by itself")).to_be_visible()
    _looked_at(page, "hand back")
    page.clock.run_for(31_000)
    page.wait_for_url("**/account/unlock/")
    _looked_at(page, "unlock")
    page.get_by_label("PIN or password").fill("2468")
    page.keyboard.press("Enter")
    page.wait_for_url("**/interview/*/")
    expect(page.get_by_role("heading", name="Your questions")).to_be_visible()
    # The second participant wants to read on.
    _handed_over(page, console)
    stop = page.get_by_role("button", name="Stay on this page")
    stop.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The page stays open.")).to_be_visible()
    page.clock.run_for(60_000)
    assert page.url.split("?")[0].endswith("/declined/")
    page.keyboard.press("Enter")  # the focus is on the link
    page.wait_for_url("**/account/unlock/")


def test_without_javascript_a_link_returns_the_device(live_server: Any, browser: Browser, study: Study) -> None:
    context = browser.new_context(java_script_enabled=False)
    signed_in(context, live_server.url, User.objects.get(email="interviewer@example.org"))
    page = context.new_page()
    _handed_over(page, f"{live_server.url}/studies/{study.slug}/interview/")
    expect(page.get_by_text("This page returns to the interviewer by itself")).to_be_hidden()
    page.get_by_role("link", name="Return to the interviewer").click()
    page.wait_for_url("**/account/unlock/")
