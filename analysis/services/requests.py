"""Reports that workers build: asked for on a page, built by a task, with progress in words."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import Any

from django.db import transaction

from analysis.enums import REQUEST_MOVES, RequestStatus
from analysis.models import ReportRequest
from analysis.selectors.answering import mode_to_report
from analysis.services.building import build_report
from analysis.services.plans import AS_PLANNED, Overrides
from core.errors import NotAllowedInState, ParallaxError
from core.jobs import enqueue_on_commit
from core.transitions import move
from studies.enums import ParticipantStatus
from studies.models import Study
from studies.services.blinding import require_open

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 2000  # completed participants whose report a page builds by itself, in a few seconds


def takes_long(study: Study, mode: str | None) -> bool:
    """Whether a report is better built by a worker than while somebody waits for a page."""
    rows = study.participants.filter(mode=mode or mode_to_report(study), status=ParticipantStatus.COMPLETED)
    return rows.count() > MOST_AT_ONCE


def require_open_answers(*, study: Study, mode: str | None) -> None:
    """Refuse a report on people whose outcomes are still blinded. Raises `blinding.outcomes_shut`."""
    require_open(study=study, modes=[mode or mode_to_report(study)])


@transaction.atomic
def request_report(
    *, study: Study, mode: str | None = None, overrides: Overrides = AS_PLANNED, asked_by: Any = None
) -> ReportRequest:
    """Ask a worker for a report; what keeps it from being built is told by the request."""
    request = ReportRequest.objects.create(study=study, mode=mode or "", overrides=asdict(overrides), asked_by=asked_by)
    enqueue_on_commit("analysis.build_report", request_id=request.pk)
    return request


def build_requested(*, request_id: int) -> None:
    """Build a report that was asked for; delivered twice, it is built once. What is refused is kept in words."""
    request = ReportRequest.objects.select_related("study__run", "asked_by").get(pk=request_id)
    try:
        move(request, to=RequestStatus.RUNNING, allowed=REQUEST_MOVES, actor=request.asked_by, activity="Starting")
    except NotAllowedInState:
        return

    def tell(words: str) -> None:
        ReportRequest.objects.filter(pk=request.pk).update(activity=words[:200])

    try:
        report = build_report(
            study=request.study,
            mode=request.mode or None,
            overrides=Overrides(**request.overrides),
            made_by=request.asked_by,
            progress=tell,
        )
    except ParallaxError as refused:
        move(request, to=RequestStatus.FAILED, allowed=REQUEST_MOVES, error=str(refused))
        return
    except Exception:
        logger.exception("report failed request=%s", request.pk)
        problem = "Something unforeseen happened; the log of the worker says what."
        move(request, to=RequestStatus.FAILED, allowed=REQUEST_MOVES, error=problem)
        raise
    move(request, to=RequestStatus.SUCCEEDED, allowed=REQUEST_MOVES, activity="", report=report)
