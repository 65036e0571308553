"""Jobs of all kinds: requested by services, done by workers under a lease, cancelled and tried again by people."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.core.files.storage import default_storage
from django.db import Error as DatabaseError
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.module_loading import import_string

from core.artefacts import deferring_cleanup
from core.errors import ParallaxError
from core.transitions import move
from jobs.archives import clean_jobs
from jobs.leases import MAX_ATTEMPTS, NO_LEASE, TRANSIENT, Heartbeat, LeaseLost, Leases
from jobs.models import JOB_MOVES, Job, JobStatus
from jobs.queue import enqueue_on_commit

logger = logging.getLogger(__name__)

HINT_SECONDS = 10.0  # between two messages of the sweep for one job
REPORT_SECONDS = 0.5  # minimum time between two updates of the same activity
GONE_FOR_GOOD = (
    f"{MAX_ATTEMPTS} workers in turn stopped before finishing this job. The machine may be out of memory, or something "
    "ends its processes; look at the workers' log, then request it again."
)
UNFORESEEN = "An unexpected error occurred; see the worker's log."
LEASES = Leases(Job, JOB_MOVES, cleared={"activity": "", "done": None, "total": None, "hinted_at": None})


@transaction.atomic
def request(
    kind: str, *, owner: Any = None, subject: models.Model | None = None, payload: Mapping[str, Any] | None = None
) -> Job:
    """Request a job from a worker; it begins once its kind says that it is ready."""
    job = Job.objects.create(kind=kind, owner=owner, subject=subject, payload=dict(payload or {}))
    _advance(job)
    return job


def do_job(*, job_id: int) -> bool:
    """Do a job; True where this worker finished it.

    Delivered twice, late, or for a closed or deleted job, it does nothing. A refusal is stored with its message. A
    database error, or the end of the worker, returns the job to the queue and is raised, so that the sweep sends it
    again; any other error fails the job and is raised.
    """
    job = Job.objects.select_related("owner").filter(pk=job_id).first()
    if job is None:
        logger.info("dropped the message of a job that is gone job=%s", job_id)
        return False
    # Messages are delivered at least once, and late: the row decides whether there is anything to do.
    if (job.status == JobStatus.QUEUED and not _is_ready(job)) or not lease_job(job):
        return False
    is_done = _execute(job)
    if job.definition.after:
        import_string(job.definition.after)(job)
    return is_done


def lease_job(job: Job) -> bool:
    """Lease a job to this process; False where another process holds it, it is over, or it has just failed."""
    if not LEASES.lease(job, actor=job.owner, activity="Starting"):
        return False
    # Counted when leased, as a worker that is killed for its memory can count nothing any more.
    if job.attempts > MAX_ATTEMPTS:
        LEASES.finish(job, to=JobStatus.FAILED, error=GONE_FOR_GOOD)
        return False
    return True


def _execute(job: Job) -> bool:
    try:
        with LEASES.heartbeat(job) as heartbeat:
            fields = dict(job.definition.do(job, _Progress(job, heartbeat)))
        is_done = LEASES.finish(job, to=fields.pop("status", JobStatus.SUCCEEDED), **fields)
        if not is_done and fields.get("file"):
            default_storage.delete(fields["file"])  # another worker has leased it meanwhile, or it was cancelled
        return is_done
    except LeaseLost:
        logger.info("lease lost job=%s kind=%s", job.pk, job.kind)
        return False
    except ParallaxError as refused:
        LEASES.finish(job, to=JobStatus.FAILED, error=str(refused), result=refused.extra)
        logger.warning("job failed job=%s kind=%s: %s", job.pk, job.kind, refused)
        return False
    except Exception as error:
        if isinstance(error, TRANSIENT):
            _release_quietly(job)
        else:
            logger.exception("job failed job=%s kind=%s", job.pk, job.kind)
            # People read a fixed sentence: the text of an unforeseen error may hold paths or data, which belong in the
            # log.
            LEASES.finish(job, to=JobStatus.FAILED, error=UNFORESEEN)
        raise
    # SystemExit and KeyboardInterrupt are how a worker is stopped: the job is not at fault and goes back to the queue.
    except BaseException:
        _release_quietly(job)
        raise


def _release_quietly(job: Job) -> None:
    # So that the job need not wait for its lease to expire; the database may be away.
    with contextlib.suppress(DatabaseError):
        LEASES.release(job)


class _Progress:
    """Stores how far a job is, not more often than people can read."""

    def __init__(self, job: Job, heartbeat: Heartbeat) -> None:
        self._job = job
        self._heartbeat = heartbeat
        self._activity = ""
        self._reported_at = 0.0

    def __call__(self, activity: str, done: int | None = None, total: int | None = None, /) -> None:
        now = time.monotonic()
        # A new activity is always stored; numbers within one change hundreds of times a second and each update is a
        # write.
        if activity == self._activity and now - self._reported_at < REPORT_SECONDS:
            return
        self._heartbeat.check()
        # The update is also the check that the job is still this worker's, so that cancelling needs no query of its
        # own.
        if not LEASES.own(self._job).update(activity=activity[:200], done=done, total=total):
            raise LeaseLost("lease.lost", "This work has another worker, or was cancelled.")
        self._activity, self._reported_at = activity, now


def cancel(job: Job, *, actor: Any = None, **changes: Any) -> None:
    """Cancel a job that is not over: its worker stops at the next step, and stores nothing. A failed one is discarded.

    Raises NotAllowedInState.
    """
    is_with_worker = job.status == JobStatus.RUNNING
    move(job, to=JobStatus.CANCELLED, allowed=JOB_MOVES, actor=actor, activity="", **NO_LEASE, **changes)
    if job.definition.cancelled and not is_with_worker:
        import_string(job.definition.cancelled)(job)


@transaction.atomic
def enqueue(job: Job, *, actor: Any = None) -> None:
    """Put a failed job back into the queue, or one that waited for choices; its payload is stored as it is now.

    Raises NotAllowedInState.
    """
    move(
        job, to=JobStatus.QUEUED, allowed=JOB_MOVES, actor=actor, payload=job.payload, subject_type=job.subject_type,
        subject_id=job.subject_id, error="", result={}, attempts=0, hinted_at=None,
    )  # fmt: skip
    _advance(job)


def sweep() -> int:
    """Return the jobs of dead workers to the queue, send the messages that are due, and delete old jobs and files;
    returns how many were due. Safe to run twice at once, and by any process.
    """
    LEASES.release_dead()
    now = timezone.now()
    is_due = Q(hinted_at__isnull=True) | Q(hinted_at__lt=now - timedelta(seconds=HINT_SECONDS))
    queued = Job.objects.filter(is_due, status=JobStatus.QUEUED)
    keys = list(queued.order_by("pk").values_list("pk", flat=True))
    # Marked one by one with the condition repeated: of two sweeps at once, only one update per row finds it unmarked.
    due = [pk for pk in keys if queued.filter(pk=pk).update(hinted_at=now)]
    for job in Job.objects.filter(pk__in=due).order_by("pk"):
        _advance(job)
    with deferring_cleanup():
        clean_jobs()
    return len(due)


def _advance(job: Job) -> None:
    if _is_ready(job):
        # Marked before the message goes, so that a sweep meanwhile does not send a second one.
        Job.objects.filter(pk=job.pk).update(hinted_at=timezone.now())
        enqueue_on_commit("jobs.do", queue=job.definition.queue, job_id=job.pk)


def _is_ready(job: Job) -> bool:
    try:
        return job.definition.is_ready(job)
    except ParallaxError as refused:
        move(job, to=JobStatus.FAILED, allowed=JOB_MOVES, error=str(refused))
        return False
