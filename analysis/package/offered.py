"""All files that a report offers, the study package among them: what console, command and API read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from analysis.exports import formats
from analysis.exports.document import Document
from analysis.exports.formats import File, Group, Outputs
from analysis.models import Report
from analysis.package.archive import package_of

Progress = Callable[[str], None]
PACKAGE = "study-package.zip"
GROUPS = {
    "report": "the report as page, PDF, numbers, sentences and Quarto source",
    "figures": "figures",
    "tables": "tables",
    "package": "the study package",
}


def files_of(report: Report, document: Document | None = None) -> dict[str, File]:
    """Every file of a report by its name (such as ``report.pdf``, ``figures/slope.svg``); made when asked for.

    A `document` of the report that is there already need not be arranged again.
    """
    return {PACKAGE: _package(report), **formats.files_of(report, document)}


def file_of(report: Report, name: str) -> File | None:
    """One file of a report, or None if it has none of this name."""
    return _package(report) if name == PACKAGE else formats.file_of(report, name)


@dataclass(frozen=True)
class Offer:
    """One thing that a report gives away, in one form or several."""

    title: str
    files: tuple[File, ...]


def offers_of(files: Iterable[File]) -> dict[Group, list[Offer]]:
    """What is offered, by group: a figure or a table stands once with all its forms."""
    offers: dict[Group, list[Offer]] = {}
    for (group, stem), found in groupby(files, key=lambda file: (file.group, file.name.rsplit(".", 1)[0])):
        forms = tuple(found)
        whole = [Offer(form.title, (form,)) for form in forms]
        offers.setdefault(group, []).extend([Offer(forms[0].title, forms)] if "/" in stem else whole)
    return offers


def _package(report: Report) -> File:
    title = "The study package: data, design, results, report, and scripts that recompute it"

    def make() -> bytes:
        files = Outputs(report, is_for_all=True).files()
        return package_of(report, {file.name: file.make for file in files})

    return File(PACKAGE, title, "package", make)


def write_report(*, report: Report, folder: Path, progress: Progress) -> list[Path]:
    """Write every file of a report to a folder, the study package last; give their paths."""
    made: dict[str, bytes] = {}
    written: list[Path] = []
    progress("Arranging the report")
    files = Outputs(report, is_for_all=True).files()
    for group, words in GROUPS.items():
        progress(f"Writing {words}")
        for file in files:
            if file.group == group:
                made[file.name] = file.make()
                written.append(_put(folder / file.name, made[file.name]))
    package = package_of(report, {name: lambda content=content: content for name, content in made.items()})  # type: ignore[misc]
    written.append(_put(folder / PACKAGE, package))
    progress(f"Wrote {len(written)} files")
    return written


def _put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
