"""Monitoring of a run by a command: progress, restart of workers, and Ctrl-C."""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from typing import Self

from django.conf import settings
from django.core.management.base import OutputWrapper

from catalog.selectors.ratings import ratings_of
from core import artefacts
from core.errors import NotAllowedInState
from evaluation.enums import RUN_OPEN, RunStatus
from evaluation.models import EvaluationRun
from evaluation.selectors.runs import Progress, failure_summary, progress
from evaluation.services.run_workers import RunWorkers, new_queue, workers_to_start
from evaluation.services.runs import cancel_run
from evaluation.services.worker_loop import sweep
from jobs.worker_lock import is_worker_running
from jobs.workers import running_workers, waiting_words

POLL_SECONDS = 0.25
CHECK_SECONDS = 1.0
PATIENCE_SECONDS = 10.0  # time without a worker until a message is printed
LINE_SECONDS = 5.0  # between lines if the output is not a terminal


GONE = (
    "\nNo worker has responded for 10 seconds. Start one with `.venv/bin/celery -A parallax worker`, or "
    "run the command again with `--workers 2`. Still waiting; press Ctrl-C to cancel the run."
)
BUSY = "\nThe worker of this machine is busy and has not reported for 10 seconds. Still waiting."


def watch(run: EvaluationRun, workers: RunWorkers | None, out: OutputWrapper) -> None:
    """Print the progress of a run until it is over; recover parts of dead workers."""
    waiting_since = checked_at = printed_at = time.monotonic()
    shown = ""
    is_told = False
    is_terminal = bool(out.isatty())
    while True:
        run.refresh_from_db()
        line = progress_line(run, progress(run))
        now = time.monotonic()
        if is_terminal:
            out.write(f"\r\x1b[2K{line}", ending="")
            out.flush()
        elif line != shown and (now - printed_at >= LINE_SECONDS or run.status not in RUN_OPEN):
            out.write(line)
            shown, printed_at = line, now
        if run.status not in RUN_OPEN:
            break
        if workers is not None or running_workers(settings.LONG_QUEUE):  # of any machine, also a busy one
            waiting_since, is_told = now, False
        elif now - waiting_since > PATIENCE_SECONDS and not is_told:
            is_told = True
            out.write(BUSY if is_worker_running() else GONE)
        if now - checked_at >= CHECK_SECONDS:
            checked_at = now
            if workers is not None and workers.replaced():
                out.write("\nA worker has died and was replaced.")
            sweep(run=run)
        time.sleep(POLL_SECONDS)
    if is_terminal:
        out.write("")


class MonitoredRuns:
    """The runs of a command, one after the other, with workers of their own if no worker is running or the command asks
    for them. These start with the first run that is not finished, unless asked to before, and stop on leaving the
    context.
    """

    def __init__(self, requested: int | None, out: OutputWrapper, *, threads: int | None = None) -> None:
        self._requested, self._out = requested, out
        self._threads = threads or settings.NUMERIC_THREADS
        self._size = workers_to_start(requested)
        self._stack = ExitStack()
        self._workers: RunWorkers | None = None
        self.queue = new_queue() if self._size else ""  # of these workers; empty: the default queue

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start_workers(self) -> None:
        """Start the workers, if the command has any of its own and they do not run yet."""
        if not self._size or self._workers is not None:
            return
        if self._requested is None:
            self._out.write(
                f"No worker is running; starting {self._size} for this run. Use `--workers` to set their number."
            )
        self._workers = self._stack.enter_context(RunWorkers(size=self._size, queue=self.queue, threads=self._threads))

    def finish(self, run: EvaluationRun) -> None:
        """Monitor a run until it is over. Whatever ends the command before, Ctrl-C too, cancels the run."""
        try:
            if run.status in RUN_OPEN:
                self.start_workers()
                ratings = ratings_of(run.version).user_items
                artefacts.release_memory(ratings.data, ratings.indices)  # only the workers read them from here on
            watch(run, self._workers, self._out)
        except BaseException:
            run.refresh_from_db()
            with suppress(NotAllowedInState):
                cancel_run(run=run, reason="the command that started it was stopped")
            raise


def interrupt(signal_number: int, frame: object) -> None:
    """Handle SIGTERM like Ctrl-C, so that workers are stopped and the run is cancelled."""
    raise KeyboardInterrupt


def progress_line(run: EvaluationRun, progress_now: Progress) -> str:
    """Format the progress of a run: parts, activity, speed, remaining time."""
    if run.status not in RUN_OPEN:
        ending = f"after {progress_now.seconds:.1f} s, {progress_now.done} of {progress_now.total} parts"
        return f"Run {run.pk} {run.get_status_display().lower()} {ending}. {failure_summary(run)}".rstrip()
    is_waiting = run.status == RunStatus.QUEUED and not run.queue
    activity = waiting_words(settings.LONG_QUEUE) if is_waiting else progress_now.activity or "Waiting for a worker"
    pieces = [f"{progress_now.done}/{progress_now.total} parts", activity]
    if progress_now.cases_per_second:
        pieces.append(f"{progress_now.cases_per_second:,.0f} cases/s")
    if progress_now.seconds_left is not None:
        pieces.append(f"about {progress_now.seconds_left:.0f} s left")
    return " · ".join(pieces)
