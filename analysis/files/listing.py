"""Every file that a report offers: its name, its title, and the function that creates it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Literal

from analysis.files.archive import package_of
from analysis.files.document import DATASET_BADGE, Document, document_of, mark_of
from analysis.files.formats import html_of, report_json, report_pdf, report_quarto
from analysis.models import Report
from analysis.present.apa import Part, apa_sentences, as_text
from analysis.read import Progress, no_progress
from analysis.results.report import SCHEMA_NAME
from charting import render
from documents.blocks import Figure
from documents.delimited import table_csv, with_column
from documents.latex import table_latex
from documents.markdown import sentences_markdown, table_markdown
from documents.pdf import figure_pdf
from documents.tables import Table

Group = Literal["report", "figures", "tables", "package"]
CONTENT_TYPES = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
    "qmd": "text/markdown; charset=utf-8",
    "zip": "application/zip",
}
FORMS = {"md": "Markdown", "tex": "LaTeX", "txt": "Text", "qmd": "Quarto"}
PPI = 240  # 1,867 pixels: 300 dots an inch over the 6.2 inches of a page of print
Store = Callable[[str, Callable[[], bytes]], bytes]
Arrange = Callable[[], Document]
PACKAGE = "study-package.zip"
GROUPS = {
    "report": "the report as page, PDF, numbers, sentences and Quarto source",
    "figures": "figures",
    "tables": "tables",
    "package": "the study package",
}


@dataclass(frozen=True)
class Listing:
    """A file that a report offers: its path, unique in the report, its title, and its group."""

    name: str
    title: str
    group: Group

    @property
    def suffix(self) -> str:
        """The suffix of its name."""
        return self.name.rsplit(".", 1)[1]

    @property
    def form(self) -> str:
        """The format in words."""
        return FORMS.get(self.suffix, self.suffix.upper())

    @property
    def is_drawn(self) -> bool:
        """Whether it takes so long that a worker draws it ahead of its download."""
        return self.group == "figures" or self.suffix in ("html", "pdf")

    @property
    def content_type(self) -> str:
        """The content type for browsers."""
        return CONTENT_TYPES[self.suffix]


@dataclass(frozen=True)
class File(Listing):
    """One file of a report, and the function that creates its bytes."""

    make: Callable[[], bytes]


def in_memory() -> Store:
    """What is drawn, by the name of its file."""
    pictures: dict[str, bytes] = {}

    def store(name: str, draw: Callable[[], bytes]) -> bytes:
        if name not in pictures:
            pictures[name] = draw()
        return pictures[name]

    return store


class Outputs:
    """The files of one report. Each chart is drawn once for all of them."""

    def __init__(self, report: Report, arrange: Arrange | None = None, store: Store | None = None) -> None:
        """`arrange` returns a cached document; without it the results are arranged again. `store` returns what was
        drawn for a file of that name, or draws it.
        """
        self.report = report
        self._results = report.read_results()
        self._mark = mark_of(report)
        self._store = store or in_memory()
        self._arrange = arrange or partial(document_of, report)

    @functools.cached_property
    def document(self) -> Document:
        """The report as a document, its charts not drawn yet."""
        return self._arrange()

    def files(self) -> list[File]:
        """Every file, in the order in which they are offered."""
        return [*self.whole(), *self.of_figures(), *self.of_tables()]

    @property
    def badges(self) -> list[str]:
        """The notices of simulated participants and synthetic ratings, for every file."""
        synthetic = f"{DATASET_BADGE}." if self.report.read_provenance().is_dataset_synthetic else ""
        return [notice for notice in (self.document.notice, synthetic) if notice]

    def whole(self) -> Iterator[File]:
        """The report as a whole, in every format; the document is arranged only when one is created."""
        for name, words, body in (
            ("report.html", "The report as one self-contained page", "_body"),
            ("supplement.html", "Everything else that was computed, as one page", "_supplement"),
        ):
            yield self._file(name, words, "report", partial(self._html, body))
        yield self._file("report.pdf", "The report as PDF, A4", "report", lambda: report_pdf(self.document, self._pdf))
        yield _text(
            "report.json", "Every number, following a published schema", "report", lambda: report_json(self.report)
        )
        yield File(SCHEMA_NAME, "The schema of the numbers", "report", _schema)
        for name, words, write in (
            ("apa.md", "Sentences for a paper, in APA style", sentences_markdown),
            ("apa.txt", "The sentences as plain text", as_text),
        ):
            yield _text(name, words, "report", partial(self._sentences, write))
        yield _text(
            "report.qmd", "The report as Quarto source", "report", lambda: report_quarto(self.document, self.badges)
        )

    def _sentences(self, write: Callable[[list[Part], str, list[str]], str]) -> str:
        kind = "pilot report" if self.report.is_pilot else "report"
        mark = f"{self._mark}: " if self._mark else ""
        parts = [(heading, [mark + text for text in own]) for heading, own in apa_sentences(self._results)]
        return write(parts, f"{self.report.study.title}: {kind} {self.report.number}", self.badges)

    def _html(self, body: str) -> bytes:
        return html_of(self.document, self._svg, body).encode()

    def _file(self, name: str, title: str, group: Group, draw: Callable[[], bytes]) -> File:
        return File(name, title, group, partial(self._store, name, draw))

    def _svg(self, figure: Figure) -> bytes:
        return self._store(f"figures/{figure.key}.svg", lambda: render.svg(figure.spec).encode())

    def _png(self, figure: Figure) -> bytes:
        return render.svg_as_png(self._svg(figure).decode(), ppi=PPI)

    def _pdf(self, figure: Figure) -> bytes:
        def draw() -> bytes:
            drawing = render.svg_as_pdf(self._svg(figure).decode())
            return figure_pdf(drawing, figure.spec["usermeta"]["title"], self.report.created_at)

        return self._store(f"figures/{figure.key}.pdf", draw)

    def of_figures(self) -> Iterator[File]:
        """Every figure as SVG, PNG and PDF."""
        for figure in self.document.figures():
            stem, title = f"figures/{figure.key}", figure.spec["usermeta"]["title"]
            yield File(f"{stem}.svg", title, "figures", partial(self._svg, figure))
            yield self._file(f"{stem}.png", title, "figures", partial(self._png, figure))
            yield File(f"{stem}.pdf", title, "figures", partial(self._pdf, figure))

    def _table_csv(self, table: Table) -> str:
        return with_column(table_csv(table), "report", self._mark) if self._mark else table_csv(table)

    def of_tables(self) -> Iterator[File]:
        """Every table as CSV, Markdown and LaTeX."""
        for number, table in enumerate(self.document.tables(), start=1):
            stem = f"tables/{table.key}"
            facts: tuple[Table, int, str] = (table, number, f"{self._mark}." if self._mark else "")
            yield _text(f"{stem}.csv", table.title, "tables", partial(self._table_csv, table))
            yield _text(f"{stem}.md", table.title, "tables", partial(table_markdown, *facts))
            yield _text(f"{stem}.tex", table.title, "tables", partial(table_latex, *facts))


def _schema() -> bytes:
    from analysis.results.schema import report_schema

    return report_schema()


def _text(name: str, title: str, group: Group, make: Callable[[], str]) -> File:
    return File(name, title, group, lambda: make().encode())


def files_of(report: Report, arrange: Arrange | None = None, store: Store | None = None) -> dict[str, File]:
    """Every file of a report by its name (such as ``report.pdf``, ``figures/slope.svg``), created on request.

    `arrange` returns a cached document of the report, `store` what was drawn already.
    """
    package = [] if report.is_pilot else [_package(report, arrange, no_progress, store)]
    return {file.name: file for file in (*package, *Outputs(report, arrange, store).files())}


def file_of(
    report: Report,
    name: str,
    arrange: Arrange | None = None,
    progress: Progress = no_progress,
    store: Store | None = None,
) -> File | None:
    """One file of a report, or None if it has none of this name; a pilot has no study package.

    The document is arranged only for figures and tables.
    """
    if name == PACKAGE:
        return None if report.is_pilot else _package(report, arrange, progress, store)
    outputs = Outputs(report, arrange, store)
    groups = {"figures": outputs.of_figures, "tables": outputs.of_tables}
    files = groups.get(name.split("/", 1)[0], outputs.whole)()
    return next((file for file in files if file.name == name), None)


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
    progress("Arranging the report")
    files, written = Outputs(report).files(), []
    for group, words in GROUPS.items():
        progress(f"Writing {words}")
        written += [_put(folder / file.name, file.make()) for file in files if file.group == group]
    if not report.is_pilot:
        package = package_of(report, {file.name: (folder / file.name).read_bytes for file in files})
        written.append(_put(folder / PACKAGE, package))
    progress(f"Wrote {len(written)} files")
    return written


def _put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
