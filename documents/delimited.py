"""Tables as CSV."""

from __future__ import annotations

import csv
import io
from typing import Any

from documents.tables import Table

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def with_column(text: str, name: str, value: str) -> str:
    """A CSV with one more column, which holds the same in every row."""
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([[*head, name], *([*row, value] for row in rows)])
    return stream.getvalue()


def table_csv(table: Table) -> str:
    """A table as CSV: numbers with all their digits, an interval as two columns, groups as a column."""
    spans = [_is_interval(table, index) for index in range(table.width)]
    heads: list[str] = [table.group_name] if table.group_name else []
    for column, is_interval in zip(table.columns, spans, strict=True):
        heads += [f"{column.name}, low", f"{column.name}, high"] if is_interval else [column.name]
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([_escaped_formula(head) for head in heads])
    for row in table.rows:
        line: list[Any] = [row.group] if table.group_name else []
        for cell, is_interval in zip(row.cells, spans, strict=True):
            if is_interval:
                line += cell.value.split() if isinstance(cell.value, str) else ["", ""]
            else:
                line.append("" if cell.value is None else cell.value)
        writer.writerow([_escaped_formula(value) for value in line])
    return stream.getvalue()


def _is_interval(table: Table, index: int) -> bool:
    return table.columns[index].is_number and any(
        isinstance(row.cells[index].value, str) and row.cells[index].value != row.cells[index].text
        for row in table.rows
    )


def _escaped_formula(value: Any) -> Any:
    """A text that a spreadsheet would run is marked as text; numbers stay numbers."""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        try:
            float(value)
        except ValueError:
            return f"'{value}"
    return value
