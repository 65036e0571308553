"""Measure algorithms on a dataset: make a run, watch it, print its table."""

from __future__ import annotations

import json
import signal
import time
from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from catalog.selectors.datasets import newest_version
from core.errors import NotAllowedInState, ParallaxError
from evaluation.enums import RUN_OPEN, RunStatus
from evaluation.exports import run_document
from evaluation.models import EvaluationRun
from evaluation.selectors.results import Row, table
from evaluation.selectors.runs import Progress, progress
from evaluation.services.crew import Crew, new_queue
from evaluation.services.runs import cancel_run, create_run, named_settings
from evaluation.services.working import sweep
from evaluation.tables import share

POLL_SECONDS = 0.25
TEND_SECONDS = 1.0
ANSWER_SECONDS = 10.0  # without a sign of a worker the command says so
LINE_SECONDS = 5.0  # between lines where the output is not a terminal


class Command(BaseCommand):
    help = "Measure algorithms on a dataset and print recall, fallout, precision and F at N."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the dataset; its newest version is used")
        parser.add_argument("--algorithms", required=True, help="for example toppop,corngr,puresvd:factors=50")
        parser.add_argument("--split", default="probe:share=0.1", help="what is hidden (default: %(default)s)")
        parser.add_argument("--reserve", type=float, default=0.0, help="share of users kept from every model")
        parser.add_argument("--protocol", default="one-plus-random", help="default: %(default)s")
        parser.add_argument("--negatives", type=int, default=1000, help="unrated items beside each test item")
        parser.add_argument("--n", type=int, default=5, help="length of the list (default: %(default)s)")
        parser.add_argument("--relevant", type=float, default=5.0, help="lowest relevant rating")
        parser.add_argument("--irrelevant", type=float, default=1.0, help="highest irrelevant rating")
        parser.add_argument("--g", type=float, help="generality for precision (default: share of relevant cases)")
        parser.add_argument("--ties", default="expected", help="expected, worst or best (default: %(default)s)")
        parser.add_argument(
            "--profile-length",
            type=int,
            action="append",
            help="also with profiles cut to this length (default: 5)",
        )
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--threads", type=int, help="numeric threads of each worker (default: NUMERIC_THREADS)")
        parser.add_argument("--workers", type=int, help="start this many workers for this run, and stop them after it")
        parser.add_argument("--part-users", type=int, help="test users of one part; changes no number")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write every number with its inputs' hashes")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path | None = options["json"]
        if file is not None and not file.parent.is_dir():
            raise CommandError(f"There is no folder {file.parent} to write {file.name} into; make it first.")
        if options["workers"] is not None and options["workers"] < 1:
            raise CommandError("--workers is the number of workers to start, at least 1; leave it out to start none.")
        before = signal.signal(signal.SIGTERM, _interrupt)
        try:
            run = self._run(options)
        except ParallaxError as problem:
            raise CommandError(str(problem)) from problem
        except KeyboardInterrupt:
            raise CommandError("Stopped before the run was made.", returncode=130) from None
        finally:
            signal.signal(signal.SIGTERM, before)
        self._report(run)
        if file is not None:
            file.write_text(json.dumps(run_document(run), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
            self.stdout.write(f"Written to {file}.")

    def _run(self, options: dict[str, Any]) -> EvaluationRun:
        """Make the run and stay with it until it is over."""
        with ExitStack() as stack:
            workers = options["workers"]
            queue = new_queue() if workers else ""
            threads = options["threads"] or settings.NUMERIC_THREADS
            optional = {"part_users": options["part_users"]} if options["part_users"] else {}
            protocol = {
                **named_settings(text=options["protocol"]),
                "negatives": options["negatives"],
                "relevant": options["relevant"],
                "irrelevant": options["irrelevant"],
                "g": options["g"],
                "ties": options["ties"],
            }
            run = create_run(
                version=newest_version(options["name"]),
                algorithms=options["algorithms"],
                split=named_settings(text=options["split"]),
                protocol=protocol,
                reserve=options["reserve"],
                seed=options["seed"],
                n=options["n"],
                profile_lengths=options["profile_length"] or (5,),
                threads=threads,
                queue=queue,
                **optional,
            )
            self.stdout.write(f"Run {run.pk} on {run.version}, inputs {run.inputs_hash[:12]}.")
            try:
                crew = stack.enter_context(Crew(size=workers, queue=queue, threads=threads)) if workers else None
                self._watch(run, crew)
            except KeyboardInterrupt:
                self.stdout.write("")
                self._cancel(run)
                raise CommandError(f"Run {run.pk} was cancelled.", returncode=130) from None
            except BaseException:
                self._cancel(run)
                raise
        if run.status != RunStatus.SUCCEEDED:
            raise ParallaxError(
                "run.not_succeeded", run.error or f"Run {run.pk} was {run.get_status_display().lower()}."
            )
        return run

    def _cancel(self, run: EvaluationRun) -> None:
        run.refresh_from_db()
        try:
            cancel_run(run=run, reason="the command that started it was stopped")
        except NotAllowedInState:
            return

    def _watch(self, run: EvaluationRun, crew: Crew | None) -> None:
        """Show how far the run is until it is over; bring back what dead workers left."""
        started = tended = spoken = time.monotonic()
        shown = ""
        is_answered = False
        while True:
            run.refresh_from_db()
            found = progress(run)
            line = progress_line(run, found)
            now = time.monotonic()
            if self._is_terminal():
                self.stdout.write(f"\r\x1b[2K{line}", ending="")
                self.stdout.flush()
            elif line != shown and (now - spoken >= LINE_SECONDS or run.status not in RUN_OPEN):
                self.stdout.write(line)
                shown, spoken = line, now
            if run.status not in RUN_OPEN:
                break
            is_answered = is_answered or run.status != RunStatus.QUEUED
            if not is_answered and now - started > ANSWER_SECONDS and crew is None:
                is_answered = True  # said once
                self.stdout.write(
                    "\nNo worker has answered for 10 seconds. Start one (celery -A parallax worker), or "
                    "start the command again with --workers 2. Still waiting; Ctrl-C cancels the run."
                )
            if now - tended >= TEND_SECONDS:
                tended = now
                if crew is not None and crew.tend():
                    self.stdout.write("\nA worker was gone; another was started in its place.")
                sweep(run=run)
            time.sleep(POLL_SECONDS)
        if self._is_terminal():
            self.stdout.write("")

    def _is_terminal(self) -> bool:
        return bool(self.stdout.isatty())

    def _report(self, run: EvaluationRun) -> None:
        """Print the table, what was counted and left out, and which models had been there before."""
        rows = table(run)
        shorter = {length: table(run, length) for length in run.profile_lengths}
        for line in table_lines(run, rows, shorter):
            self.stdout.write(line)
        self.stdout.write(f"{run.n_relevant:,} relevant and {run.n_irrelevant:,} irrelevant cases.")
        for heading, facts in (("Left out", run.left_out), ("Counted", run.counted)):
            said = "; ".join(f"{count:,} {what}" for what, count in facts.items() if count)
            if said:
                self.stdout.write(f"{heading}: {said}.")
        reused = [row.label for row in rows if row.was_reused]
        if reused:
            self.stdout.write(f"Fitted before from the same recipe, and used again: {', '.join(reused)}.")


def _interrupt(number: int, frame: object) -> None:
    """Treat being asked to end as Ctrl-C, so that workers are stopped and the run is cancelled."""
    raise KeyboardInterrupt


def progress_line(run: EvaluationRun, found: Progress) -> str:
    """Say how far a run is: parts, what it is doing, speed, time left."""
    if run.status not in RUN_OPEN:
        ending = f"after {found.seconds:.1f} s, {found.done} of {found.total} parts"
        return f"Run {run.pk} {run.get_status_display().lower()} {ending}."
    pieces = [f"{found.done}/{found.total} parts", found.activity or "Waiting for a worker"]
    if found.cases_per_second:
        pieces.append(f"{found.cases_per_second:,.0f} cases/s")
    if found.seconds_left is not None:
        pieces.append(f"about {found.seconds_left:.0f} s left")
    return " · ".join(pieces)


def table_lines(run: EvaluationRun, rows: list[Row], shorter: dict[int, list[Row]]) -> list[str]:
    """Set the results as a table whose columns line up."""
    heads = [f"recall@{run.n}", f"fallout@{run.n}", f"precision@{run.n}", f"F@{run.n}", "fit s", "score s"]
    heads += [f"recall@{run.n}, {length} ratings" for length in shorter]
    width = max(len("algorithm"), *(len(row.label) for row in rows))
    lines = ["", "  ".join(["algorithm".ljust(width), *heads])]
    for position, row in enumerate(rows):
        cells = [share(row.recall), share(row.fallout), share(row.precision), share(row.f_measure)]
        cells += [f"{row.fit_seconds:.2f}", f"{row.score_seconds:.2f}"]
        cells += [share(at[position].recall) for at in shorter.values()]
        padded = [cell.rjust(len(head)) for cell, head in zip(cells, heads, strict=True)]
        lines.append("  ".join([row.label.ljust(width), *padded]))
    return [*lines, ""]
