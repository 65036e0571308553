"""Compare two runs: differing settings, and significant differences between algorithms."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from core.commands import ParallaxCommand
from evaluation.exports import comparison_document
from evaluation.management.arguments import check_folders
from evaluation.selectors.paired_tests import CORRECTIONS
from evaluation.selectors.run_comparison import Difference, compare_runs
from evaluation.selectors.runs import run_numbered
from evaluation.tables import difference_lines, in_words, means_note


class Command(ParallaxCommand):
    help = "Compare two runs by algorithm, over the users of both."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run_a", metavar="RUN_A", type=int, help="number of a run")
        parser.add_argument("run_b", metavar="RUN_B", type=int, help="number of another run")
        parser.add_argument("--correction", default="holm", choices=CORRECTIONS, help="default: %(default)s")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the comparison")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path | None = options["json"]
        check_folders(file)
        runs = [run_numbered(options[name]) for name in ("run_a", "run_b")]
        comparison = compare_runs(*runs, correction=options["correction"])
        for name, (a, b) in comparison.settings.items():
            self.stdout.write(f"{name}: {in_words(a)} in run {runs[0].pk}; {in_words(b)} in run {runs[1].pk}")
        if not comparison.has_same_cases:
            self.stdout.write("The runs were measured on different test cases.")
        for heading, names in (
            (f"Only in run {runs[0].pk}", comparison.only_a),
            (f"Only in run {runs[1].pk}", comparison.only_b),
            ("Metrics of only one run, not compared", comparison.not_compared),
        ):
            if names:
                self.stdout.write(f"{heading}: {', '.join(names)}.")
        self.stdout.write("")
        for line in lines(comparison.differences):
            self.stdout.write(line)
        self.stdout.write(
            f"\n{means_note([run.protocol for run in runs])} A is run {runs[0].pk}, B run {runs[1].pk}. "
            f"Two-sided sign tests by user, adjusted as one family ({CORRECTIONS[comparison.correction]})."
        )
        if file is not None:
            text = json.dumps(comparison_document(comparison), indent=2, ensure_ascii=False, allow_nan=False)
            file.write_text(f"{text}\n")
            self.stdout.write(f"Written to {file}.")


def lines(differences: tuple[Difference, ...]) -> list[str]:
    """Format the comparison as an aligned table."""
    heads = ["algorithm", "metric", "A", "B", "A - B", "95% CI", "users", "p (adjusted)", ""]
    table = [heads, *(list(line.values()) for line in difference_lines(differences))]
    widths = [max(len(row[column]) for row in table) for column in range(len(heads))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
