"""Study packages, whole or without the files that take long to draw, and the scripts in them."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

from analysis.files.contents import (
    write_people,
    write_plan,
    write_run,
    write_scripts,
)
from analysis.files.listing import PACKAGE, file_of
from analysis.files.numbers import numbers_csv
from analysis.models import Report
from analysis.services.report_cache import cached_document


def write_numbers(report: Report, folder: Path) -> None:
    """Write what the scripts read: data, and the report's numbers."""
    write_people(report, folder)
    write_plan(report, folder)
    write_run(report, folder)
    write_scripts(report, folder)
    (folder / "report").mkdir()
    (folder / "report" / "numbers.csv").write_text(numbers_csv(report.read_results()), encoding="utf-8")


def unpack(report: Report, folder: Path) -> None:
    """Write the whole package."""
    file = file_of(report, PACKAGE, lambda: cached_document(report))
    assert file is not None
    with zipfile.ZipFile(io.BytesIO(file.make())) as archive:
        archive.extractall(folder)


def recomputed(folder: Path, rscript: str) -> list[list[str]]:
    """The lines of the scripts, each of which recomputes every number of the report."""
    for command in ([sys.executable, "scripts/recompute.py"], [rscript, "--vanilla", "scripts/recompute.R"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        lines = [line.split("\t") for line in done.stdout.splitlines()[1:-1]]
        assert (done.returncode, [line for line in lines if line[-1] != "yes"]) == (0, []), done.stderr
    return lines
