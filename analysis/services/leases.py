"""Requests under a lease: taken by compare-and-set, kept by a heartbeat, finished once."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from analysis.enums import REQUEST_MOVES, RequestStatus
from analysis.models import ReportRequest
from core.errors import NotAllowedInState
from core.transitions import move
from evaluation.services.heartbeat import Beating, lease_token

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 3  # leases of one request; then what kills its workers is the request itself
NO_LEASE: dict[str, Any] = {"lease": "", "leased_until": None}
GONE = "The worker was gone."


def lease_request(*, request_id: int) -> ReportRequest | None:
    """Take a request for this process; None where somebody has it, it is over, or it is gone.

    A request whose workers were gone too often fails, in words.
    """
    request = (
        ReportRequest.objects.select_related("study__run", "asked_by", "report__study").filter(pk=request_id).first()
    )
    if request is None:
        return None
    if _is_dead(request, timezone.now()):
        release_dead_lease(request_id=request.pk)
        request.refresh_from_db(fields=["status", "attempts"])
    try:
        move(
            request,
            to=RequestStatus.RUNNING,
            allowed=REQUEST_MOVES,
            actor=request.asked_by,
            activity="Starting",
            lease=lease_token(),
            leased_until=timezone.now() + timedelta(seconds=settings.LEASE_SECONDS),
            attempts=request.attempts + 1,
        )
    except NotAllowedInState:
        return None
    if request.attempts > MAX_ATTEMPTS:
        finish_request(
            request=request,
            to=RequestStatus.FAILED,
            error=f"{MAX_ATTEMPTS} workers in turn were at this and were gone before it was done. The machine may be "
            "out of memory, or something ends its processes; look at the workers' log, then ask again.",
        )
        return None
    return request


def _is_dead(request: ReportRequest, now: datetime) -> bool:
    return request.status == RequestStatus.RUNNING and (request.leased_until is None or request.leased_until < now)


def renew_lease(*, request: ReportRequest) -> bool:
    """Put the end of the lease off; False where it is not this worker's any more."""
    now = timezone.now()
    mine = ReportRequest.objects.filter(pk=request.pk, status=RequestStatus.RUNNING, lease=request.lease)
    return bool(mine.update(leased_until=now + timedelta(seconds=settings.LEASE_SECONDS), updated_at=now))


def beating(request: ReportRequest) -> Beating:
    """Renews the lease of a request while it is worked on."""
    return Beating(lambda: renew_lease(request=request), f"request={request.pk}")


@transaction.atomic
def finish_request(*, request: ReportRequest, to: str, **changes: Any) -> bool:
    """Move a request to where it ends, once; False where this worker does not hold it any more."""
    held = ReportRequest.objects.select_for_update().filter(pk=request.pk, lease=request.lease).first()
    if held is None or held.status != RequestStatus.RUNNING:
        return False
    move(held, to=to, allowed=REQUEST_MOVES, activity="", **NO_LEASE, **changes)
    return True


def release_request(*, request: ReportRequest) -> bool:
    """Give a request back before its lease ends; it counts as not tried."""
    return finish_request(request=request, to=RequestStatus.QUEUED, attempts=request.attempts - 1, hinted_at=None)


@transaction.atomic
def release_dead_lease(*, request_id: int) -> bool:
    """Put a request back in the queue whose worker has not been heard of; False where it has."""
    request = ReportRequest.objects.select_for_update().filter(pk=request_id).first()
    if request is None or not _is_dead(request, timezone.now()):
        return False
    move(
        request, to=RequestStatus.QUEUED, allowed=REQUEST_MOVES, reason=GONE, activity="", hinted_at=None, **NO_LEASE
    )  # fmt: skip
    logger.warning("released dead lease request=%s attempts=%s", request.pk, request.attempts)
    return True


def release_dead_leases() -> int:
    """Put every such request back in the queue; returns how many."""
    dead = Q(leased_until__isnull=True) | Q(leased_until__lt=timezone.now())
    found = ReportRequest.objects.filter(dead, status=RequestStatus.RUNNING).order_by("pk").values_list("pk", flat=True)
    return sum(release_dead_lease(request_id=pk) for pk in list(found))
