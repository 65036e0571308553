"""Tables and sentences as Markdown: every sign that Markdown would read as its own is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from analysis.narrative.typeset import pieces
from analysis.tables.cells import Table

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~^$@])")
_AT_START = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)", re.MULTILINE)


def escaped(text: str) -> str:
    r"""Text that Markdown prints as it is.

    Examples
    --------
    >>> escaped("*Up* #1 | $9")
    '\\*Up\\* \\#1 \\| \\$9'
    """
    return _AT_START.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", text))


def sentence(text: str) -> str:
    """A sentence with its statistics in italics."""
    made = ""
    for piece in pieces(text):
        words = escaped(piece.text).replace(r"τ\_b", "τ<sub>b</sub>")
        made += f"*{words}*" if piece.is_italic else words
    return made


def table_markdown(table: Table, number: int, remark: str = "") -> str:
    """A table under its number and its title in italics, with what has to be known to read it below."""
    heads = [sentence(column.name) for column in table.columns]
    rules = ["--:" if column.is_number else ":--" for column in table.columns]
    if table.group_name:
        heads, rules = [escaped(table.group_name), *heads], [":--", *rules]
    lines = [f"**Table {number}**", "", f"*{escaped(table.title)}*", "", _line(heads), _line(rules)]
    for group, rows in groupby(table.rows, key=lambda row: row.group):
        for place, row in enumerate(rows):
            cells = [sentence(cell.text) for cell in row.cells]
            lines.append(_line([escaped(group) if place == 0 else "", *cells] if table.group_name else cells))
    if note := " ".join(one for one in (table.note, remark) if one):
        lines += ["", f"*Note.* {sentence(note)}"]
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def sentences_markdown(parts: Sequence[tuple[str, Sequence[str]]], title: str, notices: Sequence[str] = ()) -> str:
    """Headings with their sentences, each sentence a paragraph."""
    lines = [f"# {escaped(title)}", ""]
    for notice in notices:
        lines += [f"**{escaped(notice)}**", ""]
    for heading, sentences in parts:
        lines += [f"## {escaped(heading)}", ""]
        for one in sentences:
            lines += [sentence(one), ""]
    return "\n".join(lines)
