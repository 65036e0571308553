"""Reports and packages that take longer than a page should."""

from __future__ import annotations

from celery import shared_task

from analysis.models import Report
from analysis.services import requests
from analysis.services.giving import give_file


@shared_task(
    name="analysis.make_requested",
    autoretry_for=requests.TRANSIENT,
    retry_backoff=True,
    retry_jitter=False,
    max_retries=5,
    ignore_result=True,
)
def make_requested(request_id: int) -> None:
    """Make what was asked for; the message is only a hint that something was."""
    requests.make_requested(request_id=request_id)


@shared_task(name="analysis.draw_file", ignore_result=True)
def draw_file(report_id: int, file: str) -> None:
    """Draw a file of a report that somebody asked for; drawn already, or of a report that is gone, it does nothing."""
    report = Report.objects.filter(pk=report_id).first()
    if report is not None:
        give_file(report=report, name=file)


@shared_task(name="analysis.sweep", ignore_result=True)
def sweep() -> None:
    """Bring back what dead workers left."""
    requests.sweep()
