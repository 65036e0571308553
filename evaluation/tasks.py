"""Tasks: each fetches by id and calls one service."""

from __future__ import annotations

import gc
from typing import Any

from celery import current_app, shared_task
from celery.signals import task_postrun, task_prerun, worker_init, worker_ready, worker_shutdown, worker_shutting_down
from django.conf import settings

from evaluation.services import malloc_tuning, numerics, worker_loop
from jobs.leases import TRANSIENT
from jobs.parent_process import watch_parent
from jobs.worker_lock import acquire_worker_lock
from jobs.workers import WorkerBeat


@shared_task(
    name="evaluation.work",
    autoretry_for=TRANSIENT,
    retry_backoff=True,
    retry_jitter=False,
    max_retries=5,
    ignore_result=True,
)
def work(run_id: int) -> None:
    """Work on parts of a run; the message is only a hint that there are some."""
    worker_loop.work_on(run_id=run_id)


@shared_task(name="evaluation.sweep", ignore_result=True)
def sweep() -> None:
    """Recover the parts of dead workers."""
    worker_loop.sweep()


@worker_init.connect
def prepare_process(sender: Any, **kwargs: Any) -> None:
    """Make a worker and the processes it forks return unused memory to the system, and share what they import."""
    malloc_tuning.return_large_blocks()
    if sender.pool_cls == "prefork":
        for _ in numerics.compile_kernels():
            pass
        gc.freeze()  # a collection would write to every object, and so copy the page it is on


@worker_ready.connect
def stop_with_parent(**kwargs: Any) -> None:
    """Make a worker started by a command exit when that command ends."""
    watch_parent()


@worker_ready.connect
def register_worker(**kwargs: Any) -> None:
    """Mark a worker of the installation's queues as running, and let every machine see what it is working on."""
    queues = {queue.name for queue in settings.CELERY_TASK_QUEUES} & set(current_app.amqp.queues.consume_from)
    if not queues:
        return
    acquire_worker_lock()
    beat = WorkerBeat(queues)

    def begin(sender: Any, **kwargs: Any) -> None:
        beat.task = sender.name

    def end(**kwargs: Any) -> None:
        beat.task = ""

    def stop(**kwargs: Any) -> None:
        beat.stop()

    for signal, receiver in ((task_prerun, begin), (task_postrun, end), (worker_shutdown, stop)):
        signal.connect(receiver, weak=False)


@worker_shutting_down.connect
def stop_after_part(**kwargs: Any) -> None:
    """Make a worker that is shutting down stop after the current part, not after the run."""
    worker_loop.stop_soon()
