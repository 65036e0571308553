"""Removal of stored parts: after a run has succeeded, or a week after it stopped."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from core import artefacts
from core.transitions import move_all
from evaluation.enums import PART_MOVES, RUN_STOPPED, PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunPart

logger = logging.getLogger(__name__)

RETENTION = timedelta(days=7)  # parts of a stopped run are kept for this time, so that it can be resumed
RUNS_AT_ONCE = 3  # cleaned by one sweep, so that no sweep takes long


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
            move_all(_stored(run), to=PartStatus.QUEUED, allowed=PART_MOVES)
        logger.info("removed parts run=%s parts=%s", run.pk, remove_parts(run=run))
    return len(cleaned)


def _stored(run: EvaluationRun) -> QuerySet[RunPart]:
    return RunPart.objects.filter(run=run, kind=PartKind.MEASURE).exclude(result_digest="")
