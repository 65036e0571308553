"""Documents as PDF: their blocks as data for the typesetter Typst, which reads none of their text as markup."""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import typst

from core.errors import ParallaxError
from documents.blocks import Block, Figure, Section
from documents.tables import Column, Table
from documents.typeset import pieces

HEADING = 16  # characters of a heading on one line
WIDE = 34  # characters; a column of longer words takes the room that is left
LINE = 108  # characters of the largest size that a line of a table holds
SIZES = (8.5, 8.0, 7.5, 7.0, 6.5, 6.0)
FIGURE_PAGE = b"""#set document(title: sys.inputs.title, date: none)
#set page(width: auto, height: auto, margin: 0pt)
#image("figure.pdf", alt: sys.inputs.title)
"""
Sentence = list[tuple[str, bool]]


def figure_pdf(picture: bytes, title: str, made_at: datetime) -> bytes:
    """Typeset a figure's PDF on a page of its own size, so that the same figure gives the same bytes."""
    return compiled({"main.typ": FIGURE_PAGE, "figure.pdf": picture}, made_at, {"title": title})


def compiled(files: Mapping[str, bytes], made_at: datetime, inputs: dict[str, str] | None = None) -> bytes:
    """Compile ``main.typ``: the same files and time give the same bytes. Raises `report.not_set` when Typst fails."""
    with tempfile.TemporaryDirectory(prefix="setting-") as name:
        folder = Path(name)
        for file, content in files.items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(content)
        try:
            pdf: bytes = typst.compile(
                folder / "main.typ",
                ignore_system_fonts=True,
                timestamp=int(made_at.timestamp()),
                sys_inputs=inputs or {},
            )
        except (typst.TypstError, RuntimeError) as refused:
            raise ParallaxError("report.not_set", f"The PDF could not be set: {refused}") from refused
    return pdf


def sentence(text: str) -> Sentence:
    """A sentence in pieces, each with whether it is set in italics."""
    return [(piece.text, piece.is_italic) for piece in pieces(text)]


def section_data(section: Section) -> dict[str, Any]:
    """A section with its blocks, but for the tables that a page folds away."""
    blocks = [plain for block in section.blocks for plain in _block(block)]
    return {"title": section.title, "side": section.side, "blocks": blocks}


def _block(block: Block) -> Iterator[dict[str, Any]]:
    if block.heading:
        yield {"kind": "heading", "text": block.heading}
    elif block.points:
        yield from ({"kind": "text", "text": sentence(point), "side": ""} for point in block.points)
    elif block.figures:
        yield from ({"kind": "figure", **figure_data(figure)} for figure in block.figures)
    elif block.table is not None:
        if not block.is_folded:
            yield {"kind": "table", **table_data(block.table)}
    else:
        yield {"kind": "says" if block.style else "text", "text": sentence(block.text), "side": block.side}


def figure_data(figure: Figure) -> dict[str, Any]:
    """A figure by its key, with its caption and the text for readers who do not see it."""
    alt = figure.spec["usermeta"]["description"]
    return {"key": figure.key, "alt": alt, "caption": sentence(figure.caption)}


def table_data(table: Table) -> dict[str, Any]:
    """A table with the widths of its columns, in the largest size that fits on a line."""
    widths = [_width(table, index, column) for index, column in enumerate(table.columns)]
    is_wide = [not column.is_number and width > WIDE for column, width in zip(table.columns, widths, strict=True)]
    needed = sum(min(width, WIDE) + 2 for width in widths)
    size = next((size for size in SIZES if needed * size <= LINE * SIZES[0]), SIZES[-1])
    rows: list[dict[str, Any]] = []
    for group, lines in groupby(table.rows, key=lambda row: row.group):
        if group:
            rows.append({"kind": "group", "name": group})
        rows += [
            {"kind": "row", "quiet": line.is_quiet, "cells": [sentence(cell.text) for cell in line.cells]}
            for line in lines
        ]
    return {
        "title": sentence(table.title),
        "note": sentence(table.note),
        "size": size,
        "columns": [
            {
                "name": sentence(_heading(column.name, width)),
                "number": column.is_number,
                "side": column.side,
                "wide": wide,
            }
            for column, wide, width in zip(table.columns, is_wide, widths, strict=True)
        ],
        "rows": rows,
    }


def _heading(name: str, width: int) -> str:
    """A heading, broken into lines that do not widen its column."""
    return "\n".join(textwrap.wrap(name, max(HEADING, width), break_long_words=False, break_on_hyphens=False))


def _width(table: Table, index: int, column: Column) -> int:
    """Characters that a column needs: its longest cell, and the longest word of its heading."""
    cells = max((len(row.cells[index].text) for row in table.rows), default=0)
    return max([cells, *(len(word) for word in column.name.split())])
