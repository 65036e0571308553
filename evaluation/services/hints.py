"""Messages that wake workers. A message only says that a run has work; the work itself is in the database."""

from __future__ import annotations

from evaluation.models import EvaluationRun
from jobs.queue import enqueue_on_commit

MAX_HINTS = 16  # per call; further workers are woken by the next fit or by the sweep


def hint(*, run: EvaluationRun, n: int = 1) -> None:
    """Notify up to `n` workers, on the run's own queue or the queue of long work, that `run` has work."""
    for _ in range(min(n, MAX_HINTS)):
        enqueue_on_commit("evaluation.work", queue=run.queue or None, run_id=run.pk)
