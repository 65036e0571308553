"""Reads sheets of workbooks (xlsx, xlsb, xls, ods)."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np
from python_calamine import CalamineError, CalamineWorkbook

from catalog.importers.reading.tables import Batch, Written
from catalog.importers.sources import SourceFile, refuse

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # how .xls begins


def sheets_of(file: SourceFile) -> dict[str, list[list[str]]]:
    """The rows of each sheet as texts. Raises ImportRefused: the workbook is damaged or beyond its limit."""
    with file.open() as (stream, _):
        content = stream.read()
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = {name: workbook.get_sheet_by_name(name) for name in workbook.sheet_names}
        if sum(sheet.total_height * sheet.total_width for sheet in sheets.values()) * 8 > file.most:
            raise refuse(file.name, f"its sheets unfold to more than {file.most:,} bytes", advice="Save it as CSV.")
        return {
            name: [[_text(value) for value in row] for row in sheet.to_python(skip_empty_area=False)]
            for name, sheet in sheets.items()
        }
    except (CalamineError, OSError) as error:
        raise refuse(file.name, f"the workbook is damaged or encrypted ({error})", advice="Save it as CSV.") from error


def workbook_batches(file: SourceFile, written: Written, wanted: Sequence[str]) -> Iterator[Batch]:
    """The rows of a sheet, as one batch."""
    import pyarrow as pa

    rows = sheets_of(file)[written.sheet]
    filled = [(number, row) for number, row in enumerate(rows, start=1) if any(row)]
    below = [(number, row) for number, row in filled if number > written.lines_before]
    columns = {
        name: pa.array([row[at] if at < len(row) else "" for _, row in below], pa.string())
        for name, at in ((name, written.columns.index(name)) for name in wanted)
    }
    yield Batch(columns, np.array([number for number, _ in below], dtype=np.int64), len(below))


def _text(value: Any) -> str:
    """A cell as text: whole numbers without decimals, times as ISO 8601."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value.total_seconds() if isinstance(value, timedelta) else value)
