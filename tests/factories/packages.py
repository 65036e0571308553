"""The part of a study package that its scripts read, without the files that take long to draw."""

from __future__ import annotations

from pathlib import Path

from analysis.files.contents import (
    write_people,
    write_plan,
    write_run,
    write_scripts,
)
from analysis.files.numbers import numbers_csv
from analysis.models import Report


def write_numbers(report: Report, folder: Path) -> None:
    """Write data, scripts and the report's numbers."""
    write_people(report, folder)
    write_plan(report, folder)
    write_run(report, folder)
    write_scripts(report, folder)
    (folder / "report").mkdir()
    (folder / "report" / "numbers.csv").write_text(numbers_csv(report.read_results()), encoding="utf-8")
