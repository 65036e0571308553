"""Workers' computation of Bayesian analyses: one per report, with progress in words."""

from __future__ import annotations

import contextlib
import logging
from typing import Any

from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from analysis.enums import BAYESIAN_MOVES, RequestStatus
from analysis.models import BayesianAnalysis, Report
from analysis.services.bayesian import compute_bayesian
from core.errors import ParallaxError
from core.transitions import move
from jobs.heartbeat import LeaseLost
from jobs.leases import UNFORESEEN, JobLeases
from jobs.queue import enqueue_on_commit

logger = logging.getLogger(__name__)

ANALYSES = JobLeases(BayesianAnalysis, BAYESIAN_MOVES, cleared={"activity": ""})
TRANSIENT = (OperationalError, InterfaceError)  # the database is unavailable or busy: retried with backoff
TASK = "analysis.compute_bayesian"


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
        enqueue_on_commit(TASK, analysis_id=analysis.pk)
    return analysis


def cancel_bayesian(*, analysis: BayesianAnalysis, actor: Any = None) -> None:
    """Cancel an open analysis: its worker stops at the next step, and stores nothing.

    Raises NotAllowedInState where it is no longer open.
    """
    move(
        analysis,
        to=RequestStatus.CANCELLED,
        allowed=BAYESIAN_MOVES,
        actor=actor,
        activity="",
        lease="",
        leased_until=None,
    )


def compute_requested(*, analysis_id: int) -> bool:
    """Compute a requested analysis; True where this worker finished it.

    Delivered twice, late, or for a closed request, it does nothing. A refusal is stored with its message; a database
    error returns the analysis to the queue and is raised, so that the task is retried; any other error fails the
    analysis and is raised.
    """
    analysis = BayesianAnalysis.objects.select_related("report__study", "report__run").filter(pk=analysis_id).first()
    if analysis is None or not ANALYSES.take(analysis, activity="Starting"):
        return False
    try:
        with ANALYSES.heartbeat(analysis) as heartbeat:

            def report_progress(words: str) -> None:
                heartbeat.check()
                if not ANALYSES.own(analysis).update(activity=words[:200]):
                    raise LeaseLost("lease.lost", "This analysis has another worker, or was cancelled.")

            results = compute_bayesian(report=analysis.report, progress=report_progress)
        return ANALYSES.finish(analysis, to=RequestStatus.SUCCEEDED, results=results)
    except LeaseLost:
        logger.info("lease lost bayesian=%s", analysis.pk)
        return False
    except TRANSIENT:
        with contextlib.suppress(DatabaseError):
            ANALYSES.release(analysis)
        raise
    except ParallaxError as refused:
        ANALYSES.finish(analysis, to=RequestStatus.FAILED, error=str(refused))
        return False
    except Exception:
        logger.exception("bayesian analysis failed analysis=%s", analysis.pk)
        ANALYSES.finish(analysis, to=RequestStatus.FAILED, error=UNFORESEEN)
        raise
    except BaseException:
        # The worker is stopping: the analysis need not wait for its lease to expire.
        with contextlib.suppress(DatabaseError):
            ANALYSES.release(analysis)
        raise


def sweep_bayesian() -> int:
    """Requeue analyses of dead workers, and send the messages of waiting ones again; returns their number."""
    ANALYSES.release_dead()
    n_sent = 0
    for pk in ANALYSES.due():
        enqueue_on_commit(TASK, analysis_id=pk)
        n_sent += 1
    return n_sent
