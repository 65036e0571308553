"""Jobs of the catalogue, done as a worker does them."""

from __future__ import annotations

from typing import Any

from django.test import Client

from catalog.enums import JobStatus
from catalog.models import DatasetJob
from catalog.services.dataset_jobs import run_job


def work() -> None:
    """Do what waits for a worker."""
    for job in DatasetJob.objects.filter(status=JobStatus.QUEUED):
        run_job(job_id=job.pk)


def done(client: Client, answer: Any) -> Any:
    """The page that a request for a job leads to once the job is done."""
    assert answer.status_code == 302, answer.content.decode()
    work()
    return client.get(answer["Location"], follow=True)
