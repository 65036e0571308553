"""Requests under a lease."""

from __future__ import annotations

from analysis.enums import REQUEST_MOVES
from analysis.models import ReportRequest
from jobs.leases import JobLeases

REQUESTS = JobLeases(
    ReportRequest,
    REQUEST_MOVES,
    cleared={"activity": ""},
    task="analysis.make_requested",
    argument="request_id",
)


def lease_request(*, request_id: int) -> ReportRequest | None:
    """Take a request for this process; None where another has it, it is over, or it is gone."""
    wanted = ReportRequest.objects.select_related("study__run", "asked_by", "report__study")
    request = wanted.filter(pk=request_id).first()
    if request is None or not REQUESTS.take(request, actor=request.asked_by, activity="Starting"):
        return None
    return request
