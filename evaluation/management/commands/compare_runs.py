"""Compare two runs: what differs in their settings, and which algorithms' results differ significantly."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import ParallaxError
from evaluation.exports import comparison_document
from evaluation.selectors.comparing import Difference, compared
from evaluation.selectors.paired import CORRECTIONS
from evaluation.selectors.runs import run_numbered
from evaluation.tables import difference_lines, in_words, means_said


class Command(BaseCommand):
    help = "Compare two runs, algorithm by algorithm, over the users that both measured."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run_a", metavar="RUN_A", type=int, help="number of a run")
        parser.add_argument("run_b", metavar="RUN_B", type=int, help="number of another")
        parser.add_argument("--correction", default="holm", choices=CORRECTIONS, help="default: %(default)s")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the comparison")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path | None = options["json"]
        if file is not None and not file.parent.is_dir():
            raise CommandError(f"There is no folder {file.parent} to write {file.name} into; make it first.")
        try:
            runs = [run_numbered(options[name]) for name in ("run_a", "run_b")]
            found = compared(*runs, correction=options["correction"])
        except ParallaxError as problem:
            raise CommandError(str(problem)) from problem
        for name, (a, b) in found.settings.items():
            self.stdout.write(f"{name}: {in_words(a)} in run {runs[0].pk}; {in_words(b)} in run {runs[1].pk}")
        if not found.has_same_cases:
            self.stdout.write("The two were measured on different test cases.")
        for said, names in (
            (f"Only in run {runs[0].pk}", found.only_a),
            (f"Only in run {runs[1].pk}", found.only_b),
            ("Not compared, as only one run has them", found.not_compared),
        ):
            if names:
                self.stdout.write(f"{said}: {', '.join(names)}.")
        self.stdout.write("")
        for line in lines(found.differences):
            self.stdout.write(line)
        self.stdout.write(
            f"\n{means_said([one.protocol for one in runs])} A is run {runs[0].pk}, B run {runs[1].pk}. "
            f"Two-sided sign tests by user, adjusted after {CORRECTIONS[found.correction]} as one family."
        )
        if file is not None:
            text = json.dumps(comparison_document(found), indent=2, ensure_ascii=False, allow_nan=False)
            file.write_text(f"{text}\n")
            self.stdout.write(f"Written to {file}.")


def lines(differences: tuple[Difference, ...]) -> list[str]:
    """Set the comparison as a table whose columns line up."""
    heads = ["algorithm", "metric", "A", "B", "A - B", "95 % interval", "users", "p (adjusted)", ""]
    table = [heads, *(list(line.values()) for line in difference_lines(differences))]
    widths = [max(len(row[column]) for row in table) for column in range(len(heads))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
