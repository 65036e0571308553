"""Reports on many participants are built by a worker, and the page that waits leads to them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.enums import RequestStatus
from analysis.models import Report, ReportRequest
from analysis.services import requests
from core.models import LogEntry
from studies.models import Study, StudyMembership
from studies.monitoring.services.blinding import open_outcomes
from tests.factories.accounts import UserFactory

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def owner(planted: Study, client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Of a study whose fifteen participants count as many."""
    monkeypatch.setattr(requests, "MOST_AT_ONCE", 14)
    open_outcomes(study=planted, reason="A test.")
    client.force_login(StudyMembership.objects.get(study=planted).researcher)
    return client


def ask(owner: Client, study: Study, **more: Any) -> str:
    given = {"study": study.slug, "mode": "", "exclusions": "planned", **more}
    return str(owner.post(reverse("analysis:new"), given).url)


def test_a_worker_builds_it_and_the_page_leads_there(
    eager: None, owner: Client, planted: Study, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks() as waiting:
        address = ask(owner, planted, alpha="0.01", leave_out=["fon"])
    assert not Report.objects.exists()
    page = owner.get(address).content.decode()
    assert "Waiting for a worker." in page
    assert 'hx-trigger="every 2s"' in page
    for callback in waiting:
        callback()
    report = Report.objects.get()
    assert (report.plan["alpha"], report.plan["variables"]) == (0.01, ["accuracy", "son", "satisfaction"])
    assert report.made_by == StudyMembership.objects.get(study=planted).researcher
    assert owner.get(address).url == report.get_absolute_url()  # type: ignore[attr-defined]
    polled = owner.get(address, headers={"HX-Request": "true"})
    assert polled.headers["HX-Redirect"] == report.get_absolute_url()
    asked = ReportRequest.objects.get()
    assert requests.make_requested(request_id=asked.pk) is False  # delivered twice
    assert Report.objects.count() == 1
    moves = LogEntry.objects.filter(kind="analysis.reportrequest").order_by("id").values_list("to_status", flat=True)
    assert list(moves) == [RequestStatus.RUNNING, RequestStatus.SUCCEEDED]
    report.delete()
    assert "has been deleted" in owner.get(address).content.decode()


def test_what_keeps_it_from_being_built_is_told(
    eager: None, owner: Client, planted: Study, django_capture_on_commit_callbacks: Any
) -> None:
    type(planted.run).objects.filter(pk=planted.run_id).update(status="failed")
    with django_capture_on_commit_callbacks(execute=True):
        address = ask(owner, planted)
    page = owner.get(address).content.decode()
    assert "The report could not be built." in page
    assert "a report needs a run that has succeeded" in page
    assert "every 2s" not in page


def test_nobody_else_sees_a_request(owner: Client, planted: Study) -> None:
    address = ask(owner, planted)
    stranger = Client()
    stranger.force_login(UserFactory())
    assert stranger.get(address).status_code == 404
    assert Client().get(address).status_code == 302


def test_few_are_reported_at_once(owner: Client, planted: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MOST_AT_ONCE", 15)
    assert ask(owner, planted) == Report.objects.get().get_absolute_url()
    assert not ReportRequest.objects.exists()
