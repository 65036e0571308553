"""Every file that a report is given as: its name, what it is, and how it is made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from django.conf import settings

from analysis.exports.blocks import Figure
from analysis.exports.document import DATASET_BADGE, PILOT_BADGE, Document, document_of
from analysis.exports.files import html_of, report_json, table_csv, with_column
from analysis.exports.latex import table_latex
from analysis.exports.markdown import sentences_markdown, table_markdown
from analysis.exports.paper import figure_pdf, report_pdf
from analysis.exports.quarto import report_quarto
from analysis.models import Report
from analysis.narrative.apa_sentences import apa_sentences, as_text
from analysis.tables.cells import Table
from charting import render

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
SCHEMA = "report.schema.json"
PPI = 300


@dataclass(frozen=True)
class Listing:
    """A file that a report offers: a name with slashes, unique in the report, what it is, and where it stands."""

    name: str
    title: str
    group: Group

    @property
    def suffix(self) -> str:
        """What kind of file it is."""
        return self.name.rsplit(".", 1)[1]

    @property
    def form(self) -> str:
        """The kind in words."""
        return FORMS.get(self.suffix, self.suffix.upper())

    @property
    def content_type(self) -> str:
        """What a browser is told."""
        return CONTENT_TYPES[self.suffix]


@dataclass(frozen=True)
class File(Listing):
    """One file of a report, and a function that makes its bytes."""

    make: Callable[[], bytes]


class Drawings:
    """The charts of a report as files of one size, each drawn once whatever it becomes."""

    def __init__(self) -> None:
        self._drawn: dict[str, str] = {}

    def svg(self, figure: Figure) -> str:
        """A chart as SVG."""
        if figure.key not in self._drawn:
            self._drawn[figure.key] = render.svg(figure.spec)
        return self._drawn[figure.key]

    def png(self, figure: Figure) -> bytes:
        """A chart as PNG, 300 dots an inch."""
        return render.svg_as_png(self.svg(figure), ppi=PPI)

    def pdf(self, figure: Figure) -> bytes:
        """A chart as PDF."""
        return render.svg_as_pdf(self.svg(figure))


class Outputs:
    """The files of one report; what several of them need is made once."""

    def __init__(self, report: Report, arrange: Callable[[], Document] | None = None) -> None:
        """`arrange` gives the report as a document, where one is kept; without it the results are arranged anew."""
        self.report = report
        self.drawings = Drawings()
        self._arrange = arrange or functools.partial(document_of, report)

    @functools.cached_property
    def document(self) -> Document:
        """The report as a document, its charts not drawn yet."""
        return self._arrange()

    def files(self) -> list[File]:
        """Every file, in the order in which they are offered."""
        return [*self.whole(), *self.of_figures(), *self.of_tables()]

    @property
    def badges(self) -> list[str]:
        """What every file says of people who are simulated and of ratings that are made up."""
        synthetic = f"{DATASET_BADGE}." if self.report.provenance["is_dataset_synthetic"] else ""
        return [one for one in (self.document.notice, synthetic) if one]

    @property
    def remark(self) -> str:
        """The same in a few words, for the note below a table."""
        synthetic = DATASET_BADGE if self.report.provenance["is_dataset_synthetic"] else ""
        return " ".join(f"{one}." for one in (self.document.badge, synthetic) if one)

    def whole(self) -> Iterator[File]:
        """The report as a whole, in every form: to name them the document need not be arranged."""
        kind = "pilot report" if self.report.is_pilot else "report"
        title = f"{self.report.study.title}: {kind} {self.report.number}"
        yield _text("report.html", "The report as one page that needs nothing else", "report", self._html)
        yield File(
            "report.pdf", "The report on paper, A4", "report", lambda: report_pdf(self.document, self.drawings.pdf)
        )
        yield _text("report.json", "Every number, by a published schema", "report", lambda: report_json(self.report))
        yield File(SCHEMA, "The schema of the numbers", "report", schema)
        yield _text(
            "apa.md", "Sentences for a paper, in the style of APA", "report",
            lambda: sentences_markdown(apa_sentences(self.report.results), title, self.badges),
        )  # fmt: skip
        yield _text(
            "apa.txt", "The sentences as plain text", "report",
            lambda: as_text(apa_sentences(self.report.results), title, self.badges),
        )  # fmt: skip
        yield _text(
            "report.qmd", "The report as Quarto source", "report", lambda: report_quarto(self.document, self.badges)
        )

    def _html(self) -> str:
        return html_of(self.document)

    def of_figures(self) -> Iterator[File]:
        """Every figure as SVG, PNG and PDF."""
        for figure in self.document.figures():
            stem, title = f"figures/{figure.key}", figure.spec["usermeta"]["title"]
            yield _text(f"{stem}.svg", title, "figures", functools.partial(self.drawings.svg, figure))
            yield File(f"{stem}.png", title, "figures", functools.partial(self.drawings.png, figure))
            yield File(f"{stem}.pdf", title, "figures", functools.partial(self._figure_pdf, figure, title))

    def _figure_pdf(self, figure: Figure, title: str) -> bytes:
        return figure_pdf(self.drawings.pdf(figure), title, self.report.created_at)

    def _table_csv(self, table: Table) -> str:
        return with_column(table_csv(table), "report", PILOT_BADGE) if self.report.is_pilot else table_csv(table)

    def of_tables(self) -> Iterator[File]:
        """Every table as CSV, Markdown and LaTeX."""
        for number, table in enumerate(self.document.tables(), start=1):
            stem = f"tables/{table.key}"
            facts: tuple[Table, int, str] = (table, number, self.remark)
            yield _text(f"{stem}.csv", table.title, "tables", functools.partial(self._table_csv, table))
            yield _text(f"{stem}.md", table.title, "tables", functools.partial(table_markdown, *facts))
            yield _text(f"{stem}.tex", table.title, "tables", functools.partial(table_latex, *facts))


def _text(name: str, title: str, group: Group, make: Callable[[], str]) -> File:
    return File(name, title, group, lambda: make().encode())


def schema() -> bytes:
    """The published schema that every report's numbers keep to."""
    path = Path(settings.BASE_DIR) / "docs" / "reference" / SCHEMA
    return path.read_bytes()


def file_of(report: Report, name: str, arrange: Callable[[], Document] | None = None) -> File | None:
    """One file of a report, or None; charts and tables are arranged only if it is one of theirs."""
    outputs = Outputs(report, arrange)
    groups = {"figures": outputs.of_figures, "tables": outputs.of_tables}
    found = groups.get(name.split("/", 1)[0], outputs.whole)()
    return next((file for file in found if file.name == name), None)
