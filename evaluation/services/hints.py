"""Messages to workers. A message says only that a run has work; what the work is stands in the database."""

from __future__ import annotations

from core.jobs import enqueue_on_commit
from evaluation.models import EvaluationRun

MAX_HINTS = 16  # at once: more workers than these are woken by the next fit, or by the sweep


def hint(*, run: EvaluationRun, n: int = 1) -> None:
    """Tell up to `n` workers, on the run's own queue or the default one, that `run` has work."""
    for _ in range(min(n, MAX_HINTS)):
        enqueue_on_commit("evaluation.work", queue=run.queue or None, run_id=run.pk)
