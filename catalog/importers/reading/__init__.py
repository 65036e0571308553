"""The one way to read a file: its columns in their types, and every row that cannot be read as a problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import Progress
from catalog.importers.problems import Problems
from catalog.importers.reading.parquet import parquet_batches
from catalog.importers.reading.records import record_batches
from catalog.importers.reading.shapes import basket_batches, matrix_batches, section_batches
from catalog.importers.reading.tables import Batch, Kind, Stretches, Table, Written
from catalog.importers.reading.texts import chunks_of, text_batches
from catalog.importers.reading.values import TYPES, typed
from catalog.importers.reading.workbooks import workbook_batches
from catalog.importers.sources import SourceFile, refuse

_SHAPES = {"sections": section_batches, "baskets": basket_batches, "matrix": matrix_batches, "table": text_batches}
_BY_ROW = ("parquet", "workbook", "array")


def read(
    file: SourceFile,
    written: Written,
    kinds: Mapping[str, Kind],
    problems: Problems,
    *,
    progress: Progress | None = None,
) -> Table:
    """The columns of a file that `kinds` names. Raises ImportRefused when the file is empty, has no row, is damaged or
    beyond its limit. Rows that cannot be read are added to `problems`, by line.

    Plain numbers are read by compiled code, everything else as texts by Apache Arrow.
    """
    unit = "row" if written.records in _BY_ROW else "line"
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in kinds}
    lines: list[tuple[int, Stretches, str]] = []
    rows, is_open, is_empty = 0, False, False
    for batch, lacks_final_newline, has_nothing in _batches(file, written, kinds, problems):
        is_open, is_empty = lacks_final_newline, has_nothing
        columns, numbers = typed(batch, file.name, kinds, written, problems, unit)
        for name, column in columns.items():
            parts[name].append(column)
        lines.append((len(numbers), Stretches.of(numbers), ""))
        rows += batch.rows_read
        if progress is not None:
            progress(file.name, rows)
    if rows == 0 and unit == "row":
        raise refuse(file.name, "the file has no row")
    if rows == 0:
        raise refuse(file.name, "the file is empty" if is_empty else "there is no row after the header", line=1)
    return Table(
        columns={name: _joined(parts.pop(name), kind) for name, kind in kinds.items()},
        lines=Stretches.joined(lines),
        rows_read=rows,
        name=file.name,
        lacks_final_newline=is_open,
    )


def _joined(parts: Sequence[NDArray[Any]], kind: Kind) -> NDArray[Any]:
    """The column of its parts; ids that are digits in some blocks and texts in others are all texts."""
    filled = [part for part in parts if len(part)] or [np.empty(0, TYPES.get(kind, object))]
    if any(part.dtype == object for part in filled):
        filled = [part if part.dtype == object else part.astype(str).astype(object) for part in filled]
    return np.concatenate(filled)


def _batches(
    file: SourceFile, written: Written, kinds: Mapping[str, Kind], problems: Problems
) -> Iterator[tuple[Batch, bool, bool]]:
    """The batches of a file; of a text also whether it ends without a line end, and whether it is empty."""
    if written.records in _SHAPES:
        with file.open() as (stream, watch):
            chunks = chunks_of(stream, file.name, written)
            for batch in _SHAPES[written.records](chunks, file.name, written, kinds, problems):
                yield batch, watch.last_byte not in (b"\n", b"\r", b"\0"), False
            if watch.bytes_read == 0:
                yield Batch({name: np.empty(0) for name in kinds}, np.empty(0, dtype=np.int64), 0), False, True
        return
    if written.records == "parquet":
        batches = parquet_batches(file, kinds, problems)
    elif written.records == "workbook":
        batches = workbook_batches(file, written, list(kinds))
    else:
        batches = record_batches(file, written.records, kinds, problems)
    for batch in batches:
        yield batch, False, False
