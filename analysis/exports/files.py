"""A report as one self-contained HTML file, its numbers as JSON, and its tables as CSV."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from analysis.exports.document import Document, document_of
from analysis.models import Report
from analysis.narrative.verdict import simulated_notice
from analysis.tables.cells import Table
from charting import render
from charting.theme import LIGHT, Spec
from core.errors import ParallaxError

STYLE_SHEETS = ("css/tokens.css", "css/base.css", "css/report.css")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
NARROW = 340  # pixels: what a phone shows beside its margins


def report_json(report: Report) -> str:
    """Every number of the report with its inputs, as text; times and ids of rows stay out."""
    whole = {
        "$schema": "report.schema.json",
        "study": report.study.slug,
        "report": report.number,
        "mode": report.mode,
        **({"is_pilot": True, "notice": simulated_notice(report.results)} if report.is_pilot else {}),
        "inputs_hash": report.inputs_hash,
        "plan": report.plan,
        "provenance": report.provenance,
        "results": report.results,
    }
    return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False, sort_keys=True) + "\n"


def report_html(report: Report) -> str:
    """The whole report in one file without any reference to another; the same but for the date it was made."""
    return html_of(document_of(report))


def html_of(document: Document) -> str:
    """A document as one file, with every chart drawn in it."""
    drawn = document.drawn(inline_svg)
    return render_to_string("analysis/file.html", {"document": drawn, "styles": mark_safe(_styles())})  # noqa: S308 - our own style sheets


def _styles() -> str:
    """The project's style sheets, as one text."""
    texts = []
    for name in STYLE_SHEETS:
        found = finders.find(name)
        if not found or not isinstance(found, str):
            raise ParallaxError(
                "report.no_style", f"The style sheet {name} is missing; restore it from the installation."
            )
        texts.append(Path(found).read_text(encoding="utf-8"))
    return "\n".join(texts)


def inline_svg(spec: Spec, width: int) -> str:
    """A chart drawn twice, for desks and for phones, of which the style sheet shows one."""
    wide, narrow = _themed(render.svg(spec, width=width)), _themed(render.svg(spec, width=NARROW))
    return mark_safe(f'<div class="drawn wide">{wide}</div><div class="drawn narrow">{narrow}</div>')  # noqa: S308 - as below


def _themed(picture: str) -> str:
    """A drawing whose colours follow the page, light or dark."""
    for field in dataclasses.fields(LIGHT):
        token = f"var(--{field.name.replace('_', '-')})"
        picture = picture.replace(f'"{getattr(LIGHT, field.name)}"', f'"{token}"')
    # The file's own white ground would stand out on dark paper.
    return picture.replace('fill="#ffffff"', 'fill="none"', 1)


def with_column(text: str, name: str, value: str) -> str:
    """A CSV with one more column, which holds the same in every row."""
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([[*head, name], *([*row, value] for row in rows)])
    return stream.getvalue()


def table_csv(table: Table) -> str:
    """A table as CSV: numbers with all their digits, an interval as two columns, groups as a column."""
    spans = [_is_interval(table, place) for place in range(table.width)]
    heads: list[str] = [table.group_name] if table.group_name else []
    for column, is_interval in zip(table.columns, spans, strict=True):
        heads += [f"{column.name}, low", f"{column.name}, high"] if is_interval else [column.name]
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([_defused(head) for head in heads])
    for row in table.rows:
        line: list[Any] = [row.group] if table.group_name else []
        for cell, is_interval in zip(row.cells, spans, strict=True):
            if is_interval:
                line += cell.value.split() if isinstance(cell.value, str) else ["", ""]
            else:
                line.append("" if cell.value is None else cell.value)
        writer.writerow([_defused(value) for value in line])
    return stream.getvalue()


def _is_interval(table: Table, place: int) -> bool:
    column = table.columns[place]
    return column.is_number and any(isinstance(row.cells[place].value, str) for row in table.rows)


def _defused(value: Any) -> Any:
    """A text that a spreadsheet would run is marked as text; numbers stay numbers."""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        try:
            float(value)
        except ValueError:
            return f"'{value}"
    return value
