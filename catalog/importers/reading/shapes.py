"""Reads files whose rows are no list of ratings, as one: headed sections, baskets, and matrices."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from catalog.importers.base import ImportProblem
from catalog.importers.problems import Problems
from catalog.importers.reading.tables import WHITE, Batch, Kind, Written, shown
from catalog.importers.reading.texts import record_blocks, text_batches
from catalog.importers.sources import refuse

HEADING = re.compile(rb"(?m)^[ \t]*(\d{1,18}):[ \t]*\r?\n?")
_MOST_ITEM = 10**18


def section_batches(
    chunks: Iterable[bytes], file: str, written: Written, kinds: Mapping[str, Kind], problems: Problems
) -> Iterator[Batch]:
    """The rows below headings ("12:"), with the heading of each as the first column."""
    heading: int | None = None
    of_headings, *below = kinds
    rows_of = Written(written.columns[1:], delimiter=written.delimiter, encoding=written.encoding)
    for block, line, _ in record_blocks(chunks, file, written):
        headings = list(HEADING.finditer(block))
        lines = np.array([line + block.count(b"\n", 0, each.start()) for each in headings], dtype=np.int64)
        numbers = np.array([int(each[1]) for each in headings], dtype=np.int64)
        # Headings become empty lines, which are no rows, so that every row keeps its line.
        bare = HEADING.sub(b"\n", block)
        for batch in text_batches(
            [bare],
            file,
            replace(rows_of, lines_before=line - 1),
            {name: kinds[name] for name in below},
            problems,
        ):
            at = np.searchsorted(lines, batch.lines) - 1
            if heading is None and len(at) and at[0] < 0:
                first = int(batch.lines[0])
                problems.add("no heading", ImportProblem(file, first, None, "no heading comes before this line"))
                is_headed = at >= 0
                columns = {name: column.filter(is_headed) for name, column in batch.columns.items()}
                batch, at = Batch(columns, batch.lines[is_headed], batch.rows_read), at[is_headed]
            of_row = np.where(at < 0, heading or 0, numbers[np.maximum(at, 0)] if len(numbers) else heading or 0)
            yield Batch({of_headings: of_row.astype(np.int64), **batch.columns}, batch.lines, batch.rows_read)
        heading = int(numbers[-1]) if len(numbers) else heading


def basket_batches(
    chunks: Iterable[bytes], file: str, written: Written, kinds: Mapping[str, Kind], problems: Problems
) -> Iterator[Batch]:
    """A row for each item of a line: its user (by default the line's number) and the item, both whole numbers."""
    lines_of, items_of = kinds
    is_empty = True
    for block, line, _ in record_blocks(chunks, file, written):
        users, items, lines = array("q"), array("q"), array("q")
        n_bad = 0
        for number, raw in enumerate(block.split(b"\n"), start=line):
            fields = raw.split(None if written.delimiter in (WHITE, " ") else written.delimiter.encode())
            owner = number
            if fields and written.first:
                reason = _misfit(fields, written.first)
                if reason:
                    n_bad += 1
                    problems.add("not a number", ImportProblem(file, number, lines_of, reason))
                    continue
                owner = int(fields[0]) if written.first == "user" else number
                fields = fields[1:]
            for field in fields:
                text = field.strip().decode("latin-1")
                if not (text.removeprefix("-").isdecimal() and text.isascii() and abs(int(text[:20])) < _MOST_ITEM):
                    n_bad += 1
                    reason = f"{shown(text)} is not a whole number"
                    problems.add("not a number", ImportProblem(file, number, items_of, reason))
                    continue
                users.append(owner)
                items.append(int(text))
                lines.append(number)
        is_empty = is_empty and not len(lines) and not n_bad
        columns = {lines_of: np.array(users, dtype=np.int64), items_of: np.array(items, dtype=np.int64)}
        yield Batch(columns, np.array(lines, dtype=np.int64), len(lines) + n_bad)
    if is_empty:
        raise refuse(file, "no line has an item", line=1)


def _misfit(fields: Sequence[bytes], first: str) -> str:
    """Why a line does not begin with its user, or with the count of its items; empty where it does."""
    begin = fields[0].decode("latin-1")
    if not (begin.isascii() and begin.isdecimal() and int(begin[:20]) < _MOST_ITEM):
        return f"{shown(begin)} is not a whole number"
    if first == "count" and int(begin) != len(fields) - 1:
        return f"the line begins with the count {begin} and has {len(fields) - 1:,} items"
    return ""


def matrix_batches(
    chunks: Iterable[bytes], file: str, written: Written, kinds: Mapping[str, Kind], problems: Problems
) -> Iterator[Batch]:
    """A row for each filled cell: its row (by number, or by the first field), its column's name, and its value."""
    import pyarrow as pa

    names = np.array(written.columns[bool(written.first) :], dtype=object)
    fields = tuple(f"\0{at}" for at in range(len(written.columns)))
    cells = Written(fields, delimiter=written.delimiter, encoding=written.encoding, lines_before=written.lines_before)
    for batch in text_batches(chunks, file, cells, dict.fromkeys(fields, "text"), problems):
        columns = [np.array(batch.columns[name].to_pylist(), dtype=object) for name in fields]
        rows = batch.lines - written.lines_before
        owners = columns[0] if written.first == "user" else np.array(list(map(str, rows.tolist())), dtype=object)
        grid = np.stack(columns[bool(written.first) :], axis=1)
        filled = np.array([bool(text.strip()) for text in grid.ravel().tolist()], dtype=np.bool_).reshape(grid.shape)
        row, column = np.nonzero(filled)
        texts = (owners[row], names[column], grid[row, column])
        arrays = {name: pa.array(values.tolist(), pa.string()) for name, values in zip(kinds, texts, strict=True)}
        yield Batch(arrays, batch.lines[row], len(row))
