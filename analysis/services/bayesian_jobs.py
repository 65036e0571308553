"""Workers' computation of Bayesian analyses, with progress in words."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from analysis.compute.bayesian import compute_bayesian
from analysis.models import Report
from analysis.read import Progress
from analysis.services.packages import request_files
from analysis.services.report_cache import PAGE, draw_pages, is_outdated
from jobs.models import Job, JobStatus
from jobs.services import request


@transaction.atomic
def request_bayesian(*, report: Report, actor: Any = None) -> Job:
    """Request the Bayesian analysis of a report from a worker, unless there is one that is open or done."""
    # Not `report.analysis`: the report must not remember the analysis as it is before a worker has computed it.
    analysis: Job | None = report.jobs.filter(kind="bayesian").first()
    if analysis is not None and analysis.status not in (JobStatus.FAILED, JobStatus.CANCELLED):
        return analysis
    return request("bayesian", owner=actor, subject=report)


def compute_requested(job: Job, progress: Progress) -> dict[str, Any]:
    """Compute a requested analysis."""
    return {"result": compute_bayesian(report=job.subject, progress=progress)}


def draw_again(job: Job) -> None:
    """Draw the pages of a report with its Bayesian analysis, or with the reason why there is none."""
    report = Report.objects.filter(jobs=job).first()
    if report is not None and is_outdated(report, PAGE):
        draw_pages(report)
        request_files(report=report)
