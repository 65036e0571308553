"""What workers make for reports: asked for on a page, made by a task, with progress in words."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone

from analysis.enums import REQUEST_MOVES, REQUEST_OPEN, RequestKind, RequestStatus
from analysis.models import Report, ReportRequest
from analysis.selectors.answering import mode_to_report
from analysis.services.building import build_report
from analysis.services.drawing import page_of
from analysis.services.leases import REQUESTS, lease_request
from analysis.services.packages import clean_packages, store_package
from analysis.services.plans import AS_PLANNED, Overrides
from core.errors import ParallaxError
from core.heartbeat import LeaseLost
from core.jobs import enqueue_on_commit
from core.leases import UNFORESEEN
from core.transitions import move
from studies.enums import ParticipantStatus
from studies.models import Study
from studies.services.blinding import require_open

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 2000  # completed participants whose report a page builds by itself, in a few seconds
FAILED_SECONDS = 60.0  # so long asking again for a package that failed tells why, and tries no new one
TRANSIENT = (OperationalError, InterfaceError)  # the database is away or busy: tried again, with backoff
TASK = "analysis.make_requested"

Tell = Callable[[str], None]


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
    """Ask a worker for a report; what keeps it from being built is told by the request.

    Who has asked for the same already is given that request while it is open.
    """
    wanted = {"study": study, "mode": mode or "", "overrides": asdict(overrides), "asked_by": asked_by}
    found = ReportRequest.objects.filter(status__in=REQUEST_OPEN, kind=RequestKind.REPORT, **wanted)
    if (asked := found.order_by("-pk").first()) is not None:
        return asked
    request = ReportRequest.objects.create(**wanted, hinted_at=timezone.now())
    enqueue_on_commit(TASK, request_id=request.pk)
    return request


@transaction.atomic
def request_package(*, report: Report, asked_by: Any = None) -> ReportRequest:
    """Ask a worker for the study package of a report.

    Who has asked already is given that request while it is open, and where it has just failed.
    """
    has_just_failed = Q(
        status=RequestStatus.FAILED, updated_at__gt=timezone.now() - timedelta(seconds=FAILED_SECONDS)
    )  # fmt: skip
    found = ReportRequest.objects.filter(
        has_just_failed | Q(status__in=REQUEST_OPEN), report=report, kind=RequestKind.PACKAGE, asked_by=asked_by
    )
    if (asked := found.order_by("-pk").first()) is not None:
        return asked
    request = ReportRequest.objects.create(
        study=report.study,
        kind=RequestKind.PACKAGE,
        report=report,
        mode=report.mode,
        asked_by=asked_by,
        hinted_at=timezone.now(),
    )
    enqueue_on_commit(TASK, request_id=request.pk)
    return request


def cancel_request(*, request: ReportRequest, actor: Any = None) -> None:
    """Stop a request that is not over: a worker at it ends at its next step, and writes nothing.

    Raises NotAllowedInState where it is over.
    """
    move(
        request,
        to=RequestStatus.CANCELLED,
        allowed=REQUEST_MOVES,
        actor=actor,
        activity="",
        lease="",
        leased_until=None,
    )


def make_requested(*, request_id: int) -> bool:
    """Make what was asked for; True where this worker was the one to finish it.

    Delivered twice, late, or for a request that is over, it does nothing. What is refused is kept in words; a fault
    of the database gives the request back and is raised for the task to be tried again; any other fault fails the
    request and is raised.
    """
    request = lease_request(request_id=request_id)
    if request is None:
        return False
    try:
        with REQUESTS.beating(request) as heartbeat:

            def tell(words: str) -> None:
                heartbeat.check()
                if not REQUESTS.held(request).update(activity=words[:200]):
                    raise LeaseLost(
                        "lease.lost", "This request was given to another worker, or is not wanted any more."
                    )

            made = MAKERS[RequestKind(request.kind)](request, tell)
        return REQUESTS.finish(request, to=RequestStatus.SUCCEEDED, **made)
    except LeaseLost:
        logger.info("lease lost request=%s", request.pk)
        return False
    except TRANSIENT:
        with contextlib.suppress(DatabaseError):
            REQUESTS.give_back(request)
        raise
    except ParallaxError as refused:
        REQUESTS.finish(request, to=RequestStatus.FAILED, error=str(refused))
        return False
    except Exception:
        logger.exception("request failed request=%s", request.pk)
        REQUESTS.finish(request, to=RequestStatus.FAILED, error=UNFORESEEN)
        raise
    except BaseException:
        # The worker is being stopped: the request need not wait for its lease to run out.
        with contextlib.suppress(DatabaseError):
            REQUESTS.give_back(request)
        raise


def _report(request: ReportRequest, tell: Tell) -> dict[str, Any]:
    report = build_report(
        study=request.study,
        mode=request.mode or None,
        overrides=Overrides(**request.overrides),
        made_by=request.asked_by,
        progress=tell,
    )
    tell("Drawing the page")
    page_of(report)
    return {"report": report}


def _package(request: ReportRequest, tell: Tell) -> dict[str, Any]:
    return {"file": store_package(request=request, progress=tell)}


MAKERS: dict[RequestKind, Callable[[ReportRequest, Tell], dict[str, Any]]] = {
    RequestKind.REPORT: _report,
    RequestKind.PACKAGE: _package,
}


def sweep() -> int:
    """Put back what dead workers held, and send the messages of waiting requests again; returns the messages sent.

    Packages that nobody may take any more are deleted.

    Safe to run twice at once, and by any process.
    """
    REQUESTS.release_dead()
    sent = 0
    for pk in REQUESTS.due():
        enqueue_on_commit(TASK, request_id=pk)
        sent += 1
    clean_packages()
    return sent
