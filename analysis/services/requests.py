"""Requests to workers for reports and their files, with progress in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.utils import timezone

from analysis.compute.plans import AS_PLANNED, Overrides
from analysis.enums import REQUEST_OPEN, RequestKind, RequestStatus
from analysis.files.archive import Progress
from analysis.models import ReportRequest
from analysis.read.responses import mode_to_report
from analysis.services.leases import REQUESTS
from analysis.services.packages import clean_packages, files_state, request_files, store_files
from analysis.services.report_builder import build_report
from analysis.services.report_cache import draw_pages
from core.shared_storage import left_for_later
from studies.models import Study
from studies.monitoring.services.blinding import require_open


def require_open_answers(*, study: Study, mode: str | None) -> None:
    """Refuse a report on people whose outcomes are still blinded. Raises `blinding.outcomes_shut`."""
    require_open(study=study, modes=[mode or mode_to_report(study)])


@transaction.atomic
def request_report(
    *, study: Study, mode: str | None = None, overrides: Overrides = AS_PLANNED, asked_by: Any = None
) -> ReportRequest:
    """Request a report from a worker; the request states why it could not be built.

    The same request by the same account is returned while it is open.
    """
    parameters = {"study": study, "mode": mode or "", "overrides": asdict(overrides), "asked_by": asked_by}
    requests = ReportRequest.objects.filter(status__in=REQUEST_OPEN, kind=RequestKind.REPORT, **parameters)
    if (request := requests.order_by("-pk").first()) is not None:
        return request
    request = ReportRequest.objects.create(**parameters, hinted_at=timezone.now())
    REQUESTS.send(request.pk)
    return request


def make_requested(*, request_id: int) -> bool:
    """Create what was requested; True where this worker finished it.

    Delivered twice, late, or for a closed request, it does nothing. Errors: see `JobLeases.execute`.
    """
    wanted = ReportRequest.objects.select_related("study__run", "asked_by", "report__study")
    request = wanted.filter(pk=request_id).first()
    if request is None or not REQUESTS.take(request, actor=request.asked_by, activity="Starting"):
        return False
    make = MAKERS[RequestKind(request.kind)]
    return REQUESTS.execute(request, lambda progress: make(request, progress), to=RequestStatus.SUCCEEDED)


def _report(request: ReportRequest, progress: Progress) -> dict[str, Any]:
    report = build_report(
        study=request.study,
        mode=request.mode or None,
        overrides=Overrides(**request.overrides),
        made_by=request.asked_by,
        progress=progress,
    )
    progress("Drawing the pages")
    draw_pages(report)
    if files_state(report).left:
        request_files(report=report, asked_by=request.asked_by)
    return {"report": report}


def _files(request: ReportRequest, progress: Progress) -> dict[str, Any]:
    return {"file": store_files(request=request, progress=progress)}


MAKERS: dict[RequestKind, Callable[[ReportRequest, Progress], dict[str, Any]]] = {
    RequestKind.REPORT: _report,
    RequestKind.PACKAGE: _files,
}


def sweep() -> int:
    """Requeue requests of dead workers, and send the messages of waiting requests again; returns their number.

    Packages that may no longer be downloaded are deleted. Safe to run twice at once, and by any process.
    """
    n_sent = REQUESTS.requeue()
    with left_for_later():
        clean_packages()
    return n_sent
