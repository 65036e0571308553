"""Measure algorithms on a dataset: create a run, monitor it, print its table."""

from __future__ import annotations

import json
import signal
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings as django_settings
from django.core.management.base import CommandError
from django.utils import timezone

from catalog.selectors.datasets import newest_version
from core.commands import ParallaxCommand
from core.errors import ParallaxError
from evaluation import tables
from evaluation.enums import RUN_OPEN, PartStatus, RunStatus
from evaluation.exports import run_document
from evaluation.management.arguments import add_inputs, at_least_one, check_folders, input_text
from evaluation.management.repeat_table import repeat_lines
from evaluation.management.run_monitor import MonitoredRuns, interrupt
from evaluation.models import EvaluationRun
from evaluation.protocols.registry import PROTOCOLS
from evaluation.run_spec import OWN_LIST, RunSpec, named_settings
from evaluation.selectors.algorithm_pairs import order_comparison
from evaluation.selectors.cases import candidate_range, candidate_warning
from evaluation.selectors.paired_tests import chosen_on_development
from evaluation.selectors.results import ModelRow, model_rows, table_rows
from evaluation.selectors.runs import failed_algorithms, failure_summary, metric_names, run_numbered
from evaluation.services.case_files import store_cases_file, store_probe_list
from evaluation.services.runs import PART_USERS, cancel_run, check_repeats, create_repeat, create_run, resume_run
from evaluation.tables import cell, columns, seconds, share


