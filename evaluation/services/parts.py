"""The parts of a run: which are ready, leasing the next, and finishing it once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Case, Exists, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from evaluation.enums import RUN_OPEN, PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunPart
from evaluation.services.runs import PARTS, fail_part, start_run

MAX_ATTEMPTS = 5  # leases of one part; then what kills its workers is the part itself
_TRIES = 4  # candidates looked at in one go: as many as workers are likely to collide on


@dataclass(frozen=True)
class Outcome:
    """What executing a part gave: the stored result, the time it took, what else to write with it."""

    seconds: float
    digest: str = ""
    effects: Callable[[], None] | None = None  # called in the transaction that finishes the part


def leasable_parts(*, run: EvaluationRun, now: datetime | None = None) -> QuerySet[RunPart]:
    """Parts of an unfinished run that a worker could take now, fits first.

    A measurement waits for its model, the reduction for all else that has not failed, and a fit for another run's
    fit of the same recipe while that one's lease lives, so that nothing is trained twice at once.
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
        recipe=OuterRef("recipe"),
    ).exclude(pk=OuterRef("pk"))
    own_fit = RunPart.objects.filter(
        kind=PartKind.FIT, status=PartStatus.DONE, algorithm=OuterRef("algorithm"), fold=OuterRef("fold")
    )
    is_ready = (
        Q(kind=PartKind.PREPARE)
        | Q(Q(kind=PartKind.FIT) & ~Exists(same_fit))
        | Q(Q(kind=PartKind.MEASURE) & Exists(own_fit))
        | Q(Q(kind=PartKind.REDUCE) & ~Exists(unfinished))
    )
    return (
        RunPart.objects.filter(run=run, run__status__in=RUN_OPEN)
        .filter(PARTS.leasable(now), is_ready)
        .annotate(order=Case(When(kind=PartKind.FIT, then=Value(0)), default=Value(1), output_field=IntegerField()))
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
        return "Preparing the test cases" if part.kind == PartKind.PREPARE else "Adding up the results"
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
