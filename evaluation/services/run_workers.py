"""Worker processes that a command starts for one run, on a private queue; they end with the run."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from types import TracebackType
from typing import Self

import psutil
from django.conf import settings

from core.errors import ParallaxError
from jobs.broker_queues import declare_queue, delete_queue
from jobs.parent_process import PARENT_VARIABLE
from jobs.worker_lock import is_worker_running

ROOT_WARNING = "ignore:You're running the worker with superuser privileges"
DEFAULT_WORKERS = 2  # started by a command when no worker is running
STOP_SECONDS = 10.0  # grace period between terminating and killing workers
MAX_STARTS = 6  # of the process that forks the workers
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
    """Workers on one queue; leaving the context stops them and removes the queue.

    One process imports what they need and forks them, so that they start at once and share its memory. It replaces a
    worker that dies. They do not run the sweep: the owner of this object does, and calls `replaced` regularly, which
    starts that process again if it has died itself.
    """

    def __init__(self, *, size: int, queue: str, threads: int) -> None:
        if size < 1:
            raise ParallaxError("run.bad_workers", f"A run needs at least one worker; {size} were requested.")
        self._size = size
        self._queue = queue
        self._threads = threads
        self._pool: psutil.Popen | None = None
        self._workers: set[int] = set()
        self._started = 0

    def __enter__(self) -> Self:
        declare_queue(self._queue)
        self.replaced()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Celery takes five seconds to stop idle workers. Those of a run that is over have nothing to finish, but Redis
        # would keep the messages that they have fetched and not yet acknowledged.
        is_idle = error is None and not settings.REDIS_URL
        self.stop(grace=0.0 if is_idle else STOP_SECONDS)

    def replaced(self) -> int:
        """Return how many workers have died since the last call. Raises ParallaxError with code ``run.workers_die``:
        the process that forks them ends as soon as it starts.
        """
        if self._pool is None or self._pool.poll() is not None:
            if self._started == MAX_STARTS:
                raise ParallaxError(
                    "run.workers_die",
                    f"Workers keep exiting ({self._started} times). See their output above, and check that the machine "
                    "has enough memory.",
                )
            self._started += 1
            self._pool = self._start()
        workers = {child.pid for child in self._pool.children()}
        n_dead = len(self._workers - workers)
        self._workers = workers
        return n_dead

    def _start(self) -> psutil.Popen:
        variables = {
            **{name: str(self._threads) for name in THREAD_VARIABLES},
            "SWEEP_SECONDS": "0",
            PARENT_VARIABLE: str(os.getpid()),
            # The command has run those that it needs; the others would import every page of the site.
            "CELERY_SKIP_CHECKS": "1",
            # Celery would print this warning once per worker, in the middle of the progress line.
            "PYTHONWARNINGS": ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), ROOT_WARNING])),
        }
        # Critical: the run itself says why a part failed, in words; Celery would print the traceback.
        command = [sys.executable, "-m", "celery", "-A", "parallax", "worker", "--loglevel", "CRITICAL"]
        command += ["--pool", "prefork", "--concurrency", str(self._size)]
        command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        command += ["-Q", self._queue, "-n", f"{self._queue}@%h"]
        return psutil.Popen(
            command,
            cwd=settings.BASE_DIR,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            # Ctrl-C reaches the whole foreground process group; the workers must be stopped by `stop` instead.
            start_new_session=True,
        )

    def stop(self, *, grace: float) -> None:
        """Terminate the workers, kill those that have not stopped after `grace` seconds, and remove the queue."""
        if self._pool is not None and self._pool.poll() is None:
            family = [self._pool, *self._pool.children(recursive=True)]
            self._pool.terminate()
            _, alive = psutil.wait_procs(family, timeout=grace)
            for process in alive:
                process.kill()
            psutil.wait_procs(alive)
        self._pool = None
        delete_queue(self._queue)
