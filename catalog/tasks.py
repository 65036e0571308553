"""Imports, downloads, metadata and subsets, which take too long for a page."""

from __future__ import annotations

from celery import shared_task

from catalog.services import dataset_jobs
from jobs.leases import TRANSIENT


@shared_task(
    name="catalog.run_job",
    autoretry_for=TRANSIENT,
    retry_backoff=True,
    retry_jitter=False,
    max_retries=5,
    ignore_result=True,
)
def run_job(job_id: int) -> None:
    """Do a job; the message is only a hint, and the job is the truth."""
    dataset_jobs.run_job(job_id=job_id)


@shared_task(name="catalog.sweep", ignore_result=True)
def sweep() -> None:
    """Requeue the jobs of dead workers, and delete unused uploads."""
    dataset_jobs.sweep_jobs()
