"""Reads delimited text in blocks with Apache Arrow, and line by line where a block is unusual.

Arrow cannot say where a file is wrong, and takes some spellings that a table does not mean ("0x1F"). A block that it
rejects, or that may hold such a thing, is read again line by line: that names every line that cannot be read, and
returns the columns of the others.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import Progress
from catalog.importers.ids import is_plain
from catalog.importers.layout import LONGEST_LINE, Kind, Layout, Stretches, Table
from catalog.importers.line_reader import read_part
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile

BLOCK = 1 << 24  # bytes, no less than the longest line
ARROW_BLOCK = 1 << 20  # bytes that one of Arrow's threads parses at a time
_MOST_DIGITS = 18  # any such id fits 64 bits


class _Ids:
    """A column of ids that grows by a block at a time: a code per row, and the text of each code."""

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}
        self._codes: list[NDArray[np.int32]] = []

    def add(self, texts: list[str], positions: NDArray[np.integer[Any]]) -> None:
        """Add rows by their positions in `texts`."""
        codes = [self._code_of.setdefault(text, len(self._code_of)) for text in texts]
        self._codes.append(np.array(codes, dtype=np.int32)[positions])

    def column(self, *, as_numbers: bool) -> NDArray[Any]:
        """The ids of all rows: whole numbers if asked for and each is spelled plainly, else objects."""
        texts: NDArray[Any] = np.array(list(self._code_of), dtype=object)
        if as_numbers and all(is_plain(text) and len(text) <= _MOST_DIGITS for text in self._code_of):
            texts = narrow(texts.astype(np.int64))
        return texts[np.concatenate(self._codes)]


class _Columns:
    """The columns of a layout, which grow by a block at a time."""

    def __init__(self, layout: Layout) -> None:
        self._kinds = layout.kinds
        self._has_text = "text" in {layout.kinds.get(name, "text") for name in layout.columns}
        self._ids = {name: _Ids() for name, kind in layout.kinds.items() if kind == "id"}
        self._parts: dict[str, list[NDArray[Any]]] = {name: [] for name in layout.kinds if name not in self._ids}

    def add(self, columns: dict[str, Any]) -> None:
        """Add a block's rows; ids as texts and positions, or as objects."""
        for name, column in columns.items():
            if name not in self._ids:
                self._parts[name].append(column if column.dtype == object else narrow(column))
            elif isinstance(column, tuple):
                self._ids[name].add(*column)
            else:
                self._ids[name].add(column.tolist(), np.arange(len(column)))

    def joined(self) -> dict[str, NDArray[Any]]:
        """The columns of all blocks; their parts are used up."""
        return {
            name: self._ids.pop(name).column(as_numbers=not self._has_text)
            if name in self._ids
            else np.concatenate(self._parts.pop(name))
            for name in self._kinds
        }


def read_bulk(file: SourceFile, layout: Layout, problems: Problems, progress: Progress | None) -> Table | None:
    """The file's columns; None where rows may span lines, or there are none, so that it has to be read by line.

    The problems, and the rows kept, are those of reading the whole file by line. Raises ImportRefused when the file is
    damaged or is no table.
    """
    problems_found = Problems()  # merged at the end, as a file that is abandoned is read again
    positions: list[tuple[int, Stretches | int, str]] = []
    columns = _Columns(layout)
    rows, lines_before = 0, int(layout.has_header)
    ends_open, is_bulk_read = False, True
    with file.open() as (stream, _):
        if layout.has_header:
            stream.readline(LONGEST_LINE)
        for block in whole_lines(stream):
            has_quotes = layout.has_quotes and b'"' in block
            n_lines = block.count(b"\n") + (not block.endswith(b"\n"))
            parsed = None
            if layout.has_free_text or not has_quotes:
                parsed = _parsed(block, n_lines, layout)
            if parsed is not None:
                columns.add(parsed)
                positions.append((n_lines, lines_before + 1, ""))
                rows += n_lines
                ends_open = not block.endswith(b"\n")
            elif has_quotes:
                return None
            else:
                part = read_part(io.BytesIO(block), file.name, layout, problems_found, lines_before=lines_before)
                columns.add(part.columns)
                positions.append((len(part), part.lines, ""))
                rows += part.rows_read
                ends_open, is_bulk_read = part.ends_open, False
            lines_before += n_lines
            if progress is not None:
                progress(file.name, rows)
    if rows == 0:
        return None
    problems.merge(problems_found)
    return Table(
        columns=columns.joined(),
        lines=1 + layout.has_header if is_bulk_read else Stretches.joined(positions),
        is_bulk_read=is_bulk_read,
        rows_read=rows,
        ends_open=ends_open,
    )


