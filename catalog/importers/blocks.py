"""Lines of nothing but numbers as columns: in compiled blocks, and by line where a block is unusual."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from catalog.importers import lazy
from catalog.importers.base import Progress
from catalog.importers.layout import LONGEST_LINE, Layout, Stretches, Table
from catalog.importers.lines import TYPES, read_part
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile, refuse

BLOCK = 1 << 22  # bytes; at least the longest line
THREADS = 2
_Columns = dict[str, NDArray[Any]]


def read_blocks(file: SourceFile, layout: Layout, problems: Problems, progress: Progress | None) -> Table | None:
    """The file's columns; None where a quotation mark might join lines, so that no block stands alone.

    The problems, and the rows kept, are those of reading the whole file by line.

    Raises
    ------
    ImportRefused
        The file is empty, has no row, is damaged or is no table.
    """
    parse = lazy.number_kernels().parse_numbers
    found = Problems()  # merged at the end: a file that is given up is read again
    parts: list[Table] = []
    rows, ends_open = 0, False
    lines_before = 0
    with file.open() as (stream, watch), ThreadPoolExecutor(THREADS) as threads:
        if layout.has_header:
            stream.readline(LONGEST_LINE)
            lines_before = 1
        waiting: deque[tuple[bytes, Future[_Columns | None]]] = deque()
        blocks = whole_lines(stream)
        is_read = False
        while waiting or not is_read:
            block = None if is_read else next(blocks, None)
            is_read = block is None
            if block is not None:
                if layout.has_quotes and b'"' in block:
                    return None
                waiting.append((block, threads.submit(_columns_of, parse, block, layout)))
                if len(waiting) <= THREADS:
                    continue
            if waiting:
                block, parsed = waiting.popleft()
                part = _table(parsed.result(), block, file.name, layout, found, lines_before)
                parts.append(part)
                rows += part.rows_read
                ends_open = part.ends_open
                lines_before += block.count(b"\n")
                if progress is not None:
                    progress(file.name, rows)
        if watch.bytes_read == 0:
            raise refuse(file.name, "the file is empty", line=1)
    if rows == 0:
        raise refuse(file.name, "there is no row after the header", line=2)
    problems.merge(found)
    is_swept = all(part.is_swept for part in parts)
    by_part = [(len(part), part.lines, "") for part in parts]
    return Table(
        columns=joined_columns(layout, [part.columns for part in parts]),
        lines=1 + layout.has_header if is_swept else Stretches.joined(by_part),
        is_swept=is_swept,
        rows_read=rows,
        ends_open=ends_open,
    )


def whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The rest of a stream in blocks that end with a line, except the last, or one with a line beyond all bounds."""
    rest = b""
    while block := stream.read(BLOCK):
        end = block.rfind(b"\n") + 1
        if end:
            yield rest + block[:end]
            rest = block[end:]
        else:
            rest += block
            if len(rest) >= LONGEST_LINE:
                break
    if rest:
        yield rest


def _columns_of(parse: Any, block: bytes, layout: Layout) -> _Columns | None:
    """A block's columns by the compiled reader; None where something in it is unusual."""
    data = np.frombuffer(block, dtype=np.uint8)
    n_rows = block.count(b"\n")
    is_whole = np.array([layout.kinds[name] == "whole" for name in layout.columns], dtype=np.uint8)
    wholes = np.empty((int(is_whole.sum()), n_rows), dtype=np.int64)
    numbers = np.empty((len(is_whole) - len(wholes), n_rows), dtype=np.float64)
    if not block.endswith(b"\n"):
        return None
    if parse(data, is_whole, np.frombuffer(layout.delimiter.encode(), dtype=np.uint8), wholes, numbers) != n_rows:
        return None
    of_wholes, of_numbers = iter(wholes), iter(numbers)
    return {name: narrow(next(of_wholes if layout.kinds[name] == "whole" else of_numbers)) for name in layout.columns}


def _table(
    columns: _Columns | None, block: bytes, file: str, layout: Layout, problems: Problems, lines_before: int
) -> Table:
    if columns is None:
        return read_part(io.BytesIO(block), file, layout, problems, lines_before=lines_before)
    return Table(columns, lines_before + 1, is_swept=True, rows_read=len(next(iter(columns.values()))), ends_open=False)


def joined_columns(layout: Layout, parts: list[_Columns]) -> _Columns:
    """Columns of blocks set one under the other; the parts are given up as they are joined."""
    joined = {}
    for name, kind in layout.kinds.items():
        columns = [part.pop(name) for part in parts]
        filled = [column for column in columns if len(column)]  # an empty one would widen the others
        joined[name] = np.concatenate(filled) if filled else np.empty(0, dtype=TYPES.get(kind, object))
    return joined


def narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Numbers in 32 bits where that loses nothing, as half the memory is half the time to join blocks.

    Examples
    --------
    >>> narrow(np.array([1, 2])).dtype, narrow(np.array([1, 2**40])).dtype, narrow(np.array([0.1])).dtype
    (dtype('int32'), dtype('int64'), dtype('float64'))
    """
    if not len(numbers):
        return numbers
    if numbers.dtype.kind == "f":
        short = numbers.astype(np.float32)
        return short if (short == numbers).all() else numbers
    span = np.iinfo(np.int32)
    return numbers.astype(np.int32) if numbers.min() >= span.min and numbers.max() <= span.max else numbers
