"""A requested report is cancelled at any moment, by whoever requested it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.models import Report
from analysis.services import requests
from analysis.services.requests import request_report
from core.errors import NotAllowedInState
from core.models import LogEntry
from jobs.models import Job, JobStatus
from jobs.services import cancel, do_job
from studies.models import Study, StudyMembership
from tests.factories.accounts import UserFactory

pytestmark = [pytest.mark.integration, pytest.mark.django_db]


@pytest.fixture
def asked(planted: Study, sent: list[int]) -> Job:
    return request_report(study=planted, asked_by=StudyMembership.objects.get(study=planted).researcher)


def again(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)


@pytest.mark.parametrize("words", ["Reading the answers", "Comparing both sides", "Storing the report"])
def test_cancelled_at_any_step_it_writes_nothing(asked: Job, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    build = requests.build_report

    def cancelled_on_the_way(*, progress: Callable[[str], None], **rest: Any) -> Report:
        def tell(said: str) -> None:
            if said == words:
                cancel(again(asked), actor=asked.owner)
            progress(said)

        return build(progress=tell, **rest)

    monkeypatch.setattr(requests, "build_report", cancelled_on_the_way)
    assert do_job(job_id=asked.pk) is False
    assert again(asked).status == JobStatus.CANCELLED
    assert not Report.objects.exists()
    assert LogEntry.objects.get(to_status="cancelled").actor == asked.owner
    with pytest.raises(NotAllowedInState):
        cancel(again(asked))


def test_whoever_asked_cancels_it_and_nobody_else(asked: Job, planted: Study) -> None:
    address = reverse("analysis:request-cancel", args=[asked.pk])
    other = UserFactory()
    StudyMembership.objects.create(study=planted, researcher=other, role="owner")
    for who in (other, UserFactory(is_staff=True, is_superuser=True)):
        client = Client()
        client.force_login(who)
        assert client.post(address).status_code == 404
    assert again(asked).status == JobStatus.QUEUED
    client = Client()
    client.force_login(asked.owner)  # type: ignore[arg-type]
    assert client.get(address).status_code == 405
    assert "Cancel</button>" in client.get(reverse("analysis:request", args=[asked.pk])).text
    page = client.post(address, follow=True).text
    assert "This was cancelled." in page
    assert "every 2s" not in page
    assert again(asked).status == JobStatus.CANCELLED
    assert "cannot become cancelled" in client.post(address, follow=True).text
