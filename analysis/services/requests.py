"""Requests to workers for reports, with progress in words."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.db import transaction

from analysis.compute.plans import AS_PLANNED, Overrides
from analysis.read import Progress
from analysis.read.responses import mode_to_report
from analysis.services.packages import files_state, request_files
from analysis.services.report_builder import build_report
from analysis.services.report_cache import draw_pages, page_of
from jobs.models import Job
from jobs.services import request
from studies.models import Study
from studies.monitoring.services.blinding import require_open


def require_open_answers(*, study: Study, mode: str | None) -> None:
    """Refuse a report on people whose outcomes are still blinded. Raises `blinding.outcomes_shut`."""
    require_open(study=study, modes=[mode or mode_to_report(study)])


@transaction.atomic
def request_report(
    *, study: Study, mode: str | None = None, overrides: Overrides = AS_PLANNED, asked_by: Any = None
) -> Job:
    """Request a report from a worker; the job states why it could not be built.

    The same request by the same account is returned while it is open.
    """
    payload = {"mode": mode or "", "overrides": asdict(overrides)}
    stored = json.loads(json.dumps(payload))  # as the database returns it, with lists for tuples
    same = (job for job in study.jobs.open().filter(kind="report", owner=asked_by) if job.payload == stored)
    return next(same, None) or request("report", owner=asked_by, subject=study, payload=payload)


def build_requested(job: Job, progress: Progress) -> dict[str, Any]:
    """Build a requested report, draw its pages, and request its files."""
    report = build_report(
        study=job.subject,
        mode=job.payload["mode"] or None,
        overrides=Overrides(**job.payload["overrides"]),
        made_by=job.owner,
        progress=progress,
    )
    progress("Drawing the pages")
    draw_pages(report)
    if files_state(report, page_of(report)).pending:
        request_files(report=report, asked_by=job.owner)
    return {"result": {"report": report.pk}}
