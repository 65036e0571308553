"""The work of a worker on a run, and the sweep that recovers parts from dead workers."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import time
import traceback
from collections.abc import Callable
from datetime import timedelta

from django.db import Error as DatabaseError
from django.db.models import Max, Q
from django.utils import timezone

from core.artefacts import deferring_cleanup
from core.errors import DataError, ParallaxError, ParameterError, StorageUnavailable
from evaluation.enums import RUN_OPEN, PartKind, RunStatus
from evaluation.models import EvaluationRun, RunAlgorithm, RunPart
from evaluation.selectors.cases import cases_of
from evaluation.services.fit_progress import FitProgress
from evaluation.services.malloc_tuning import release_free_memory
from evaluation.services.measurement import measure
from evaluation.services.parts import (
    Outcome,
    describe,
    finish_part,
    leasable_parts,
    lease_part,
    remove_leftover_parts,
)
from evaluation.services.preparation import prepare
from evaluation.services.reduction import reduce
from evaluation.services.runs import PARTS, fail_part, hint
from evaluation.services.training import train_or_reuse
from jobs.broker_queues import delete_queue
from jobs.leases import TRANSIENT, LeaseLost
from recommenders import registry

logger = logging.getLogger(__name__)

SLICE_SECONDS = 20.0  # after which a worker returns to the queue, so that other messages are served
HINT_SECONDS = 10.0  # minimum time between two messages of the sweep for one run
ORPHAN_SECONDS = 120.0  # without any update for so long, a run's own workers count as dead
TRACE_CHARACTERS = 4000

# Of processes, because a stopping worker tells those it has forked.
_is_stopping = multiprocessing.get_context("fork").Event()


def fit(part: RunPart, check: Callable[[], None]) -> Outcome:
    """Load or fit the model of the part's algorithm; once finished, its measurements can be leased."""
    started = time.perf_counter()
    run, algorithm = part.run, part.algorithm
    if algorithm is None:
        raise ParallaxError("part.no_algorithm", f"Part {part.pk} is a fit without an algorithm.")
    try:
        trained = train_or_reuse(
            version=run.version,
            training_digest=part.training_digest or cases_of(run, part.fold).training_digest,
            algorithm=algorithm.algorithm,
            params=algorithm.params,
            seed=run.seed,
            threads=run.threads,
            users=cases_of(run, part.fold).trained if registry.algorithm(algorithm.algorithm).needs_times else None,
            progress=FitProgress(part, check),
        )
    except (ParameterError, DataError) as refusal:
        where = f" on {run.folds[part.fold]['label']}" if run.folds else ""
        raise ParallaxError("run.fit_refused", f"{algorithm.label} could not be fitted{where}. {refusal}") from refusal

    def effects() -> None:
        RunPart.objects.filter(pk=part.pk).update(model=trained.model)
        if not run.folds:  # with folds, no single model represents the algorithm
            RunAlgorithm.objects.filter(pk=algorithm.pk).update(model=trained.model, was_reused=trained.was_reused)
        hint(run=run, n=algorithm.parts.filter(kind=PartKind.MEASURE, fold=part.fold).count())

    return Outcome(seconds=time.perf_counter() - started, digest=trained.model.digest, effects=effects)


EXECUTORS: dict[str, Callable[[RunPart, Callable[[], None]], Outcome]] = {
    PartKind.PREPARE: prepare,
    PartKind.FIT: fit,
    PartKind.MEASURE: measure,
    PartKind.REDUCE: reduce,
}


def work_on(*, run_id: int, seconds: float = SLICE_SECONDS) -> int:
    """Lease and finish parts of a run until none is free or the time is up; return the number of parts leased.

    Duplicate or late messages, and those of finished or deleted runs, find no part to lease.
    """
    run = EvaluationRun.objects.filter(pk=run_id, status__in=RUN_OPEN).first()
    if run is None:
        return 0
    n_parts = 0
    deadline = time.monotonic() + seconds
    while (part := lease_part(run=run)) is not None:
        n_parts += 1
        execute(part=part)
        release_free_memory()
        if (time.monotonic() > deadline or _is_stopping.is_set()) and leasable_parts(run=run).exists():
            hint(run=run)
            break
    return n_parts


def stop_soon() -> None:
    """Lease no further part in this process, because its worker is stopping."""
    _is_stopping.set()


def execute(*, part: RunPart) -> bool:
    """Execute a leased part and store its result; return whether this worker finished it.

    - Invalid parameters or data fail the algorithm with the reason, and the run if no other algorithm is left.
    - A database error or an outage of the storage releases the part and is re-raised, so that the task is retried.
    - Any other exception fails the algorithm or run with the end of the traceback, and is re-raised.
    """
    try:
        with PARTS.heartbeat(part) as heartbeat:
            outcome = EXECUTORS[part.kind](part, heartbeat.check)
        return finish_part(part=part, outcome=outcome)
    except LeaseLost:
        logger.info("lease lost part=%s run=%s", part.pk, part.run_id)
        return False
    except TRANSIENT as problem:
        with contextlib.suppress(DatabaseError):
            PARTS.release(part)
            if isinstance(problem, StorageUnavailable):
                waiting = f"Waiting to repeat a part. {problem}"
                EvaluationRun.objects.filter(pk=part.run_id, status=RunStatus.RUNNING).update(activity=waiting[:200])
        raise
    except (ParallaxError, ParameterError, DataError) as refusal:
        fail_part(part=part, reason=str(refusal))
        return False
    except Exception as fault:
        what = describe(part)
        activity = what[:1].lower() + what[1:]
        fail_part(
            part=part,
            reason=f"An unexpected error occurred while {activity}. {type(fault).__name__}: {fault}",
            detail=traceback.format_exc()[-TRACE_CHARACTERS:],
        )
        raise
    except BaseException:
        # The worker is being stopped: release the part now instead of letting its lease expire.
        with contextlib.suppress(DatabaseError):
            PARTS.release(part)
        raise


def sweep(*, run: EvaluationRun | None = None) -> int:
    """Release the parts of dead workers, send the messages of open runs again, and return the number of messages.

    Any process may run this, also concurrently. If a run's own workers have been silent for a while, they count as
    dead and the run moves to the default queue.
    """
    now = timezone.now()
    sent = 0
    open_runs = EvaluationRun.objects.filter(status__in=RUN_OPEN).annotate(last_sign=Max("parts__updated_at"))
    for open_run in open_runs.filter(pk=run.pk) if run is not None else open_runs:
        released = PARTS.release_dead(RunPart.objects.filter(run=open_run))
        if released:
            logger.warning("released dead leases run=%s parts=%s", open_run.pk, released)
        last_sign = open_run.last_sign  # type: ignore[attr-defined]
        if open_run.queue and last_sign and last_sign < now - timedelta(seconds=ORPHAN_SECONDS):
            abandoned, open_run.queue = open_run.queue, ""
            if EvaluationRun.objects.filter(pk=open_run.pk, queue=abandoned).update(queue=""):
                delete_queue(abandoned)
        leasable = leasable_parts(run=open_run, now=now).count()
        is_due = Q(hinted_at__isnull=True) | Q(hinted_at__lt=now - timedelta(seconds=HINT_SECONDS))
        if leasable and EvaluationRun.objects.filter(is_due, pk=open_run.pk).update(hinted_at=now):
            hint(run=open_run, n=1 if not released else leasable)
            sent += 1
    if run is None:
        with deferring_cleanup():
            remove_leftover_parts()
    return sent
