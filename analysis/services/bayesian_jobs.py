"""Workers' computation of Bayesian analyses: one per report, with progress in words."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from analysis.compute.bayesian import compute_bayesian
from analysis.enums import BAYESIAN_MOVES, RequestStatus
from analysis.models import BayesianAnalysis, Report
from analysis.services.packages import request_files
from analysis.services.report_cache import PAGE, draw_pages, is_outdated
from core.transitions import move
from jobs.leases import JobLeases

ANALYSES = JobLeases(
    BayesianAnalysis,
    BAYESIAN_MOVES,
    cleared={"activity": ""},
    task="analysis.compute_bayesian",
    argument="analysis_id",
)


@transaction.atomic
def request_bayesian(*, report: Report, actor: Any = None) -> BayesianAnalysis:
    """Request the Bayesian analysis of a report from a worker; one that failed or was cancelled is requested again."""
    # By its key: the report must not remember the analysis as it is before a worker has computed it.
    analysis, is_new = BayesianAnalysis.objects.get_or_create(
        report_id=report.pk, defaults={"hinted_at": timezone.now()}
    )
    if not is_new and analysis.status in (RequestStatus.FAILED, RequestStatus.CANCELLED):
        move(
            analysis,
            to=RequestStatus.QUEUED,
            allowed=BAYESIAN_MOVES,
            actor=actor,
            error="",
            attempts=0,
            hinted_at=timezone.now(),
        )
        is_new = True
    if is_new:
        ANALYSES.send(analysis.pk)
    return analysis


def compute_requested(*, analysis_id: int) -> bool:
    """Compute a requested analysis; True where this worker finished it.

    Delivered twice, late, or for a closed request, it does nothing. Errors: see `JobLeases.execute`.
    """
    analysis = BayesianAnalysis.objects.select_related("report__study", "report__run").filter(pk=analysis_id).first()
    if analysis is None or not ANALYSES.take(analysis, activity="Starting"):
        return False
    is_done = ANALYSES.execute(
        analysis,
        lambda progress: {"results": compute_bayesian(report=analysis.report, progress=progress)},
        to=RequestStatus.SUCCEEDED,
    )
    report = Report.objects.filter(pk=analysis.report_id).first()
    if report is not None and is_outdated(report, PAGE):
        draw_pages(report)
        request_files(report=report)
    return is_done
