"""A report on paper: the document as data for a typesetter, and the PDF that it sets."""

from __future__ import annotations

import json
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import typst
from django.conf import settings
from django.utils.formats import date_format

from analysis.exports.blocks import Block, Figure, Section
from analysis.exports.document import DATASET_BADGE, PILOT_BADGE, Document
from analysis.narrative.typeset import pieces
from analysis.tables.cells import Column, Table
from core.errors import ParallaxError

FURTHER = "Further tables"
HEADING = 16  # characters of a heading on one line
WIDE = 34  # characters; a column of longer words takes the room that is left
LINE = 108  # characters of the largest size that a line of a table holds
SIZES = (8.5, 8.0, 7.5, 7.0, 6.5, 6.0)
FIGURE_PAGE = b"""#set document(title: sys.inputs.title, date: none)
#set page(width: auto, height: auto, margin: 0pt)
#image("figure.pdf", alt: sys.inputs.title)
"""
Set = list[tuple[str, bool]]
Picture = Callable[[Figure], bytes]


def report_pdf(document: Document, picture: Picture) -> bytes:
    """Set the report; `picture` gives each figure as PDF. Only fonts of the typesetter's own are used.

    Raises `report.not_set` where the typesetter refuses.
    """
    files = {
        "main.typ": (Path(settings.BASE_DIR) / "templates" / "analysis" / "report.typ").read_bytes(),
        "document.json": json.dumps(printed(document), ensure_ascii=False).encode(),
        **{f"figures/{figure.key}.pdf": picture(figure) for figure in document.figures()},
    }
    return _compiled(files, document.report.created_at)


def figure_pdf(picture: bytes, title: str, made_at: datetime) -> bytes:
    """Set a figure's PDF anew, on a page of its own size: what draws it numbers its parts in a new order each time."""
    return _compiled({"main.typ": FIGURE_PAGE, "figure.pdf": picture}, made_at, {"title": title})


def _compiled(files: Mapping[str, bytes], made_at: datetime, inputs: dict[str, str] | None = None) -> bytes:
    """Set ``main.typ``: the same files and time give the same bytes."""
    with tempfile.TemporaryDirectory(prefix="setting-") as name:
        folder = Path(name)
        for file, content in files.items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(content)
        try:
            made: bytes = typst.compile(
                folder / "main.typ",
                ignore_system_fonts=True,
                timestamp=int(made_at.timestamp()),
                sys_inputs=inputs or {},
            )
        except (typst.TypstError, RuntimeError) as refused:
            raise ParallaxError("report.not_set", f"The PDF could not be set: {refused}") from refused
    return made


def printed(document: Document) -> dict[str, Any]:
    """The document as data: no text in it is ever read as markup."""
    report = document.report
    notices = []
    badges = []
    if document.notice:
        notices.append({"badge": document.badge, "text": _set(document.notice)})
        badges.append(document.badge)
    if report.provenance["is_dataset_synthetic"]:
        said = "The ratings of this dataset are made up, so what was measured offline says nothing of the world."
        notices.append({"badge": DATASET_BADGE, "text": _set(said)})
        badges.append(DATASET_BADGE)
    made = date_format(report.created_at.astimezone(UTC), "j F Y")
    return {
        "title": report.study.title,
        "watermark": PILOT_BADGE if report.is_pilot else "",
        "made": f"Parallax · {'Pilot report' if report.is_pilot else 'Report'} {report.number} · {made}",
        "badges": badges,
        "notices": notices,
        "headline": [{"text": run.text, "side": run.side} for run in document.headline],
        "paragraph": _set(document.paragraph),
        "limits": [_set(limit) for limit in document.limits],
        "facts": [
            {"heading": heading, "side": side, "number": _set(number), "rests": _set(rests)}
            for heading, side, number, rests in document.facts
        ],
        "lead": _figure(document.lead) if document.lead else None,
        "sections": [*map(_section, document.sections), *_further(document)],
    }


def _set(text: str) -> Set:
    return [(piece.text, piece.is_italic) for piece in pieces(text)]


def _section(section: Section) -> dict[str, Any]:
    blocks = [made for block in section.blocks for made in _blocks(block)]
    return {"title": section.title, "side": section.side, "blocks": blocks}


def _blocks(block: Block) -> Iterator[dict[str, Any]]:
    if block.heading:
        yield {"kind": "heading", "text": block.heading}
    elif block.figures:
        yield from ({"kind": "figure", **_figure(figure)} for figure in block.figures)
    elif block.table is not None:
        if not block.is_folded:
            yield {"kind": "table", **_table(block.table)}
    else:
        yield {"kind": "says" if block.style else "text", "text": _set(block.text), "side": block.side}


def _further(document: Document) -> Iterator[dict[str, Any]]:
    """What a page folds away: tables that stand behind figures, and those for whoever looks closer."""
    shown = {
        block.table.key
        for section in document.sections
        for block in section.blocks
        if block.table is not None and not block.is_folded
    }
    tables = [{"kind": "table", **_table(table)} for table in document.tables() if table.key not in shown]
    if tables:
        yield {"title": FURTHER, "side": "", "blocks": tables}


def _figure(figure: Figure) -> dict[str, Any]:
    alt = figure.spec["usermeta"]["description"]
    return {"key": figure.key, "alt": alt, "badge": figure.badge, "caption": _set(figure.caption)}


def _table(table: Table) -> dict[str, Any]:
    widths = [_width(table, place, column) for place, column in enumerate(table.columns)]
    is_wide = [not column.is_number and width > WIDE for column, width in zip(table.columns, widths, strict=True)]
    needed = sum(min(width, WIDE) + 2 for width in widths)
    size = next((size for size in SIZES if needed * size <= LINE * SIZES[0]), SIZES[-1])
    rows: list[dict[str, Any]] = []
    for group, lines in groupby(table.rows, key=lambda row: row.group):
        if group:
            rows.append({"kind": "group", "name": group})
        rows += [
            {"kind": "row", "quiet": line.is_quiet, "cells": [_set(cell.text) for cell in line.cells]} for line in lines
        ]
    return {
        "title": _set(table.title),
        "note": _set(table.note),
        "size": size,
        "columns": [
            {"name": _set(_heading(column.name, width)), "number": column.is_number, "side": column.side, "wide": wide}
            for column, wide, width in zip(table.columns, is_wide, widths, strict=True)
        ],
        "rows": rows,
    }


def _heading(name: str, width: int) -> str:
    """A heading on lines short enough that it does not widen its column."""
    bound = name.replace(" %", "\u00a0%")
    return "\n".join(textwrap.wrap(bound, max(HEADING, width), break_long_words=False, break_on_hyphens=False))


def _width(table: Table, place: int, column: Column) -> int:
    """Characters that a column needs: its longest cell, and the longest word of its heading."""
    cells = max((len(row.cells[place].text) for row in table.rows), default=0)
    return max(cells, *(len(word) for word in column.name.split()))
