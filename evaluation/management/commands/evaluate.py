"""Measure algorithms on a dataset: make a run, watch it, print its table."""

from __future__ import annotations

import json
import signal
from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from catalog.selectors.datasets import newest_version
from core.errors import ParallaxError
from evaluation import tables
from evaluation.enums import RUN_OPEN, PartStatus, RunStatus
from evaluation.exports import run_document
from evaluation.management.arguments import at_least_one
from evaluation.management.watching import cancel, interrupt, say_started, watch
from evaluation.metrics.definition import TASKS
from evaluation.models import EvaluationRun
from evaluation.protocols.registry import PROTOCOLS
from evaluation.selectors.candidates import candidate_range, candidate_warning
from evaluation.selectors.cases import cases_of
from evaluation.selectors.orders import other_order
from evaluation.selectors.paired import chosen_on_development
from evaluation.selectors.results import ModelRow, model_rows
from evaluation.selectors.runs import failed_algorithms, failure_summary, metric_names, run_numbered
from evaluation.services.case_files import check_exportable, export_cases, keep_cases, keep_probe
from evaluation.services.crew import Crew, new_queue, workers_to_start
from evaluation.services.inputs import OWN_LIST, named_settings, split_names
from evaluation.services.runs import cancel_run, create_run, resume_run
from evaluation.splitting.registry import SPLITS
from evaluation.tables import cell, columns, share


