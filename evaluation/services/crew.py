"""Workers of a run's own: child processes on a queue that nobody else reads, gone with the run."""

from __future__ import annotations

import logging
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from celery import current_app
from django.conf import settings

from core.errors import ParallaxError
from core.leader import LEADER
from evaluation.services.worker_lock import is_worker_running

logger = logging.getLogger(__name__)

ROOT_WARNING = "ignore:You're running the worker with superuser privileges"
UNASKED_WORKERS = 2  # that a command starts where no worker is running
STOP_SECONDS = 10.0  # from asking a child to stop to making it
THREAD_VARIABLES = (
    "NUMERIC_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def workers_to_start(asked: int | None) -> int:
    """How many workers a command starts for its run: as asked, else two where this machine has none to do the work.

    Where Redis is the broker workers run on other machines too, and a command waits for them.
    """
    if asked is not None:
        return asked
    return 0 if settings.REDIS_URL or is_worker_running() else UNASKED_WORKERS


def new_queue() -> str:
    """Name a queue that nothing else uses."""
    return f"parallax-run-{secrets.token_hex(6)}"


class Crew:
    """Child workers on one queue; leaving the context stops them and removes the queue.

    Children do not sweep: whoever holds the crew does, and calls `tend` now and then so that a child that
    died is replaced.
    """

    def __init__(self, *, size: int, queue: str, threads: int) -> None:
        if size < 1:
            raise ParallaxError("crew.bad_size", f"A run needs at least one worker; {size} were asked for.")
        self._size = size
        self._queue = queue
        self._threads = threads
        self._children: list[subprocess.Popen[bytes]] = []
        self._started = 0

    def __enter__(self) -> Self:
        self.tend()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def process_ids(self) -> tuple[int, ...]:
        """Process ids of the children that run."""
        return tuple(child.pid for child in self._children if child.poll() is None)

    def tend(self) -> int:
        """Start the children that are missing; returns how many were.

        Raises
        ------
        ParallaxError
            Code ``crew.keeps_dying``: children end as soon as they are started.
        """
        self._children = [child for child in self._children if child.poll() is None]
        missing = self._size - len(self._children)
        if missing and self._started + missing > 6 * self._size + 6:
            raise ParallaxError(
                "crew.keeps_dying",
                f"Workers keep ending ({self._started} were started). What they said stands above; "
                "is there enough memory?",
            )
        for _ in range(missing):
            self._started += 1
            self._children.append(self._start(self._started))
        return missing

    def _start(self, number: int) -> subprocess.Popen[bytes]:
        own = {
            **{name: str(self._threads) for name in THREAD_VARIABLES},
            "SWEEP_SECONDS": "0",
            LEADER: str(os.getpid()),
            # Celery says this once a worker, into the middle of the progress line.
            "PYTHONWARNINGS": ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), ROOT_WARNING])),
        }
        command = [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "parallax",
            "worker",
            "--pool",
            "solo",
            "--loglevel",
            "ERROR",
        ]
        command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        command += ["-Q", self._queue, "-n", f"{self._queue}-{number}@%h"]
        return subprocess.Popen(
            command,
            cwd=settings.BASE_DIR,
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            # Ctrl-C in the terminal reaches the whole foreground group; the children are to end by `stop`.
            start_new_session=True,
        )

    def stop(self) -> None:
        """Ask the children to stop, make those that do not, and remove the queue."""
        for child in self._children:
            if child.poll() is None:
                child.terminate()
        ends = time.monotonic() + STOP_SECONDS
        for child in self._children:
            try:
                child.wait(timeout=max(0.0, ends - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._children = []
        forget_queue(self._queue)


def forget_queue(name: str) -> None:
    """Remove a queue with its messages, and what the broker keeps about it."""
    with current_app.connection_for_write() as connection:
        queue = current_app.amqp.queues[name].bind(connection.default_channel)
        queue.declare()
        queue.purge()
        queue.delete()
    current_app.amqp.queues.pop(name, None)
    # A broker that keeps its exchanges as files leaves an empty one behind.
    control = settings.CELERY_BROKER_TRANSPORT_OPTIONS.get("control_folder")
    if control:
        Path(str(control), f"{name}.exchange").unlink(missing_ok=True)
