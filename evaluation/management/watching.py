"""A command that stays with a run until it is over: progress, workers tended, Ctrl-C."""

from __future__ import annotations

import time

from django.core.management.base import OutputWrapper

from core.errors import NotAllowedInState
from evaluation.enums import RUN_OPEN, RunStatus
from evaluation.models import EvaluationRun
from evaluation.selectors.runs import Progress, failure_summary, progress
from evaluation.services.crew import Crew
from evaluation.services.runs import cancel_run
from evaluation.services.working import sweep

POLL_SECONDS = 0.25
TEND_SECONDS = 1.0
ANSWER_SECONDS = 10.0  # without a sign of a worker the command says so
LINE_SECONDS = 5.0  # between lines where the output is not a terminal


def watch(run: EvaluationRun, crew: Crew | None, out: OutputWrapper) -> None:
    """Show how far the run is until it is over; bring back what dead workers left."""
    started = tended = spoken = time.monotonic()
    shown = ""
    is_answered = False
    is_terminal = bool(out.isatty())
    while True:
        run.refresh_from_db()
        line = progress_line(run, progress(run))
        now = time.monotonic()
        if is_terminal:
            out.write(f"\r\x1b[2K{line}", ending="")
            out.flush()
        elif line != shown and (now - spoken >= LINE_SECONDS or run.status not in RUN_OPEN):
            out.write(line)
            shown, spoken = line, now
        if run.status not in RUN_OPEN:
            break
        is_answered = is_answered or run.status != RunStatus.QUEUED
        if not is_answered and now - started > ANSWER_SECONDS and crew is None:
            is_answered = True  # said once
            out.write(
                "\nNo worker has answered for 10 seconds. Start one with `.venv/bin/celery -A parallax worker`, or "
                "run the command again with `--workers 2`. Still waiting; Ctrl-C cancels the run."
            )
        if now - tended >= TEND_SECONDS:
            tended = now
            if crew is not None and crew.tend():
                out.write("\nA worker was gone; another was started in its place.")
            sweep(run=run)
        time.sleep(POLL_SECONDS)
    if is_terminal:
        out.write("")


def say_started(n_workers: int, out: OutputWrapper) -> None:
    """Say that the command starts workers although it was not asked to."""
    out.write(f"No worker is running: {n_workers} are started for this run. `--workers` sets their number.")


def cancel(run: EvaluationRun) -> None:
    """Cancel a run if it is not over yet."""
    run.refresh_from_db()
    try:
        cancel_run(run=run, reason="the command that started it was stopped")
    except NotAllowedInState:
        return


def interrupt(number: int, frame: object) -> None:
    """Treat being asked to end as Ctrl-C, so that workers are stopped and the run is cancelled."""
    raise KeyboardInterrupt


def progress_line(run: EvaluationRun, found: Progress) -> str:
    """Say how far a run is: parts, what it is doing, speed, time left."""
    if run.status not in RUN_OPEN:
        ending = f"after {found.seconds:.1f} s, {found.done} of {found.total} parts"
        return f"Run {run.pk} {run.get_status_display().lower()} {ending}. {failure_summary(run)}".rstrip()
    pieces = [f"{found.done}/{found.total} parts", found.activity or "Waiting for a worker"]
    if found.cases_per_second:
        pieces.append(f"{found.cases_per_second:,.0f} cases/s")
    if found.seconds_left is not None:
        pieces.append(f"about {found.seconds_left:.0f} s left")
    return " · ".join(pieces)