class Command(BaseCommand):
    help = "Measure algorithms on a dataset and print recall, fallout, precision and F at N."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", nargs="?", help="name of the dataset; its newest version is used")
        parser.add_argument("--algorithms", help="for example toppop,corngr,puresvd:factors=50")
        parser.add_argument(
            "--resume", type=int, metavar="RUN", help="take up a run that stopped, with all that it was made of"
        )
        parser.add_argument("--split", default="probe:share=0.1", help=f"{', '.join(SPLITS)} (default: %(default)s)")
        parser.add_argument("--reserve", type=float, default=0.0, help="share of users kept from every model")
        parser.add_argument(
            "--protocol", default="one-plus-random", help=f"{', '.join(PROTOCOLS)} (default: %(default)s)"
        )
        parser.add_argument("--task", default="some", help=f"{', '.join(TASKS)} (default: %(default)s)")
        parser.add_argument("--metrics", default="", help="besides the protocol's own, for example ndcg@10,map@10")
        parser.add_argument("--mode", help="sampled (default) or exact, of one-plus-random")
        parser.add_argument("--negatives", type=int, help="unrated items beside each test item (default: 1000)")
        parser.add_argument("--n", type=int, default=5, help="length of the list (default: %(default)s)")
        parser.add_argument("--relevant", type=float, help="lowest relevant rating (default: 5)")
        parser.add_argument("--irrelevant", type=float, help="highest irrelevant rating (default: 1)")
        parser.add_argument("--g", type=float, help="generality for precision (default: share of relevant cases)")
        parser.add_argument("--ties", help="expected (default), worst or best")
        parser.add_argument("--cases", type=Path, metavar="FILE", help="measure on the cases of this .npz file")
        parser.add_argument("--export-cases", type=Path, metavar="FILE", help="write the cases as a .npz file")
        parser.add_argument(
            "--profile-length",
            type=int,
            action="append",
            help="also with profiles cut to this length (default: 5; 0: whole profiles alone)",
        )
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument(
            "--threads", type=at_least_one, help="numeric threads of each worker (default: NUMERIC_THREADS)"
        )
        parser.add_argument(
            "--workers",
            type=at_least_one,
            help="start this many workers for this run, and stop them after it (default: the workers that run, else 2)",
        )
        parser.add_argument("--part-users", type=at_least_one, help="test users of one part; changes no number")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write every number with its inputs' hashes")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path | None = options["json"]
        exported: Path | None = options["export_cases"]
        for written in filter(None, (file, exported)):
            if not written.parent.is_dir():
                raise CommandError(f"There is no folder {written.parent} to write {written.name} into; make it first.")
        if options["resume"] is None and not (options["name"] and options["algorithms"]):
            raise CommandError("Name a dataset and --algorithms, or a run that stopped with --resume RUN.")
        if options["resume"] is not None and (options["name"] or options["algorithms"] or options["cases"]):
            raise CommandError("A resumed run keeps its dataset, algorithms and cases: name none beside --resume.")
        before = signal.signal(signal.SIGTERM, interrupt)
        try:
            run = self._run(options)
        except ParallaxError as problem:
            raise CommandError(str(problem)) from problem
        except KeyboardInterrupt:
            raise CommandError("Stopped before the run was made.", returncode=130) from None
        finally:
            signal.signal(signal.SIGTERM, before)
        self._report(run)
        if exported is not None:
            self._export(run, exported)
        if file is not None:
            has_cases = exported is not None or run.split["name"] == "file"
            document = run_document(run, has_cases=has_cases)
            file.write_text(
                json.dumps(document, indent=None if has_cases else 2, ensure_ascii=False, allow_nan=False) + "\n"
            )
            self.stdout.write(f"Written to {file}.")

    def _run(self, options: dict[str, Any]) -> EvaluationRun:
        """Make the run, or take it up again, and stay with it until it is over."""
        with ExitStack() as stack:
            workers = workers_to_start(options["workers"])
            queue = new_queue() if workers else ""
            run = _new_run(options, queue) if options["resume"] is None else _resumed_run(options, queue)
            self.stdout.write(f"Run {run.pk} on {run.version}, inputs {run.inputs_hash[:12]}.")
            if warning := candidate_warning(run.version, run.protocol, run.split):
                self.stdout.write(f"Warning: {warning}")
            try:
                crew = None
                if workers and run.status in RUN_OPEN:
                    if options["workers"] is None:
                        say_started(workers, self.stdout)
                    crew = stack.enter_context(Crew(size=workers, queue=queue, threads=run.threads))
                watch(run, crew, self.stdout)
            except KeyboardInterrupt:
                self.stdout.write("")
                cancel(run)
                raise CommandError(
                    f"Run {run.pk} was cancelled. Resume it with "
                    f"`.venv/bin/python manage.py evaluate --resume {run.pk}`.",
                    returncode=130,
                ) from None
            except BaseException:
                cancel(run)
                raise
        if run.status != RunStatus.SUCCEEDED:
            raise ParallaxError(
                "run.not_succeeded", run.error or f"Run {run.pk} was {run.get_status_display().lower()}."
            )
        return run

    def _export(self, run: EvaluationRun, file: Path) -> None:
        try:
            export_cases(run=run, path=file)
        except ParallaxError as problem:
            raise CommandError(str(problem)) from problem
        self.stdout.write(f"{len(cases_of(run).cases):,} cases written to {file}.")

    def _report(self, run: EvaluationRun) -> None:
        """Print the table, what was counted and left out, and which models had been there before."""
        rows = model_rows(run)
        shorter = {length: model_rows(run, length) for length in run.profile_lengths}
        for line in table_lines(run, rows, shorter):
            self.stdout.write(line)
        if summary := failure_summary(run):
            self.stdout.write(f"{summary} The table is of the others.")
        for failed in failed_algorithms(run):
            self.stdout.write(f"{failed.label} failed: {failed.error}")
        if run.protocol["name"] == "one-plus-random":
            self.stdout.write(f"Recall, fallout, precision and F are {tables.POOLED}: a user with many weighs more.")
        choice = chosen_on_development(run)
        if choice is not None:
            self.stdout.write(
                f"On the {choice.n_development:,} users for development {choice.label} has the best {choice.metric} "
                f"({share(choice.value)}). All values above are those of the other {choice.n_evaluation:,} test users."
            )
        for row in rows:
            said = sorted({one.reason for one in row.cells.values() if one.reason and one.value is not None})
            if said:
                self.stdout.write(f"{row.label}: {', '.join(said)}.")
        for comment in run.comments:
            self.stdout.write(comment)
        for line in other_order_lines(run):
            self.stdout.write(line)
        others = "irrelevant" if run.protocol["name"] == "one-plus-random" else "other"
        self.stdout.write(f"{run.n_relevant:,} relevant and {run.n_irrelevant:,} {others} cases.")
        if found := candidate_range(run):
            self.stdout.write(f"Each hidden rating was ranked among {found.in_words} items its user had not rated.")
        for heading, facts in (("Left out", run.left_out), ("Counted", run.counted)):
            said_of = "; ".join(f"{count:,} {what}" for what, count in facts.items() if count)
            if said_of:
                self.stdout.write(f"{heading}: {said_of}.")
        reused = [row.label for row in rows if row.was_reused]
        if reused:
            self.stdout.write(f"Fitted before from the same recipe, and used again: {', '.join(reused)}.")


