"""What a worker does with a run, and the sweep that brings back what a worker left."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import traceback
from collections.abc import Callable
from datetime import timedelta

from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError
from django.db.models import Max, Q
from django.utils import timezone

from core.errors import DataError, ParallaxError, ParameterError
from core.heartbeat import LeaseLost
from evaluation.enums import RUN_OPEN, PartKind
from evaluation.models import EvaluationRun, RunAlgorithm, RunPart
from evaluation.selectors.cases import cases_of
from evaluation.services.crew import forget_queue
from evaluation.services.heap import trim
from evaluation.services.hints import hint
from evaluation.services.measuring import measure
from evaluation.services.parts import (
    Heartbeat,
    Outcome,
    describe,
    finish_part,
    leasable_parts,
    lease_part,
    release_dead_leases,
    release_part,
)
from evaluation.services.preparing import prepare
from evaluation.services.reducing import reduce
from evaluation.services.runs import fail_part
from evaluation.services.telling import FitTeller
from evaluation.services.tidying import tidy
from evaluation.services.training import train_or_reuse

logger = logging.getLogger(__name__)

TRANSIENT = (OperationalError, InterfaceError)  # the database is away or busy: tried again, with backoff
SLICE_SECONDS = 20.0  # then a worker lets other messages have a turn
HINT_SECONDS = 10.0  # between two messages of the sweep for one run
ORPHAN_SECONDS = 120.0  # after so long without a sign, workers of a run's own are taken to be gone
TRACE_CHARACTERS = 4000

_is_stopping = threading.Event()


def fit(part: RunPart, check: Callable[[], None]) -> Outcome:
    """Find or fit the model of the part's algorithm; finishing frees its measurements."""
    started = time.perf_counter()
    run, algorithm = part.run, part.algorithm
    if algorithm is None:
        raise ParallaxError("part.no_algorithm", f"Part {part.pk} is a fit without an algorithm.")
    try:
        trained = train_or_reuse(
            version=run.version,
            training_digest=cases_of(run, part.fold).training_digest,
            algorithm=algorithm.algorithm,
            params=algorithm.params,
            seed=run.seed,
            threads=run.threads,
            progress=FitTeller(part, check),
        )
    except (ParameterError, DataError) as refused:
        where = f" on {run.folds[part.fold]['label']}" if run.folds else ""
        raise ParallaxError("run.fit_refused", f"{algorithm.label} could not be fitted{where}. {refused}") from refused

    def effects() -> None:
        RunPart.objects.filter(pk=part.pk).update(model=trained.model)
        if not run.folds:  # of several models none stands for the algorithm
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
    """Take and finish parts of a run until none is free or the time is up; returns how many were taken.

    A message that comes twice, late, or for a run that is over or gone finds nothing to take.
    """
    run = EvaluationRun.objects.filter(pk=run_id, status__in=RUN_OPEN).first()
    if run is None:
        return 0
    taken = 0
    ends = time.monotonic() + seconds
    while (part := lease_part(run=run)) is not None:
        taken += 1
        execute(part=part)
        trim()
        if (time.monotonic() > ends or _is_stopping.is_set()) and leasable_parts(run=run).exists():
            hint(run=run)
            break
    return taken


def stop_soon() -> None:
    """Let this process take no further part once the one in hand is done: its worker is to stop."""
    _is_stopping.set()


def execute(*, part: RunPart) -> bool:
    """Execute a leased part and write its result; True where this worker was the one to finish it.

    What an algorithm or its data refuse fails the algorithm with the reason, and the run where no other is left; a
    fault of the database gives the part back and is raised for the task to be tried again; any other fault fails
    them likewise, with the end of the traceback, and is raised.
    """
    try:
        with Heartbeat(part) as heartbeat:
            outcome = EXECUTORS[part.kind](part, heartbeat.check)
        return finish_part(part=part, outcome=outcome)
    except LeaseLost:
        logger.info("lease lost part=%s run=%s", part.pk, part.run_id)
        return False
    except TRANSIENT:
        with contextlib.suppress(DatabaseError):
            release_part(part=part)
        raise
    except (ParallaxError, ParameterError, DataError) as refused:
        fail_part(part=part, reason=str(refused))
        return False
    except Exception as fault:
        fail_part(
            part=part,
            reason=f"Something went wrong while a worker was at this: {_lowered(part)}. "
            f"{type(fault).__name__}: {fault}",
            detail=traceback.format_exc()[-TRACE_CHARACTERS:],
        )
        raise
    except BaseException:
        # The worker is being stopped: the part need not wait for its lease to run out.
        with contextlib.suppress(DatabaseError):
            release_part(part=part)
        raise


def _lowered(part: RunPart) -> str:
    words = describe(part)
    return words[:1].lower() + words[1:]


def sweep(*, run: EvaluationRun | None = None) -> int:
    """Free what dead workers held and send the messages of unfinished runs again; returns the messages sent.

    Safe to run twice at once, and by any process. Workers of a run's own that give no sign for a while are
    taken to be gone, and the default workers get the run.
    """
    now = timezone.now()
    sent = 0
    open_runs = EvaluationRun.objects.filter(status__in=RUN_OPEN).annotate(last_sign=Max("parts__updated_at"))
    for one in open_runs.filter(pk=run.pk) if run is not None else open_runs:
        released = release_dead_leases(run=one)
        if released:
            logger.warning("released dead leases run=%s parts=%s", one.pk, released)
        if one.queue and one.last_sign and one.last_sign < now - timedelta(seconds=ORPHAN_SECONDS):
            abandoned, one.queue = one.queue, ""
            if EvaluationRun.objects.filter(pk=one.pk, queue=abandoned).update(queue=""):
                forget_queue(abandoned)
        leasable = leasable_parts(run=one, now=now).count()
        is_due = Q(hinted_at__isnull=True) | Q(hinted_at__lt=now - timedelta(seconds=HINT_SECONDS))
        if leasable and EvaluationRun.objects.filter(is_due, pk=one.pk).update(hinted_at=now):
            hint(run=one, n=1 if not released else leasable)
            sent += 1
    if run is None:
        tidy()
    return sent
