"""Running workers on all machines: each keeps a row in the database up to date, and says what it is working on."""

from __future__ import annotations

import logging
import os
import platform
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta

from django.db import DatabaseError, connections
from django.utils import timezone

from core.models import Worker
from core.provenance import code_digest
from jobs.kinds import KINDS
from jobs.models import Job, JobStatus

logger = logging.getLogger(__name__)
BEAT_SECONDS = 10.0
NOTICE_SECONDS = 1.0  # until the row names a task that has begun; quicker ones are not named
ALIVE_SECONDS = 35.0  # without a beat, after which a worker counts as gone
FORGET_AFTER = timedelta(days=1)


class WorkerBeat:
    """Keeps this process's row up to date in a thread, until stopped; tasks only set `task`, and write nothing."""

    def __init__(self, queues: Iterable[str]) -> None:
        self.task = ""
        self._row = Worker(host=platform.node()[:200], pid=os.getpid(), queues=sorted(queues), code=code_digest())
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="worker-beat", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        written = self._write()
        while not self._stop.wait(NOTICE_SECONDS):
            # Short tasks are never written: a row written for each would cost more than the task.
            if self.task != self._row.task or time.monotonic() - written >= BEAT_SECONDS:
                written = self._write()
        if self._row.pk:
            with suppress(DatabaseError):  # after a while it counts as gone anyhow
                self._row.delete()
        connections.close_all()

    def _write(self) -> float:
        self._row.task, self._row.seen_at = self.task, timezone.now()
        try:
            self._row.save()
            # Workers that were killed cannot delete their rows, so any other one does.
            Worker.objects.filter(seen_at__lt=timezone.now() - FORGET_AFTER).delete()
        except DatabaseError as problem:  # the next beat tries again
            logger.warning("worker not registered: %s", problem)
        finally:
            connections.close_all()
        return time.monotonic()

    def stop(self) -> None:
        """End the thread, which deletes the row."""
        self._stop.set()
        self._thread.join()


def running_workers(queue: str | None = None) -> list[Worker]:
    """The workers of all machines that reported lately; of one queue, if it is named."""
    alive = Worker.objects.filter(seen_at__gte=timezone.now() - timedelta(seconds=ALIVE_SECONDS))
    return [worker for worker in alive.order_by("host", "pid") if queue is None or queue in worker.queues]


def waiting_words(queue: str, job: Job | None = None) -> str:
    """Why work waits in a queue: no worker takes it, one is about to, or all are busy with other work.

    A short `job` also waits for those that were requested before it.
    """
    workers = running_workers(queue)
    if not workers:
        return "Waiting for a worker; none is running"
    if not all(worker.task for worker in workers):
        return "Waiting for a worker"
    n = len(workers)
    if job is not None and job.definition.is_short:
        short = [kind.key for kind in KINDS.values() if kind.is_short]
        n += Job.objects.filter(kind__in=short, status=JobStatus.QUEUED, created_at__lt=job.created_at).count()
    return f"Waiting behind {n} job{'' if n == 1 else 's'}"
