"""Worker processes that a command starts for one run, on a private queue; they end with the run."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from types import TracebackType
from typing import Self

from django.conf import settings

from core.errors import ParallaxError
from jobs.broker_queues import declare_queue, delete_queue
from jobs.parent_process import PARENT_VARIABLE
from jobs.worker_lock import is_worker_running

ROOT_WARNING = "ignore:You're running the worker with superuser privileges"
DEFAULT_WORKERS = 2  # started by a command when no worker is running
STOP_SECONDS = 10.0  # grace period between terminating and killing a child
THREAD_VARIABLES = (
    "NUMERIC_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def workers_to_start(requested: int | None) -> int:
    """Return how many workers a command starts for its run: as requested, or two if no worker runs on this machine.

    With Redis as the broker, workers may run on other machines, so a command starts none and waits for them.
    """
    if requested is not None:
        return requested
    return 0 if settings.REDIS_URL or is_worker_running() else DEFAULT_WORKERS


def new_queue() -> str:
    """Return the name of a new, unused queue."""
    return f"parallax-run-{secrets.token_hex(6)}"


class RunWorkers:
    """Child workers on one queue; leaving the context stops them and removes the queue.

    Children do not run the sweep. The owner of this object does, and calls `restart_missing` regularly to replace
    children that died.
    """

    def __init__(self, *, size: int, queue: str, threads: int) -> None:
        if size < 1:
            raise ParallaxError("crew.bad_size", f"A run needs at least one worker; {size} were requested.")
        self._size = size
        self._queue = queue
        self._threads = threads
        self._children: list[subprocess.Popen[bytes]] = []
        self._started = 0

    def __enter__(self) -> Self:
        declare_queue(self._queue)
        self.restart_missing()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def restart_missing(self) -> int:
        """Start the missing children and return their number. Raises ParallaxError with code ``crew.keeps_dying``:
        children end as soon as they start.
        """
        self._children = [child for child in self._children if child.poll() is None]
        missing = self._size - len(self._children)
        if missing and self._started + missing > 6 * self._size + 6:
            raise ParallaxError(
                "crew.keeps_dying",
                f"Workers keep exiting ({self._started} were started). See their output above, and check that the "
                "machine has enough memory.",
            )
        for _ in range(missing):
            self._started += 1
            self._children.append(self._start(self._started))
        return missing

    def _start(self, number: int) -> subprocess.Popen[bytes]:
        variables = {
            **{name: str(self._threads) for name in THREAD_VARIABLES},
            "SWEEP_SECONDS": "0",
            PARENT_VARIABLE: str(os.getpid()),
            # Celery would print this warning once per worker, in the middle of the progress line.
            "PYTHONWARNINGS": ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), ROOT_WARNING])),
        }
        command = [sys.executable, "-m", "celery", "-A", "parallax", "worker", "--pool", "solo", "--loglevel", "ERROR"]
        command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        command += ["-Q", self._queue, "-n", f"{self._queue}-{number}@%h"]
        return subprocess.Popen(
            command,
            cwd=settings.BASE_DIR,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            # Ctrl-C reaches the whole foreground process group; the children must be stopped by `stop` instead.
            start_new_session=True,
        )

    def stop(self) -> None:
        """Terminate the children, kill those that do not stop in time, and remove the queue."""
        for child in self._children:
            if child.poll() is None:
                child.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for child in self._children:
            try:
                child.wait(timeout=max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._children = []
        delete_queue(self._queue)
