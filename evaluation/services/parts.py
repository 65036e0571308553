"""The parts of a run: which are ready, leasing the next, finishing it once, and removing its stored result: after a run
has succeeded, or a week after it stopped.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Case, Exists, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from core import artefacts
from core.transitions import move_all
from evaluation.enums import PART_MOVES, RUN_OPEN, RUN_STOPPED, PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunPart
from evaluation.services.runs import PARTS, fail_part, start_run

logger = logging.getLogger(__name__)

RETENTION = timedelta(days=7)  # parts of a stopped run are kept for this time, so that it can be resumed
RUNS_AT_ONCE = 3  # cleaned by one sweep, so that no sweep takes long
MAX_ATTEMPTS = 5  # leases of one part; then what kills its workers is the part itself
_TRIES = 4  # candidates looked at in one go: as many as workers are likely to collide on


@dataclass(frozen=True)
class Outcome:
    """What executing a part gave: the stored result, the time it took, what else to write with it."""

    seconds: float
    digest: str = ""
    effects: Callable[[], None] | None = None  # called in the transaction that finishes the part


def leasable_parts(*, run: EvaluationRun, now: datetime | None = None) -> QuerySet[RunPart]:
    """Parts of an unfinished run that a worker could take now: fits first, then reductions, then the first
    measurement of each algorithm, whose speed tells how long the others will take.

    A measurement waits for its model, a reduction for its algorithm's measurements, the last one for all else that has
    not failed, and a fit for another fit of the same recipe, or of the model that either re-ranks, while that one's
    lease lives, so that nothing is trained twice at once.
    """
    now = now or timezone.now()
    unfinished = (
        RunPart.objects.filter(run=OuterRef("run"))
        .exclude(pk=OuterRef("pk"))
        .exclude(status__in=(PartStatus.DONE, PartStatus.FAILED))
    )
    same_fit = RunPart.objects.filter(
        kind=PartKind.FIT,
        status=PartStatus.LEASED,
        leased_until__gte=now,
        run__status=RunStatus.RUNNING,
    ).filter(
        Q(recipe=OuterRef("recipe"))
        | Q(recipe=OuterRef("base_recipe"))
        | Q(base_recipe=OuterRef("recipe"))
        | (Q(base_recipe=OuterRef("base_recipe")) & ~Q(base_recipe=""))
    )
    same_fit = same_fit.exclude(pk=OuterRef("pk"))
    own_fit = RunPart.objects.filter(
        kind=PartKind.FIT, status=PartStatus.DONE, algorithm=OuterRef("algorithm"), fold=OuterRef("fold")
    )
    is_ready = (
        Q(kind=PartKind.PREPARE)
        | Q(Q(kind=PartKind.FIT) & ~Exists(same_fit))
        | Q(Q(kind=PartKind.MEASURE) & Exists(own_fit))
        | Q(Q(kind=PartKind.REDUCE, algorithm=None) & ~Exists(unfinished))
        | Q(
            Q(kind=PartKind.REDUCE, algorithm__isnull=False)
            & ~Exists(unfinished.filter(kind=PartKind.MEASURE, algorithm=OuterRef("algorithm")))
        )
    )
    return (
        RunPart.objects.filter(run=run, run__status__in=RUN_OPEN)
        .filter(PARTS.leasable(now), is_ready)
        .annotate(
            order=Case(
                When(kind=PartKind.FIT, then=Value(0)),
                When(kind=PartKind.REDUCE, then=Value(1)),
                When(kind=PartKind.MEASURE, start=0, then=Value(2)),
                default=Value(3),
                output_field=IntegerField(),
            )
        )
        .order_by("order", "pk")
    )


def lease_part(*, run: EvaluationRun) -> RunPart | None:
    """Lease one part of `run` to this process, or return None where none is free.

    Of two workers that try the same part, the second tries the next. A part whose workers were gone too often fails
    the run.
    """
    while True:
        candidates = list(leasable_parts(run=run).select_related("run__version", "algorithm")[:_TRIES])
        if not candidates:
            return None
        for part in candidates:
            if not PARTS.lease(part):
                continue
            start_run(run=part.run)
            if part.attempts > MAX_ATTEMPTS:
                fail_part(
                    part=part,
                    reason=f"{MAX_ATTEMPTS} workers in turn stopped before finishing this part "
                    f"({describe(part)}). The machine may be out of memory, or something ends its "
                    "processes; look at the workers' log, then start the run again.",
                )
                return None
            EvaluationRun.objects.filter(pk=run.pk, status=RunStatus.RUNNING).update(activity=describe(part))
            return part


def describe(part: RunPart) -> str:
    """What executing the part is, in words."""
    if part.kind == PartKind.PREPARE or part.algorithm is None:
        return "Preparing the test cases" if part.kind == PartKind.PREPARE else "Finishing the results"
    if part.kind == PartKind.REDUCE:
        return f"Adding up the results of {part.algorithm.label}"
    of_fold = f", {part.run.folds[part.fold]['label']}" if part.run.folds else ""
    if part.kind == PartKind.FIT:
        return f"Fitting {part.algorithm.label}{of_fold}"
    profile = f"profiles of {part.profile_length}" if part.profile_length else "whole profiles"
    return f"Measuring {part.algorithm.label} on {profile}{of_fold}, cases {part.start + 1:,} to {part.stop:,}"


@transaction.atomic
def finish_part(*, part: RunPart, outcome: Outcome) -> bool:
    """Write a part's result and its effects, once; False where nothing was written.

    Nothing is written if the part is done, another worker holds the lease, or the run is over. A worker whose lease
    ran out may still finish a part that has not been leased since: any other worker's result would be the same.
    """
    is_finished = PARTS.finish_late(part, to=PartStatus.DONE, result_digest=outcome.digest, seconds=outcome.seconds)
    if is_finished and outcome.effects is not None:
        outcome.effects()
    return is_finished


def remove_parts(*, run: EvaluationRun) -> int:
    """Remove the stored results of a run's parts and return their number. Idempotent.

    A stored part contains the number of its run, so no two runs share one.
    """
    removed = 0
    for part in _stored(run).only("pk", "result_digest"):
        artefacts.remove("parts", part.result_digest)
        removed += RunPart.objects.filter(pk=part.pk).update(result_digest="")
    return removed


def remove_leftover_parts() -> int:
    """Remove leftover parts: of succeeded runs immediately, of stopped runs after a week. Return the number of runs.

    If a stopped run is resumed after that, its parts are measured again.
    """
    stored = RunPart.objects.filter(kind=PartKind.MEASURE).exclude(result_digest="").values("run")
    leftover = EvaluationRun.objects.filter(pk__in=stored).order_by("pk")
    old = timezone.now() - RETENTION
    stopped = leftover.filter(status__in=RUN_STOPPED, finished_at__lt=old)
    cleaned = list(leftover.filter(status=RunStatus.SUCCEEDED)[:RUNS_AT_ONCE]) + list(stopped[:RUNS_AT_ONCE])
    for run in cleaned:
        if run.status != RunStatus.SUCCEEDED:
            unreduced = _stored(run).filter(algorithm__results=None)
            move_all(unreduced, to=PartStatus.QUEUED, allowed=PART_MOVES)
        logger.info("removed parts run=%s parts=%s", run.pk, remove_parts(run=run))
    return len(cleaned)


def _stored(run: EvaluationRun) -> QuerySet[RunPart]:
    return RunPart.objects.filter(run=run, kind=PartKind.MEASURE).exclude(result_digest="")
