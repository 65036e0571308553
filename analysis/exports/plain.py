"""A document as JSON values and back, so that what was arranged once is not arranged again."""

from __future__ import annotations

from typing import Any

from analysis.exports.blocks import Block, Figure, Section
from analysis.exports.document import Document
from analysis.models import Report
from analysis.narrative.verdict import Run
from analysis.tables.cells import Cell, Column, Row, Table

Plain = dict[str, Any]


def plain_of(document: Document) -> Plain:
    """A document as JSON values, without its report."""
    return {
        "badge": document.badge,
        "notice": document.notice,
        "headline": [[run.text, run.side] for run in document.headline],
        "paragraph": document.paragraph,
        "facts": [list(fact) for fact in document.facts],
        "limits": document.limits,
        "lead": None if document.lead is None else _figure(document.lead),
        "sections": [
            {
                "key": section.key,
                "title": section.title,
                "side": section.side,
                "blocks": [_block(block) for block in section.blocks],
            }
            for section in document.sections
        ],
    }


def document_from(plain: Plain, report: Report) -> Document:
    """The document that `plain_of` was given, of this report."""
    return Document(
        report=report,
        badge=plain["badge"],
        notice=plain["notice"],
        headline=tuple(Run(text, side) for text, side in plain["headline"]),
        paragraph=plain["paragraph"],
        facts=[(heading, side, number, rests) for heading, side, number, rests in plain["facts"]],
        limits=plain["limits"],
        lead=None if plain["lead"] is None else _figure_from(plain["lead"]),
        sections=[
            Section(one["key"], one["title"], one["side"], [_block_from(block) for block in one["blocks"]])
            for one in plain["sections"]
        ],
    )


def _block(block: Block) -> Plain:
    return {
        **vars(block),
        "table": None if block.table is None else _table(block.table),
        "figures": [_figure(figure) for figure in block.figures],
    }


def _block_from(plain: Plain) -> Block:
    return Block(
        **{
            **plain,
            "table": None if plain["table"] is None else _table_from(plain["table"]),
            "figures": tuple(_figure_from(figure) for figure in plain["figures"]),
        }
    )


def _figure(figure: Figure) -> Plain:
    return {**vars(figure), "table": _table(figure.table)}


def _figure_from(plain: Plain) -> Figure:
    return Figure(**{**plain, "table": _table_from(plain["table"])})


def _table(table: Table) -> Plain:
    return {
        **vars(table),
        "columns": [list(vars(column).values()) for column in table.columns],
        "rows": [
            [[[cell.text, cell.value] for cell in row.cells], row.group, row.is_quiet] for row in table.rows
        ],
    }  # fmt: skip


def _table_from(plain: Plain) -> Table:
    return Table(
        **{
            **plain,
            "columns": tuple(Column(*column) for column in plain["columns"]),
            "rows": tuple(
                Row(tuple(Cell(*cell) for cell in cells), group, is_quiet) for cells, group, is_quiet in plain["rows"]
            ),
        }
    )
