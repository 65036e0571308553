"""What runs leave behind: the stored parts go once they are added up, or once nobody is likely to need them."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from core import artefacts
from evaluation.enums import RUN_STOPPED, PartKind, PartStatus, RunStatus
from evaluation.models import EvaluationRun, RunPart

logger = logging.getLogger(__name__)

KEPT_FOR = timedelta(days=7)  # parts of a run that stopped, so that it can be taken up again
RUNS_AT_ONCE = 3  # tidied by one sweep, so that none takes long


def remove_parts(*, run: EvaluationRun) -> int:
    """Remove what the parts of a succeeded run stored; returns how many there were. Safe to do twice.

    A stored part belongs to one run (its number is part of what is stored), so no other run misses it.
    """
    removed = 0
    for part in _stored(run).only("pk", "result_digest"):
        artefacts.remove("parts", part.result_digest)
        removed += RunPart.objects.filter(pk=part.pk).update(result_digest="")
    return removed


def tidy() -> int:
    """Remove parts that were left: of succeeded runs at once, of stopped ones after a week.

    Parts of a stopped run are measured again if it is taken up after that. Returns the runs tidied.
    """
    stored = RunPart.objects.filter(kind=PartKind.MEASURE).exclude(result_digest="").values("run")
    left = EvaluationRun.objects.filter(pk__in=stored).order_by("pk")
    old = timezone.now() - KEPT_FOR
    stopped = left.filter(status__in=RUN_STOPPED, finished_at__lt=old)
    tidied = list(left.filter(status=RunStatus.SUCCEEDED)[:RUNS_AT_ONCE]) + list(stopped[:RUNS_AT_ONCE])
    for run in tidied:
        if run.status != RunStatus.SUCCEEDED:
            _stored(run).update(status=PartStatus.QUEUED)
        logger.info("removed parts run=%s parts=%s", run.pk, remove_parts(run=run))
    return len(tidied)


def _stored(run: EvaluationRun) -> QuerySet[RunPart]:
    return RunPart.objects.filter(run=run, kind=PartKind.MEASURE).exclude(result_digest="")