def _new_run(options: dict[str, Any], queue: str) -> EvaluationRun:
    """Make the run that the options describe."""
    optional = {"part_users": options["part_users"]} if options["part_users"] else {}
    version = newest_version(options["name"])
    split = named_settings(text=options["split"])
    if options["cases"]:
        split = {
            "name": "file",
            "cases": keep_cases(version=version, path=options["cases"], seed=options["seed"]),
        }
    elif split.get("list", OWN_LIST) != OWN_LIST:
        split["list"] = keep_probe(version=version, path=Path(str(split["list"])))
    if options["export_cases"] is not None:
        check_exportable(split=split)
    asked = {name: options[name] for name in ("mode", "negatives", "relevant", "irrelevant", "g", "ties")}
    protocol = {
        **named_settings(text=options["protocol"]),
        **{name: value for name, value in asked.items() if value is not None},
    }
    lengths = (5,) if options["profile_length"] is None else filter(None, options["profile_length"])
    return create_run(
        version=version,
        algorithms=options["algorithms"],
        split=split,
        protocol=protocol,
        task=options["task"],
        metrics=split_names(options["metrics"]),
        reserve=options["reserve"],
        seed=options["seed"],
        n=options["n"],
        profile_lengths=tuple(lengths),
        threads=options["threads"],
        queue=queue,
        **optional,
    )


def _resumed_run(options: dict[str, Any], queue: str) -> EvaluationRun:
    """Take up the run that the options name; one whose command was killed is open still, and nobody works on it."""
    run = run_numbered(options["resume"])
    if options["export_cases"] is not None:
        check_exportable(split=run.split)
    if run.status == RunStatus.SUCCEEDED:
        raise ParallaxError(
            "run.not_stopped",
            f"Run {run.pk} has succeeded. Export its results with "
            f"`.venv/bin/python manage.py export_run {run.pk} --out DIR`.",
        )
    if run.status in RUN_OPEN:
        if run.parts.filter(status=PartStatus.LEASED, leased_until__gte=timezone.now()).exists():
            raise ParallaxError(
                "run.under_way",
                f"Run {run.pk} is under way. If its workers were killed, their leases end in "
                f"{settings.LEASE_SECONDS} seconds; try again then.",
            )
        cancel_run(run=run, reason="taken up by another command")
    return resume_run(run=run, queue=queue)


def other_order_lines(run: EvaluationRun) -> list[str]:
    """Say where one plus random and full ranking order the algorithms differently, if both were run."""
    found = other_order(run)
    if found is None:
        return []
    there = f"run {found.other.pk} by {found.other.protocol['name']}"
    if not found.turned:
        return [f"By recall@{found.n}, {tables.pairs_said(found.n_pairs, 0)} in {there}."]
    lines = [f"By recall@{found.n}, {tables.pairs_said(found.n_pairs, len(found.turned))} in {there}:"]
    for one in found.turned:
        values = [" to ".join(map(share, pair)) for pair in (one.here, one.there)]
        lines.append(f"  {one.first} above {one.second} here ({values[0]}), below there ({values[1]})")
    return lines


def table_lines(run: EvaluationRun, rows: list[ModelRow], shorter: dict[int, list[ModelRow]]) -> list[str]:
    """Set the results as a table whose columns line up."""
    shown = columns(run.protocol, metric_names(run), run.metrics, n=run.n, is_given=run.split["name"] == "file")
    first = next(iter(shown))
    table = [["algorithm", *shown.values(), "fit s", "score s", *(f"{shown[first]}, {one} ratings" for one in shorter)]]
    for position, row in enumerate(rows):
        cells = [cell(row.cells[name].value, row.cells[name].reason) for name in shown]
        cells += [f"{row.fit_seconds:.2f}", f"{row.score_seconds:.2f}"]
        cells += [cell(at.value, at.reason) for at in (others[position].cells[first] for others in shorter.values())]
        table.append([row.label, *cells])
    table += [[failed.label, "failed", *[""] * (len(table[0]) - 2)] for failed in failed_algorithms(run)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            [label.ljust(widths[0]), *(one.rjust(width) for one, width in zip(cells, widths[1:], strict=True))]
        ).rstrip()
        for label, *cells in table
    ]
    return ["", *lines, ""]