class Command(ParallaxCommand):
    help = "Measure algorithms on a dataset and print recall, fallout, precision and F at N."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", nargs="?", help="name of the dataset; its newest version is used")
        parser.add_argument("--algorithms", help="for example toppop,corngr,puresvd:factors=50")
        parser.add_argument("--resume", type=int, metavar="RUN", help="resume a stopped run with its inputs")
        add_inputs(
            parser,
            split="strangers",
            reserve=0.0,
            protocol="one-plus-random",
            task="some",
            metrics="",
            n=5,
            seed=1,
            threads=None,
        )
        for setting in PROTOCOLS["one-plus-random"].described():
            parser.add_argument(f"--{setting.name}", type=setting.type, help=f"Of the protocol: {setting.description}")
        parser.add_argument("--cases", type=Path, metavar="FILE", help="use the cases of this .npz file")
        parser.add_argument(
            "--profile-length",
            type=int,
            action="append",
            help=f"{input_text('profile_lengths')} 0: whole profiles alone.",
        )
        parser.add_argument(
            "--repeats",
            type=at_least_one,
            default=1,
            metavar="R",
            help="measure R times in all, with other splits and training seeds, and print pooled values; with --resume "
            "also of a run that has succeeded (default: %(default)s)",
        )
        parser.add_argument(
            "--workers",
            type=at_least_one,
            help="start this many workers for this run, and stop them afterwards (default: running workers, or 2)",
        )
        parser.add_argument("--part-users", type=at_least_one, help="test users per part; does not affect results")
        parser.add_argument(
            "--json", type=Path, metavar="FILE", help="write every number with the hashes of the inputs"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path | None = options["json"]
        check_folders(file)
        if options["resume"] is None and not (options["name"] and options["algorithms"]):
            raise CommandError("Give a dataset and --algorithms, or a stopped run with --resume RUN.")
        if options["resume"] is not None and (options["name"] or options["algorithms"] or options["cases"]):
            raise CommandError("A resumed run keeps its dataset, algorithms and cases; omit them with --resume.")
        before = signal.signal(signal.SIGTERM, interrupt)
        try:
            check_repeats(repeats=options["repeats"])
            create = _new_run if options["resume"] is None else _resumed_run
            run = self._finish(partial(create, options), options)
            for number in range(2, options["repeats"] + 1):
                self.stdout.write(f"Repetition {number} of {options['repeats']}.")
                self._finish(partial(create_repeat, run=run, number=number), options)
        except KeyboardInterrupt:
            raise CommandError("Stopped before the run was created.", returncode=130) from None
        finally:
            signal.signal(signal.SIGTERM, before)
        self._report(run)
        for line in repeat_lines(run) if options["repeats"] > 1 else ():
            self.stdout.write(line)
        if file is not None:
            has_cases = run.split["name"] == "file"
            document = run_document(run, has_cases=has_cases)
            file.write_text(
                json.dumps(document, indent=None if has_cases else 2, ensure_ascii=False, allow_nan=False) + "\n"
            )
            self.stdout.write(f"Written to {file}.")

    def _finish(self, create: Callable[..., EvaluationRun], options: dict[str, Any]) -> EvaluationRun:
        """Monitor a run until it is over; `create` takes the queue of its workers."""
        with MonitoredRuns(options["workers"], self.stdout, threads=options["threads"]) as runs:
            runs.start_workers()  # takes as long as checking and creating the run
            run = create(queue=runs.queue)
            if run.status == RunStatus.SUCCEEDED:
                self.stdout.write(f"Run {run.pk} has already succeeded.")
                return run
            self.stdout.write(f"Run {run.pk} on {run.version}, inputs {run.inputs_hash[:12]}.")
            if warning := candidate_warning(run.version, run.protocol, run.split):
                self.stdout.write(f"Warning: {warning}")
            try:
                runs.finish(run)
            except KeyboardInterrupt:
                self.stdout.write("")
                raise CommandError(
                    f"Run {run.pk} was cancelled. Resume it with "
                    f"`.venv/bin/python manage.py evaluate --resume {run.pk}`.",
                    returncode=130,
                ) from None
        if run.status != RunStatus.SUCCEEDED:
            raise ParallaxError(
                "run.not_succeeded", run.error or f"Run {run.pk} was {run.get_status_display().lower()}."
            )
        return run

    def _report(self, run: EvaluationRun) -> None:
        rows = table_rows(run)
        shorter = {length: model_rows(run, length) for length in run.profile_lengths}
        for line in table_lines(run, rows, shorter):
            self.stdout.write(line)
        if summary := failure_summary(run):
            self.stdout.write(f"{summary} The table shows the others.")
        for failed in failed_algorithms(run):
            self.stdout.write(f"{failed.label} failed: {failed.error}")
        if run.protocol["name"] == "one-plus-random":
            self.stdout.write(
                f"Recall, fallout, precision and F are {tables.POOLED}: users with many cases weigh more."
            )
        choice = chosen_on_development(run)
        if choice is not None:
            self.stdout.write(
                f"On the {choice.n_development:,} development users, {choice.label} has the best {choice.metric} "
                f"({share(choice.value)}). All values above are for the other {choice.n_evaluation:,} test users."
            )
        for row in rows:
            caveats = sorted({cell.reason for cell in row.cells.values() if cell.reason and cell.value is not None})
            if caveats or row.remark:
                self.stdout.write(f"{row.label}: {', '.join(filter(None, [row.remark, *caveats]))}.")
        for comment in run.comments:
            self.stdout.write(comment)
        for line in order_comparison_lines(run):
            self.stdout.write(line)
        other_cases = "irrelevant" if run.protocol["name"] == "one-plus-random" else "other"
        self.stdout.write(f"{run.n_relevant:,} relevant and {run.n_irrelevant:,} {other_cases} cases.")
        if candidates := candidate_range(run):
            self.stdout.write(
                f"Each hidden rating was ranked among {candidates.in_words} items its user had not rated."
            )
        for heading, facts in (("Excluded", run.left_out), ("Counted", run.counted)):
            counts = "; ".join(f"{count:,} {what}" for what, count in facts.items() if count)
            if counts:
                self.stdout.write(f"{heading}: {counts}.")
        reused = [row.label for row in rows if row.was_reused]
        if reused:
            self.stdout.write(f"Reused models of the same recipe: {', '.join(reused)}.")


def _new_run(options: dict[str, Any], queue: str) -> EvaluationRun:
    version = newest_version(options["name"])
    split = named_settings(options["split"])
    if options["cases"]:
        split = {
            "name": "file",
            "cases": store_cases_file(version=version, path=options["cases"], seed=options["seed"]),
        }
    elif split.get("list", OWN_LIST) != OWN_LIST:
        split["list"] = store_probe_list(version=version, path=Path(str(split["list"])))
    settings = {info.name: options[info.name] for info in PROTOCOLS["one-plus-random"].described()}
    spec = RunSpec.of(
        split=split,
        protocol={
            **named_settings(options["protocol"]),
            **{name: value for name, value in settings.items() if value is not None},
        },
        profile_lengths=(5,) if options["profile_length"] is None else tuple(filter(None, options["profile_length"])),
        **{name: options[name] for name in ("algorithms", "task", "metrics", "reserve", "seed", "n", "threads")},
    )
    return create_run(version=version, spec=spec, queue=queue, part_users=options["part_users"] or PART_USERS)


def _resumed_run(options: dict[str, Any], queue: str) -> EvaluationRun:
    # The run of a killed command is still open, but without workers.
    run = run_numbered(options["resume"])
    if run.status == RunStatus.SUCCEEDED:
        if options["repeats"] > 1:
            return run
        raise ParallaxError(
            "run.not_stopped",
            f"Run {run.pk} has already succeeded. Export its results with "
            f"`.venv/bin/python manage.py export_run {run.pk} --out DIR`.",
        )
    if run.status in RUN_OPEN:
        if run.parts.filter(status=PartStatus.LEASED, leased_until__gte=timezone.now()).exists():
            raise ParallaxError(
                "run.under_way",
                f"Run {run.pk} is in progress. If its workers were killed, their leases expire within "
                f"{django_settings.LEASE_SECONDS} seconds; try again then.",
            )
        cancel_run(run=run, reason="resumed by another command")
    return resume_run(run=run, queue=queue)


def order_comparison_lines(run: EvaluationRun) -> list[str]:
    """Describe rank reversals between one plus random and full ranking, if both were run."""
    comparison = order_comparison(run)
    if comparison is None:
        return []
    counterpart = f"run {comparison.run.pk} by {comparison.run.protocol['name']}"
    summary = tables.order_summary(comparison.n_pairs, len(comparison.reversals))
    lines = [f"By recall@{comparison.n}, {summary} in {counterpart}{':' if comparison.reversals else '.'}"]
    for reversal in comparison.reversals:
        values = [" to ".join(map(share, pair)) for pair in (reversal.here, reversal.there)]
        lines.append(f"  {reversal.first} above {reversal.second} here ({values[0]}), below there ({values[1]})")
    return lines


def table_lines(run: EvaluationRun, rows: list[ModelRow], shorter: dict[int, list[ModelRow]]) -> list[str]:
    """Format the results as an aligned table."""
    shown = columns(run.protocol, metric_names(run), run.metrics, n=run.n, is_given=run.split["name"] == "file")
    first = next(iter(shown))
    table = [
        ["algorithm", *shown.values(), "fit s", "score s", *(f"{shown[first]}, {length} ratings" for length in shorter)]
    ]
    for position, row in enumerate(rows):
        cells = [cell(row.cells[name].value, row.cells[name].reason) for name in shown]
        cells += [seconds(row.fit_seconds), seconds(row.score_seconds)]
        entries = [of_length[position].cells[first] if not row.coverage else None for of_length in shorter.values()]
        cells += ["" if entry is None else cell(entry.value, entry.reason) for entry in entries]
        table.append([row.label, *cells])
    table += [[failed.label, "failed", *[""] * (len(table[0]) - 2)] for failed in failed_algorithms(run)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            [label.ljust(widths[0]), *(text.rjust(width) for text, width in zip(cells, widths[1:], strict=True))]
        ).rstrip()
        for label, *cells in table
    ]
    return ["", *lines, ""]
