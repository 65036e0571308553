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
