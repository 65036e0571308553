"""Sentences, tables and documents as Markdown, with every special character escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from documents.blocks import Block, Section
from documents.tables import Table
from documents.typeset import pieces

_SPECIAL = re.compile(r"([\\`*{}\[\]<>#|~^$@]|(?<![^\W_])_|_(?![^\W_]))")  # a name_of_words is as it is
_AT_START = re.compile(r"^([ \t]*\d*)([-+:.)])(?=[-+: \t]|$)")
_LINE_BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")


def escaped(text: str) -> str:
    r"""Text that Markdown prints as it is, in one line.

    Examples
    --------
    >>> escaped("*Up* #1 | $9")
    '\\*Up\\* \\#1 \\| \\$9'
    """
    return _AT_START.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", _LINE_BREAKS.sub(" ", text)))


def paragraphs(text: str) -> str:
    """Text of several paragraphs, each escaped."""
    return "\n\n".join(escaped(part.strip()) for part in re.split(r"\n\s*\n", text) if part.strip())


def sentence(text: str) -> str:
    """A sentence with its statistics in italics."""
    line = ""
    for piece in pieces(text):
        words = escaped(piece.text).replace("τ_b", "τ<sub>b</sub>")
        line += f"*{words}*" if piece.is_italic else words
    return line


def table_markdown(table: Table, number: int | None = None, remark: str = "") -> str:
    """A table under its number, if it has one, and its title in italics, with its note below."""
    heads = [sentence(column.name) for column in table.columns]
    rules = ["--:" if column.is_number else ":--" for column in table.columns]
    if table.group_name:
        heads, rules = [escaped(table.group_name), *heads], [":--", *rules]
    lines = [] if number is None else [f"**Table {number}**", ""]
    lines += [f"*{escaped(table.title)}*", "", _line(heads), _line(rules)]
    for group, rows in groupby(table.rows, key=lambda row: row.group):
        for index, row in enumerate(rows):
            cells = [sentence(cell.text) for cell in row.cells]
            lines.append(_line([escaped(group) if index == 0 else "", *cells] if table.group_name else cells))
    if note := " ".join(part for part in (table.note, remark) if part):
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
        for text in sentences:
            lines += [sentence(text), ""]
    return "\n".join(lines)


def document_markdown(title: str, sections: Sequence[Section]) -> str:
    """A document under its title; figures are links to their files.

    Examples
    --------
    >>> section = Section("recall", "Recall")
    >>> section.say("Higher is better.")
    >>> print(document_markdown("Two algorithms", [section]))
    # Two algorithms
    <BLANKLINE>
    ## Recall
    <BLANKLINE>
    Higher is better.
    <BLANKLINE>
    """
    parts = [f"# {escaped(title)}"]
    for section in sections:
        if section.title:
            parts.append(f"## {escaped(section.title)}")
        parts += [part for block in section.blocks for part in _block(block)]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> Iterator[str]:
    if block.heading:
        yield f"### {escaped(block.heading)}"
    elif block.points:
        yield "\n".join(f"- {sentence(point)}" for point in block.points)
    elif block.table is not None:
        yield table_markdown(block.table).rstrip("\n")
    elif block.figures:
        yield from (f"![{sentence(figure.alternative)}]({figure.file})" for figure in block.figures)
    else:
        yield sentence(block.text)
