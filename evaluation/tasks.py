"""Tasks: each fetches by id and calls one service."""

from __future__ import annotations

from typing import Any

from celery import current_app, shared_task
from celery.signals import worker_init, worker_ready, worker_shutting_down
from django.conf import settings

from core.leader import watch_leader
from evaluation.services import heap, working
from evaluation.services.worker_lock import hold_worker_lock


@shared_task(
    name="evaluation.work",
    autoretry_for=working.TRANSIENT,
    retry_backoff=True,
    retry_jitter=False,
    max_retries=5,
    ignore_result=True,
)
def work(run_id: int) -> None:
    """Take parts of a run; the message is only a hint that there are some."""
    working.work_on(run_id=run_id)


@shared_task(name="evaluation.sweep", ignore_result=True)
def sweep() -> None:
    """Bring back what dead workers left."""
    working.sweep()


@worker_init.connect
def keep_little(**kwargs: Any) -> None:
    """Let a worker, and whatever processes it forks, hold no more memory than it uses."""
    heap.give_back_large_blocks()


@worker_ready.connect
def leave_with_leader(**kwargs: Any) -> None:
    """Let a worker that a command started leave when that command is gone."""
    watch_leader()


@worker_ready.connect
def note_presence(**kwargs: Any) -> None:
    """Let commands see that a worker is running; one on the queue of a single run serves nobody else."""
    if settings.CELERY_TASK_DEFAULT_QUEUE in current_app.amqp.queues.consume_from:
        hold_worker_lock()


@worker_shutting_down.connect
def stop_between_parts(**kwargs: Any) -> None:
    """Let a worker that was asked to stop do so after the part in hand, not after the run."""
    working.stop_soon()
