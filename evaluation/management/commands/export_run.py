"""Export a run to files: every number as JSON, metrics and values by user as CSV, figures as SVG."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core.commands import ParallaxCommand
from evaluation import exports
from evaluation.enums import RunStatus
from evaluation.selectors.results import is_pooled
from evaluation.selectors.runs import run_numbered
from evaluation.selectors.user_groups import grouped_metrics
from evaluation.services.coverage import keyed_profiles
from evaluation.services.external_scores import export_for_systems


class Command(ParallaxCommand):
    help = "Export a succeeded run to a folder: run.json, metrics.csv, users.csv and its figures."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN", type=int, help="number of a run")
        parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="the folder; created if missing")
        parser.add_argument(
            "--profiles", action="store_true", help="also profiles.csv: test profiles with their keys, for lists"
        )
        parser.add_argument(
            "--cases",
            action="store_true",
            help="for other systems: the cases and training ratings too, as .npz, .inter and .qrels; "
            "run.json then has the ranks of each case",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        run = run_numbered(options["run"])
        if run.status != RunStatus.SUCCEEDED:
            raise CommandError(f"Run {run.pk} is {run.get_status_display().lower()}; only succeeded runs have results.")
        folder: Path = options["out"]
        has_cases = options["cases"] and is_pooled(run)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            document = json.dumps(
                exports.run_document(run, has_cases=has_cases), indent=2, ensure_ascii=False, allow_nan=False
            )
            (folder / "run.json").write_text(f"{document}\n")
            written = ["run.json"]
            tables = {"metrics.csv": exports.metric_rows(run), "users.csv": exports.user_rows(run)}
            if grouped_metrics(run):
                tables["groups.csv"] = exports.group_rows(run)
            if options["profiles"]:
                tables["profiles.csv"] = keyed_profiles(run)
            for name, rows in tables.items():
                with (folder / name).open("w", newline="") as file:
                    file.writelines(exports.csv_lines(rows))
                written.append(name)
            for name in exports.FIGURES.get(run.protocol["name"], ()):
                drawing = exports.figure(run, name)
                if drawing is not None:
                    (folder / f"{name}.svg").write_text(drawing)
                    written.append(f"{name}.svg")
            written += export_for_systems(run=run, folder=folder) if options["cases"] else []
            self.stdout.write(f"Run {run.pk} written to {folder}: {', '.join(written)}.")
        except OSError as problem:
            raise CommandError(f"Cannot write to {folder}: {problem.strerror or problem}.") from problem
