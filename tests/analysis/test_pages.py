"""Pages of the reports: who sees them, what stands on them, and the policy they keep."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import Report
from analysis.services import build_report
from analysis.services.report_cache import page_of
from analysis.urls import urlpatterns
from jobs.models import Job, JobStatus
from studies.enums import ParticipantStatus, Role
from studies.models import Study, StudyMembership
from studies.monitoring.services.blinding import open_outcomes
from studies.participation.services.withdrawal import withdraw
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory
from tests.factories.analysis import every_page
from tests.factories.walking import tree

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture(scope="module")
def drawn(stored_report: Report) -> Report:
    """The report with its page, which takes seconds to draw."""
    page_of(stored_report)
    return stored_report


@pytest.fixture
def report(drawn: Report) -> Report:
    return Report.objects.get(pk=drawn.pk)


@pytest.fixture
def planted(report: Report) -> Study:
    return report.study


@pytest.fixture
def owner(planted: Study, client: Client) -> Client:
    open_outcomes(study=planted, reason="A test.")
    client.force_login(StudyMembership.objects.get(study=planted).researcher)
    return client


ADDRESSES = ("", "report.html", "report.json", "figures/box-accuracy.svg")


def test_page_shows_verdict_tables_and_charts_without_inline_styles(owner: Client, report: Report) -> None:
    page = every_page(owner, report)
    for words in ("Table 1. Partial order", "Table 2. Objective", "With profiles of 5 ratings"):
        assert words in page
    assert not re.search(r"<[^>]+\sstyle=|<style|\son[a-z]+=\"", page)
    scripts = re.findall(r"<script([^>]*)>", page)
    assert all("src=" in script or 'type="application/json"' in script for script in scripts)
    charts = re.findall(r'data-chart="([^"]+)"', page)
    assert len(charts) >= 8
    for chart in charts:
        spec = re.search(rf'<script id="{chart}" type="application/json">(.*?)</script>', page, re.S)
        assert spec is not None
        assert set(json.loads(spec.group(1))) == {"light", "dark"}
    assert page.count("Data of this figure") == len(charts) + page.count("drawn wide")  # those that the server draws


@pytest.mark.parametrize("role", [None, Role.INTERVIEWER])
def test_report_does_not_exist_for_strangers_and_interviewers(
    client: Client, planted: Study, report: Report, role: str | None
) -> None:
    researcher = UserFactory()
    if role:
        StudyMembership.objects.create(study=planted, researcher=researcher, role=role)
    client.force_login(researcher)
    for name in ADDRESSES:
        assert client.get(f"{report.get_absolute_url()}{name}").status_code == 404
    assert planted.title not in client.get(reverse("analysis:list")).content.decode()
    refused = client.post(reverse("analysis:new"), {"study": planted.slug})
    assert refused.status_code == 400
    assert Report.objects.count() == 1


def test_analyst_reads_every_address_and_a_worker_draws_what_takes_long(
    eager: None, client: Client, planted: Study, report: Report, django_capture_on_commit_callbacks: Any
) -> None:
    analyst = UserFactory()
    StudyMembership.objects.create(study=planted, researcher=analyst, role=Role.ANALYST)
    client.force_login(analyst)
    with django_capture_on_commit_callbacks() as waiting:
        drawn = client.get(f"{report.get_absolute_url()}report.html", follow=True)
    assert "report.html." in drawn.content.decode()
    for draw in waiting:
        draw()
    found = {name: client.get(f"{report.get_absolute_url()}{name}") for name in ADDRESSES}
    assert json.loads(found["report.json"].content)["inputs_hash"] == report.inputs_hash
    assert found["report.html"]["Content-Disposition"] == 'attachment; filename="stored-films-report-1.html"'
    assert planted.title in found[""].content.decode()


def test_pages_are_closed_without_sign_in(client: Client, report: Report) -> None:
    answer = client.get(report.get_absolute_url())
    assert answer.status_code == 302
    assert "/account/" in answer["Location"]


def test_button_requests_once_and_a_web_process_builds_nothing(owner: Client, planted: Study) -> None:
    n_reports = Report.objects.count()
    listed = owner.get(reverse("analysis:list"), {"study": planted.slug}).content.decode()
    assert "Build report" in listed
    first = owner.post(reverse("analysis:new"), {"study": planted.slug})
    again = owner.post(reverse("analysis:new"), {"study": planted.slug})
    asked = Job.objects.get(kind="report")
    assert first["Location"] == again["Location"] == reverse("analysis:request", args=[asked.pk])
    assert asked.owner == StudyMembership.objects.get(study=planted).researcher
    assert (asked.status, Report.objects.count()) == (JobStatus.QUEUED, n_reports)


def test_refusal_is_said_on_the_page_of_the_request(
    eager: None, owner: Client, planted: Study, django_capture_on_commit_callbacks: Any
) -> None:
    planted.conditions.update(model_digest="0" * 64)
    with django_capture_on_commit_callbacks(execute=True):
        answer = owner.post(reverse("analysis:new"), {"study": planted.slug})
    page = owner.get(answer["Location"]).text
    assert_page_approved("analysis/request-refused", page)


def test_list_takes_the_same_queries_for_one_report_and_three(
    owner: Client, report: Report, django_assert_num_queries: object
) -> None:
    with django_assert_num_queries(4):  # type: ignore[operator]
        owner.get(reverse("analysis:list"))
    for number in (2, 3):
        Report.objects.create(
            study=report.study, run=report.run, number=number, mode=report.mode, inputs_hash=str(number), results={}
        )
    with django_assert_num_queries(4):  # type: ignore[operator]
        owner.get(reverse("analysis:list"))


@pytest.mark.slow
def test_report_is_marked_when_someone_withdraws_after_it(owner: Client, report: Report, planted: Study) -> None:
    assert "Out of date" not in owner.get(report.get_absolute_url()).text
    withdraw(participant=planted.participants.filter(status=ParticipantStatus.COMPLETED).latest("pk"))
    assert "Out of date" in owner.get(report.get_absolute_url()).text
    assert "out of date" in owner.get(reverse("analysis:list")).text
    fresh = build_report(study=planted)
    assert fresh.pk != report.pk
    assert "Out of date" not in owner.get(fresh.get_absolute_url()).text


def test_administration_shows_that_a_report_exists_and_not_what_it_says(client: Client, report: Report) -> None:
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    page = client.get(reverse("admin:analysis_report_change", args=[report.pk]))
    assert report.inputs_hash in page.text
    assert "'q1'" in str(report.results)
    assert "q1" not in tree(page).text_content()
    assert "results" not in page.context["adminform"].form.fields
    assert client.get(reverse("admin:analysis_report_delete", args=[report.pk])).status_code == 403


def test_list_answers_head_and_damaged_addresses(owner: Client, report: Report) -> None:
    assert owner.head(reverse("analysis:list")).status_code == 200
    assert f"Report {report.number}" in owner.get(reverse("analysis:list"), {"study": "\x00"}).text


# What is answered, by the name of the address: to the owner, who asked; to an analyst; to all others who are signed in.
ANSWERED = {
    "list": (200, 200, 200),
    "new": (200, 200, 200),
    "request": (200, 404, 404),
    "request-cancel": (302, 404, 404),
    "detail": (200, 200, 404),
    "chapter": (200, 200, 404),
    "comments": (200, 200, 404),
    "files": (200, 200, 404),
    "file": (200, 200, 404),
    "bayesian": (200, 200, 404),
    "bayesian-request": (302, 302, 404),
    "bayesian-cancel": (302, 302, 404),
    "former": (301, 301, 404),
    "former-part": (301, 301, 404),
}
POSTED = {"request-cancel", "bayesian-request", "bayesian-cancel"}


def test_every_address_against_every_role(planted: Study, report: Report) -> None:
    owner = StudyMembership.objects.get(study=planted).researcher
    people = {"owner": owner, "stranger": UserFactory(), "administrator": UserFactory(is_staff=True, is_superuser=True)}
    for role in (Role.ANALYST, Role.INTERVIEWER):
        people[role] = UserFactory()
        StudyMembership.objects.create(study=planted, researcher=people[role], role=role)
    assert {str(pattern.name) for pattern in urlpatterns} == set(ANSWERED)
    for name, (to_owner, to_analyst, to_others) in ANSWERED.items():
        expected = {"owner": to_owner, Role.ANALYST: to_analyst}
        for who, researcher in [*people.items(), ("nobody", None)]:
            asked = planted.jobs.create(kind="report", owner=owner)
            arguments = {
                **{
                    of_report: [planted.slug, report.number]
                    for of_report in ("detail", "comments", "files", "bayesian", "bayesian-request", "bayesian-cancel")
                },
                **{of_request: [asked.pk] for of_request in ("request", "request-cancel")},
                "chapter": [planted.slug, report.number, "comparison"],
                "file": [planted.slug, report.number, "report.json"],
                "former": [report.pk],
                "former-part": [report.pk, "files/"],
                "list": [],
                "new": [],
            }
            address = reverse(f"analysis:{name}", args=arguments[name])
            client = Client()
            if researcher is not None:
                client.force_login(researcher)
            answer = client.post(address) if name in POSTED else client.get(address)
            if researcher is None:
                assert (answer.status_code, "/account/" in answer["Location"]) == (302, True), name
            else:
                assert answer.status_code == expected.get(who, to_others), (name, who)
            if who not in ("owner", Role.ANALYST):
                assert planted.title not in answer.text, (name, who)
            asked.refresh_from_db()
            assert (asked.status == JobStatus.CANCELLED) == (name == "request-cancel" and who == "owner")
