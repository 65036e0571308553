"""Parts under a lease: taken by compare-and-set, kept by a heartbeat, finished once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Case, Exists, F, IntegerField, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from core.heartbeat import Beating, lease_token
from evaluation.enums import RUN_OPEN, PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunPart
from evaluation.services.runs import fail_part, start_run

MAX_ATTEMPTS = 5  # leases of one part; then what kills its workers is the part itself
_TRIES = 4  # candidates looked at in one go: as many as workers are likely to collide on


@dataclass(frozen=True)
class Outcome:
    """What executing a part gave: the stored result, the time it took, what else to write with it."""

    seconds: float
    digest: str = ""
    effects: Callable[[], None] | None = None  # called in the transaction that finishes the part


def _is_free(now: datetime) -> Q:
    return Q(status=PartStatus.QUEUED) | Q(status=PartStatus.LEASED, leased_until__lt=now)


def _run_is(*statuses: str) -> Exists:
    """A condition on the part's run, as a subquery.

    Never as a join: PostgreSQL looks again at an updated row's own columns, not at those of a joined copy,
    so that with a join two workers could both take one part.
    """
    return Exists(EvaluationRun.objects.filter(pk=OuterRef("run_id"), status__in=statuses))


def leasable_parts(*, run: EvaluationRun, now: datetime | None = None) -> QuerySet[RunPart]:
    """Parts of an unfinished run that a worker could take now, fits first.

    A measurement waits for its model, the reduction for all else that has not failed, and a fit for another run's
    fit of the same recipe while that one's lease lives, so that nothing is trained twice at once.
    """
    now = now or timezone.now()
    others = (
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
        | Q(Q(kind=PartKind.REDUCE) & ~Exists(others))
    )
    return (
        RunPart.objects.filter(run=run, run__status__in=RUN_OPEN)
        .filter(_is_free(now), is_ready)
        .annotate(order=Case(When(kind=PartKind.FIT, then=Value(0)), default=Value(1), output_field=IntegerField()))
        .order_by("order", "pk")
    )


def lease_part(*, run: EvaluationRun) -> RunPart | None:
    """Take one part of `run` for this process, or None where there is nothing to take.

    The update names the state that was read, so of two workers that reach for one part the second finds no
    row and reaches for the next. A part whose workers were gone too often fails the run.
    """
    while True:
        now = timezone.now()
        candidates = list(leasable_parts(run=run, now=now).values_list("pk", flat=True)[:_TRIES])
        if not candidates:
            return None
        for pk in candidates:
            taken = RunPart.objects.filter(_is_free(now), _run_is(*RUN_OPEN), pk=pk).update(
                status=PartStatus.LEASED,
                lease=lease_token(),
                leased_until=now + timedelta(seconds=settings.LEASE_SECONDS),
                attempts=F("attempts") + 1,
                updated_at=now,
            )
            if not taken:
                continue
            part = RunPart.objects.select_related("run__version", "algorithm").get(pk=pk)
            start_run(run=part.run)
            if part.attempts > MAX_ATTEMPTS:
                fail_part(
                    part=part,
                    reason=f"{MAX_ATTEMPTS} workers in turn took this part ({describe(part)}) and were "
                    "gone before it was done. The machine may be out of memory, or something ends its "
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


def renew_lease(*, part: RunPart) -> bool:
    """Put the end of the lease off; False where the lease or the run is over."""
    now = timezone.now()
    return bool(
        RunPart.objects.filter(
            _run_is(RunStatus.RUNNING), pk=part.pk, status=PartStatus.LEASED, lease=part.lease
        ).update(leased_until=now + timedelta(seconds=settings.LEASE_SECONDS), updated_at=now)
    )


def release_part(*, part: RunPart) -> bool:
    """Give a part back before its lease ends."""
    return bool(
        RunPart.objects.filter(pk=part.pk, status=PartStatus.LEASED, lease=part.lease).update(
            status=PartStatus.QUEUED, lease="", leased_until=None, updated_at=timezone.now()
        )
    )


def release_dead_leases(*, run: EvaluationRun) -> int:
    """Free the parts of `run` whose workers have not been heard of; returns how many."""
    now = timezone.now()
    dead = RunPart.objects.filter(run=run, status=PartStatus.LEASED, leased_until__lt=now)
    return dead.update(status=PartStatus.QUEUED, lease="", leased_until=None, updated_at=now)


@transaction.atomic
def finish_part(*, part: RunPart, outcome: Outcome) -> bool:
    """Write a part's result and its effects, once; False where that was not to be.

    Nothing is written where the part is already done, where somebody else holds the lease, or where the run
    is over. A worker whose lease ran out while it was busy, and whose part nobody has taken since, may
    still finish: its result is the one any other would have found.
    """
    is_mine = Q(status=PartStatus.LEASED, lease=part.lease) | Q(status=PartStatus.QUEUED, attempts=part.attempts)
    finished = RunPart.objects.filter(is_mine, _run_is(RunStatus.RUNNING), pk=part.pk).update(
        status=PartStatus.DONE,
        result_digest=outcome.digest,
        seconds=outcome.seconds,
        leased_until=None,
        updated_at=timezone.now(),
    )
    if finished and outcome.effects is not None:
        outcome.effects()
    return bool(finished)


class Heartbeat(Beating):
    """Renews a part's lease from a thread of its own while the part is executed.

    `check()` raises LeaseLost once the lease or the run is over; long work calls it between blocks.
    """

    def __init__(self, part: RunPart) -> None:
        super().__init__(lambda: renew_lease(part=part), f"part={part.pk}")
