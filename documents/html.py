"""Sentences, tables, figures and documents as HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from itertools import groupby

from charting.frame import PICTURE
from charting.render import inline_svg
from documents.blocks import Block, Figure, Section
from documents.tables import Column, Row, Table
from documents.typeset import pieces

_LONG_HEAD, _LONG_WORD = 20, 10  # characters
# Degrees of freedom and the limits of an interval stay in one line: "F(6, 203)", "[.35, .57]".
_IN_BRACKETS = re.compile(r"(?<=[\d.]), (?=[−\d.,]+[)\]])")
_AT_LENGTH = re.compile(r"(?<=\bat) (?=\d)")  # "recall at 5"
_ABSOLUTE = re.compile(
    r"\|<i>[^|]*</i>\|(?:\u00a0(?:=|&lt;|&gt;|≥|≤)\u00a0[−.\d]*\d)?"
)  # "|τ_b| ≥ .71" could break after each bar
_IN_SCRIPT = {ord(sign): f"\\u{ord(sign):04X}" for sign in "<>&"}
_STYLE = """
:root { color-scheme: light dark; --ink: #1d1f21; --quiet: #63686d; --paper: #fff; --line: #d6d9dc; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e8ea; --quiet: #a3a8ad; --paper: #17191b; --line: #3a3e42; } }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 52rem; color: var(--ink); background: var(--paper);
  font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
h3 { font-size: 1rem; margin: 1.75rem 0 .25rem; }
.scroll, figure { overflow-x: auto; margin: 1.25rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption, figcaption { text-align: left; color: var(--quiet); padding-bottom: .35rem; }
th, td { padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
tbody th { font-weight: normal; }
.n { text-align: right; }
figure { background: #fff; padding: .5rem; }
figure svg { max-width: 100%; min-width: 36rem; height: auto; }
.nowrap { white-space: nowrap; }
"""


WIDTHS = {"wide": 560, "narrow": 340}  # in pixels, of pictures that are drawn with the page


def sentence(text: str) -> str:
    """A sentence with its statistics in italics."""
    parts = pieces(_AT_LENGTH.sub("\N{NO-BREAK SPACE}", _IN_BRACKETS.sub(",\N{NO-BREAK SPACE}", text)))
    stretches = (f"<i>{escape(piece.text)}</i>" if piece.is_italic else escape(piece.text) for piece in parts)
    whole = _ABSOLUTE.sub(r'<span class="nowrap">\g<0></span>', "".join(stretches))
    return whole.replace("τ_b", "τ<sub>b</sub>")


def _head(column: Column) -> str:
    """A column's head; one of long words or of many is not squeezed to a word a line."""
    is_long = len(column.name) > _LONG_HEAD or max(map(len, column.name.split()), default=0) > _LONG_WORD
    looks = _classes("n" if column.is_number else "", column.side, "long" if is_long else "")
    return f'<th scope="col"{looks}>{sentence(column.name)}</th>'


def table_html(table: Table) -> str:
    """A table that scrolls by itself where it is wider than the page, with its note below."""
    heads = "".join(map(_head, table.columns))
    lines = []
    for group, rows in groupby(table.rows, key=lambda row: row.group):
        if group:
            head = f'<th colspan="{table.width}" scope="rowgroup"><span>{escape(group)}</span></th>'
            lines.append(f'<tr class="group">{head}</tr>')
        lines += [_row(table, row) for row in rows]
    body = "\n".join(lines)
    note = f'\n<p class="note">{sentence(table.note)}</p>' if table.note else ""
    title = escape(table.title)
    return (
        f'<div class="scroll table-{table.key}" tabindex="0" role="region" aria-label="{title}">\n<table>\n'
        f"<caption>{title}</caption>\n<thead>\n<tr>{heads}</tr>\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
        f"</div>{note}"
    )


def _row(table: Table, row: Row) -> str:
    first, *rest = zip(table.columns, row.cells, strict=True)
    cells = "".join(
        f"<td{_classes('n' if column.is_number else '')}>{sentence(cell.text)}</td>" for column, cell in rest
    )
    return f'<tr{_classes("quiet" if row.is_quiet else "")}><th scope="row">{sentence(first[1].text)}</th>{cells}</tr>'


def _classes(*names: str) -> str:
    present = " ".join(name for name in names if name)
    return f' class="{present}"' if present else ""


def figure_html(figure: Figure) -> str:
    """A figure with its caption and its numbers; without a drawing, with the specification that the page draws."""
    drawing = figure.drawing
    if not drawing and PICTURE in figure.spec:
        # No browser lays it out anew: drawn once for wide screens and once for phones.
        drawn = ((name, inline_svg(figure.spec, width=width)) for name, width in WIDTHS.items())
        drawing = "".join(f'<div class="drawn {name}">{svg}</div>' for name, svg in drawn)
    chart = "" if drawing else f' data-chart="{figure.element_id}"'
    specs = "" if drawing else json.dumps(figure.specs).translate(_IN_SCRIPT)
    script = f'<script id="{figure.element_id}" type="application/json">{specs}</script>'
    parts = [f'<figure class="chart" id="{figure.key}"{chart}>', drawing or script]
    if figure.caption:
        parts.append(f"<figcaption>{sentence(figure.caption)}</figcaption>")
    if figure.table is not None:
        parts.append(_folded("Data of this figure", figure.table))
    return "\n".join([*parts, "</figure>"])


def _folded(title: str, table: Table) -> str:
    return f'<details class="data-table"><summary>{escape(title)}</summary>{table_html(table)}</details>'


def section_html(section: Section) -> str:
    """A section under its heading; one without a title is its blocks alone."""
    blocks = "\n".join(map(_block, section.blocks))
    if not section.title:
        return blocks
    heading = f"{section.key}-title"
    return (
        f'<section id="{section.key}" aria-labelledby="{heading}">\n'
        f'<h2 id="{heading}"{_classes(section.side)}>{escape(section.title)}</h2>\n{blocks}\n</section>'
    )


def _block(block: Block) -> str:
    if block.heading:
        return f"<h3>{escape(block.heading)}</h3>"
    if block.points:
        return f"<ul>{''.join(f'<li>{sentence(point)}</li>' for point in block.points)}</ul>"
    if block.figures:
        return f'<div class="figures">{"".join(map(figure_html, block.figures))}</div>'
    if block.table is not None:
        return _folded(block.table.title, block.table) if block.is_folded else table_html(block.table)
    return f"<p{_classes(block.style, block.side if block.style == 'says' else '')}>{sentence(block.text)}</p>"


def page(title: str, heading: str, sections: Sequence[Section]) -> str:
    """A document as one page that needs nothing else; its figures have their drawings.

    Examples
    --------
    >>> section = Section("recall", "Recall")
    >>> section.say("1 < 2")
    >>> "<p>1\u00a0&lt;\u00a02</p>" in page("Small", "Small", [section])
    True
    """
    body = "\n".join(map(section_html, sections))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(heading)}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )
