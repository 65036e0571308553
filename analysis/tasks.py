"""Reports that take longer than a page should."""

from __future__ import annotations

from celery import shared_task

from analysis.services.requests import build_requested


@shared_task(name="analysis.build_report", ignore_result=True)
def build_report_task(request_id: int) -> None:
    """Build a report that was asked for."""
    build_requested(request_id=request_id)
