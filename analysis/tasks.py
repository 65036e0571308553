"""Reports and their files, which take too long for a page."""

from __future__ import annotations

from celery import shared_task

from analysis.models import Report
from analysis.services import bayesian_jobs, report_cache, requests
from analysis.services.packages import request_files
from jobs.leases import TRANSIENT


@shared_task(
    name="analysis.make_requested",
    autoretry_for=TRANSIENT,
    retry_backoff=True,
    retry_jitter=False,
    max_retries=5,
    ignore_result=True,
)
def make_requested(request_id: int) -> None:
    """Create what was requested; the message is only a hint, and the request is the truth."""
    requests.make_requested(request_id=request_id)


@shared_task(
    name="analysis.compute_bayesian",
    autoretry_for=TRANSIENT,
    retry_backoff=True,
    retry_jitter=False,
    max_retries=5,
    ignore_result=True,
)
def compute_bayesian(analysis_id: int) -> None:
    """Compute a requested Bayesian analysis; the message is only a hint, and the analysis is the truth."""
    bayesian_jobs.compute_requested(analysis_id=analysis_id)


@shared_task(name="analysis.draw_pages", ignore_result=True)
def draw_pages(report_id: int) -> None:
    """Draw the pages of a report, and request its files; does nothing if the report is gone."""
    report = Report.objects.filter(pk=report_id).first()
    if report is not None:
        report_cache.draw_pages(report)
        request_files(report=report)


@shared_task(name="analysis.sweep", ignore_result=True)
def sweep() -> None:
    """Requeue the requests and Bayesian analyses of dead workers."""
    requests.sweep()
    bayesian_jobs.ANALYSES.requeue()
