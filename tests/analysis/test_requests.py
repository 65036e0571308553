"""Reports are built by a worker, and the page that waits leads to them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import Drawing, Report
from analysis.services import report_cache
from jobs.models import Job
from jobs.services import do_job
from studies.models import Study, StudyMembership
from studies.monitoring.services.blinding import open_outcomes
from tests.approval import assert_page_approved
from tests.factories.accounts import UserFactory
from tests.factories.analysis import report_page

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def owner(planted: Study, client: Client) -> Client:
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
    assert_page_approved("analysis/request-waiting", page)
    assert 'hx-trigger="every 1s"' in page
    for callback in waiting:
        callback()
    report = Report.objects.get()
    assert (report.plan["alpha"], report.plan["variables"]) == (0.01, ["accuracy", "son", "satisfaction"])
    assert report.made_by == StudyMembership.objects.get(study=planted).researcher
    assert owner.get(address).url == report.get_absolute_url()  # type: ignore[attr-defined]
    polled = owner.get(address, headers={"HX-Request": "true"})
    assert polled.headers["HX-Redirect"] == report.get_absolute_url()
    asked = Job.objects.get(kind="report")
    assert do_job(job_id=asked.pk) is False  # delivered twice
    assert Report.objects.count() == 1
    report.delete()
    assert "has been deleted" in owner.get(address).content.decode()


def test_what_keeps_it_from_being_built_is_told(
    eager: None, owner: Client, planted: Study, django_capture_on_commit_callbacks: Any
) -> None:
    type(planted.run).objects.filter(pk=planted.run_id).update(status="failed")
    with django_capture_on_commit_callbacks(execute=True):
        address = ask(owner, planted)
    page = owner.get(address).content.decode()
    assert_page_approved("analysis/request-failed", page)
    assert "every 1s" not in page


def test_nobody_else_sees_a_request(owner: Client, planted: Study) -> None:
    address = ask(owner, planted)
    stranger = Client()
    stranger.force_login(UserFactory())
    assert stranger.get(address).status_code == 404
    assert Client().get(address).status_code == 302


@pytest.mark.slow
def test_every_page_of_a_report_is_drawn_by_the_worker(
    eager: None, owner: Client, planted: Study, django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with django_capture_on_commit_callbacks() as requested:
        address = ask(owner, planted)
    for build in requested:  # and not what is requested by that, the Bayesian analysis
        build()
    report = Report.objects.get()
    assert [job.activity for job in Job.objects.filter(kind="package")] == [""]

    def refuse(report: Report) -> None:
        raise AssertionError("a web process arranged the report")

    with monkeypatch.context() as patch:
        patch.setattr(report_cache, "document_of", refuse)
        patch.setattr(report_cache, "cached_document", refuse)
        first = owner.get(address, follow=True)
        assert planted.title in first.text
        for link in report_cache.page_of(report).chapters:
            page = owner.get(report_page(report, "chapter", link.key))
            assert link.title in page.text
        # Pages of an older version of the code are drawn by a worker too.
        Drawing.objects.update(version="old")
        polling = {"HX-Request": "true", "HX-Target": "redrawing"}
        with django_capture_on_commit_callbacks() as waiting:
            for url in (
                report.get_absolute_url(),
                report_page(report, "chapter", "method"),
            ):
                assert "being drawn" in owner.get(url).text
                assert owner.get(url, headers=polling).status_code == 204
    assert len(waiting) == 2
    with django_capture_on_commit_callbacks():  # the files are drawn after the pages
        for draw in waiting:
            draw()
    assert owner.get(report.get_absolute_url(), headers=polling).headers["HX-Refresh"] == "true"
    assert "being drawn" not in owner.get(report.get_absolute_url()).text
