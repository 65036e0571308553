"""Measure the scores of another system on the cases of a run."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from core.commands import ParallaxCommand
from evaluation.management.commands.evaluate import table_lines
from evaluation.protocols.external_scores import FORMATS
from evaluation.selectors.results import model_rows, table_rows
from evaluation.selectors.runs import run_numbered
from evaluation.services.external_scores import measure_external_scores


class Command(ParallaxCommand):
    help = (
        "Measure the scores of another system on the cases of a run, and add them to its tables. Formats: "
        f"{'; '.join(f'{title} ({line})' for title, (line, _, _) in FORMATS.items())}."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN", type=int, help="number of a succeeded run whose split trains once")
        parser.add_argument("file", metavar="FILE", type=Path, help="scores by the dataset's own ids")
        parser.add_argument("--name", required=True, help="name in tables; scores of the same name are replaced")
        parser.add_argument("--ratings", action="store_true", help="the scores are predicted ratings")

    def handle(self, *args: Any, **options: Any) -> None:
        run = run_numbered(options["run"])
        name: str = options["name"]
        measure_external_scores(run=run, path=options["file"], name=name, are_ratings=options["ratings"])
        rows = table_rows(run)
        shorter = {length: model_rows(run, length) for length in run.profile_lengths}
        for line in table_lines(run, rows, shorter):
            self.stdout.write(line)
        self.stdout.write(f"{name}: {next(row.remark for row in rows if row.label == name)}.")
