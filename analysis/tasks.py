"""Pages of reports that are drawn again, which takes too long for a page."""

from __future__ import annotations

from celery import shared_task

from analysis.models import Report
from analysis.services import report_cache
from analysis.services.packages import request_files


@shared_task(name="analysis.draw_pages", ignore_result=True)
def draw_pages(report_id: int) -> None:
    """Draw the pages of a report, and request its files; does nothing if the report is gone."""
    report = Report.objects.filter(pk=report_id).first()
    if report is not None:
        report_cache.draw_pages(report)
        request_files(report=report)
