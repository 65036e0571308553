"""All files that a report offers, including the study package: for the console, the command and the API."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from analysis.files import formats
from analysis.files.archive import Progress, package_of, silent
from analysis.files.document import Document
from analysis.files.formats import File, Group, Listing, Outputs, Store
from analysis.models import Report

Arrange = Callable[[], Document]
PACKAGE = "study-package.zip"
GROUPS = {
    "report": "the report as page, PDF, numbers, sentences and Quarto source",
    "figures": "figures",
    "tables": "tables",
    "package": "the study package",
}


def files_of(report: Report, arrange: Arrange | None = None, store: Store | None = None) -> dict[str, File]:
    """Every file of a report by its name (such as ``report.pdf``, ``figures/slope.svg``), created on request.

    `arrange` returns a cached document of the report, `store` what was drawn already.
    """
    package = [] if report.is_pilot else [_package(report, arrange, silent, store)]
    return {file.name: file for file in (*package, *Outputs(report, arrange, store).files())}


def file_of(
    report: Report,
    name: str,
    arrange: Arrange | None = None,
    progress: Progress = silent,
    store: Store | None = None,
) -> File | None:
    """One file of a report, or None if it has none of this name; a pilot has no study package."""
    if name == PACKAGE:
        return None if report.is_pilot else _package(report, arrange, progress, store)
    return formats.file_of(report, name, arrange, store)


@dataclass(frozen=True)
class Offer:
    """One thing that a report offers, in one format or several."""

    title: str
    files: tuple[Listing, ...]


def offers_of(files: Iterable[Listing]) -> dict[Group, list[Offer]]:
    """The offers by group: a figure or a table is one offer in all its formats."""
    offers: dict[Group, list[Offer]] = {}
    for (group, stem), formats_of in groupby(files, key=lambda file: (file.group, file.name.rsplit(".", 1)[0])):
        forms = tuple(formats_of)
        whole = [Offer(form.title, (form,)) for form in forms]
        offers.setdefault(group, []).extend([Offer(forms[0].title, forms)] if "/" in stem else whole)
    return offers


def _package(report: Report, arrange: Arrange | None, progress: Progress, store: Store | None) -> File:
    title = "The study package: data, design, results, report, and scripts that recompute it"

    def make() -> bytes:
        progress("Arranging the report")
        files = Outputs(report, arrange, store).files()
        makers = {file.name: partial(_make, file, number, len(files), progress) for number, file in enumerate(files)}
        return package_of(report, makers, progress)

    return File(PACKAGE, title, "package", make)


def _make(file: File, number: int, n_files: int, progress: Progress) -> bytes:
    progress(f"Creating file {number + 1} of {n_files}: {file.name}")
    return file.make()


def write_report(*, report: Report, folder: Path, progress: Progress) -> list[Path]:
    """Write every file of a report to a folder, the study package last (a pilot has none); returns their paths."""
    written: list[Path] = []
    progress("Arranging the report")
    files = Outputs(report).files()
    for group, words in GROUPS.items():
        progress(f"Writing {words}")
        for file in files:
            if file.group == group:
                written.append(_put(folder / file.name, file.make()))
    if not report.is_pilot:
        package = package_of(report, {file.name: (folder / file.name).read_bytes for file in files})
        written.append(_put(folder / PACKAGE, package))
    progress(f"Wrote {len(written)} files")
    return written


def _put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
