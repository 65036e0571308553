"""Jobs of the catalogue, done as a worker does them."""

from __future__ import annotations

from typing import Any

from django.test import Client

from catalog.selectors.dataset_jobs import KINDS
from jobs.models import Job, JobStatus
from jobs.services import do_job


def work() -> None:
    """Do what waits for a worker."""
    for job in Job.objects.filter(kind__in=KINDS, status=JobStatus.QUEUED).order_by("pk"):
        do_job(job_id=job.pk)


def done(client: Client, answer: Any) -> Any:
    """The page that a request for a job leads to once the job is done."""
    assert answer.status_code == 302, answer.content.decode()
    work()
    return client.get(answer["Location"], follow=True)