def whole_lines(stream: BinaryIO) -> Iterator[bytearray]:
    """The rest of a stream in blocks of whole lines; the last block, or an excessively long line, may lack its end."""
    rest = bytearray()
    while True:
        block = bytearray(len(rest) + BLOCK)
        block[: len(rest)] = rest
        room = memoryview(block)[len(rest) :]
        end = len(rest) + stream.readinto(room)  # type: ignore[attr-defined]  # every buffered stream has it
        room.release()
        is_over = end == len(rest)
        del block[end:]
        end = block.rfind(b"\n") + 1
        rest = block[end:]
        if is_over:
            break
        if end:
            del block[end:]
            yield block
        elif len(rest) >= LONGEST_LINE:
            break
    if rest:
        yield rest


def _parsed(block: bytearray, n_lines: int, layout: Layout) -> dict[str, Any] | None:
    """A block's columns by Arrow, ids as texts and positions in them; None if something in the block is unusual."""
    is_open = not block.endswith(b"\n")
    if (
        (is_open and (layout.needs_final_newline or len(block) >= LONGEST_LINE))
        or block.startswith(codecs.BOM_UTF8)
        or any(mark in block for mark in (b"\0", b"0x", b"0X"))
        or block.count(b"\r") != block.count(b"\r\n")  # Arrow ends a row at either
    ):
        return None
    table = None
    for times in ("int64", "string") if "time" in layout.kinds.values() else ("int64",):
        table = table or arrow_table(block, *_names_and_types(layout, times), layout=layout)
    if table is None or table.num_rows != n_lines:
        return None
    columns = {name: _column(table.column(name), kind) for name, kind in layout.kinds.items()}
    return None if any(column is None for column in columns.values()) else columns


def _names_and_types(layout: Layout, times: str) -> tuple[list[str], list[Any]]:
    """The names and Arrow types of all columns; columns that are not read, which are texts, count as fields only.

    Arrow takes delimiters of one character, so "::" is read as ":" with a column between that has to be empty.
    """
    import pyarrow as pa

    types = {
        "whole": pa.int64(),
        "number": pa.float64(),
        "time": pa.type_for_alias(times),
        "id": pa.dictionary(pa.int32(), pa.string()),
        "text": pa.string(),
    }
    gaps = len(layout.delimiter) - 1
    names: list[str] = []
    for index, name in enumerate(layout.columns):
        names += [f"\0{index}.{gap}" for gap in range(gaps)] * (index > 0) + [name]
    return names, [pa.null() if name.startswith("\0") else types[layout.kinds.get(name, "text")] for name in names]


def arrow_table(
    block: bytes | bytearray, names: list[str], types: list[Any], *, layout: Layout, skip_row: Any = None
) -> Any:
    """A block as an Arrow table; None where Arrow cannot read it. `skip_row` says "skip" or "error" of a row with other
    fields than columns, and has Arrow read row by row.
    """
    import pyarrow as pa
    from pyarrow import csv

    try:
        text = block if block.isascii() else block.decode(layout.encoding).encode()
        return csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(column_names=names, block_size=ARROW_BLOCK, use_threads=skip_row is None),
            csv.ParseOptions(
                delimiter=layout.delimiter[0],
                quote_char='"' if layout.has_quotes else False,
                invalid_row_handler=skip_row,
            ),
            csv.ConvertOptions(
                column_types=dict(zip(names, types, strict=True)), null_values=[""], decimal_point=layout.decimal
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None


def _column(column: Any, kind: Kind) -> Any:
    """A block's column in its final type, or as texts and positions for ids; None if a value is not of its kind."""
    if column.null_count:
        return None
    if kind == "id":
        ids = column.unify_dictionaries().combine_chunks()
        texts = [text.strip() for text in ids.dictionary.to_pylist()]
        return (texts, ids.indices.to_numpy()) if all(texts) else None
    values: NDArray[Any] = column.to_numpy()
    if kind == "text":
        return values
    if kind == "number":
        return values if np.isfinite(values).all() else None
    return values if values.dtype != object else _seconds(values)


def _seconds(texts: NDArray[Any]) -> NDArray[np.int64] | None:
    """Seconds since 1970 of ISO 8601 times; None if some text is no such time."""
    import pandas as pd

    try:
        times = pd.to_datetime(texts, format="ISO8601", utc=True)
    except (ValueError, OverflowError):
        return None
    seconds: NDArray[np.int64] = times.to_numpy(dtype="datetime64[s]").astype(np.int64)
    return None if times.hasnans else seconds


def narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Numbers in 32 bits where that loses nothing, which halves the memory and the time to join blocks.

    Examples
    --------
    >>> narrow(np.array([1, 2])).dtype, narrow(np.array([1, 2**40])).dtype, narrow(np.array([0.1])).dtype
    (dtype('int32'), dtype('int64'), dtype('float64'))
    """
    if numbers.dtype.kind == "f":
        short = numbers.astype(np.float32)
        return short if (short == numbers).all() else numbers
    span = np.iinfo(np.int32)
    if not len(numbers):
        return numbers.astype(np.int32)
    return numbers.astype(np.int32) if numbers.min() >= span.min and numbers.max() <= span.max else numbers
