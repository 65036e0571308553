"""Lines of nothing but digits as columns: in compiled blocks, and by line where a block is unusual."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from catalog.importers import lazy
from catalog.importers.base import Progress
from catalog.importers.layout import LONGEST_LINE, Kind, Layout, Stretches, Table
from catalog.importers.lines import read_part
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile, refuse

BLOCK = 1 << 20  # bytes: what a processor keeps at hand, and no less than the longest line
THREADS = 2
_Columns = dict[str, NDArray[Any]]
_WHOLE, _NUMBER, _ID = 1, 0, 2  # as the compiled reader knows them
_CODES: dict[Kind, int] = {"whole": _WHOLE, "time": _WHOLE, "number": _NUMBER, "id": _ID}


class _Growing:
    """Columns that blocks are added to, grown in place: joining blocks at the end would touch every value again."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self._columns: _Columns = {
            name: np.empty(0, dtype=np.float32 if kind == "number" else np.int32) for name, kind in kinds.items()
        }
        self._n_rows = 0

    def add(self, columns: _Columns) -> None:
        """Add the rows of a block."""
        n_rows = len(next(iter(columns.values())))
        end = self._n_rows + n_rows
        for name, column in columns.items():
            if n_rows and column.dtype.itemsize > self._columns[name].dtype.itemsize:
                self._columns[name] = self._columns[name].astype(column.dtype)
            if end > len(self._columns[name]):
                self._columns[name].resize(end + end // 4, refcheck=False)  # nobody else holds it
            self._columns[name][self._n_rows : end] = column
        self._n_rows = end

    def take(self) -> _Columns:
        """The columns, cut to their rows."""
        for column in self._columns.values():
            column.resize(self._n_rows, refcheck=False)
        return self._columns


def is_for_blocks(layout: Layout) -> bool:
    """Whether every column is read, and may well hold nothing but digits."""
    return all(layout.kinds.get(name, "text") in _CODES for name in layout.columns)


def read_blocks(file: SourceFile, layout: Layout, problems: Problems, progress: Progress | None) -> Table | None:
    """The file's columns; None where blocks cannot be taken one by one, because lines may go together or ids be text.

    The problems, and the rows kept, are those of reading the whole file by line.

    Raises
    ------
    ImportRefused
        The file is empty, has no row, is damaged or is no table.
    """
    parse = lazy.number_kernels().parse_numbers
    is_strict = layout.has_free_text
    found = Problems()  # merged at the end: a file that is given up is read again
    growing = _Growing(layout.kinds)
    places: list[tuple[int, Stretches | int, str]] = []
    rows, ends_open, is_swept = 0, False, True
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
                if len(waiting) <= 2 * THREADS:
                    continue
            if waiting:
                block, parsed = waiting.popleft()
                columns = parsed.result()
                if columns is None and is_strict:
                    return None
                part = _table(columns, block, file.name, layout, found, lines_before)
                growing.add(part.columns)
                places.append((len(part), part.lines, ""))
                is_swept &= part.is_swept
                rows += part.rows_read
                ends_open = part.ends_open
                lines_before += part.rows_read if part.is_swept else block.count(b"\n")
                if progress is not None:
                    progress(file.name, rows)
        if watch.bytes_read == 0:
            raise refuse(file.name, "the file is empty", line=1)
    if rows == 0:
        raise refuse(file.name, "there is no row after the header", line=2)
    problems.merge(found)
    return Table(
        columns=growing.take(),
        lines=1 + layout.has_header if is_swept else Stretches.joined(places),
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
            yield b"".join((rest, memoryview(block)[:end]))
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
    codes = np.array([_CODES[layout.kinds[name]] for name in layout.columns], dtype=np.uint8)
    is_number = codes == _NUMBER
    wholes = np.empty((int((~is_number).sum()), n_rows), dtype=np.int64)
    numbers = np.empty((int(is_number.sum()), n_rows), dtype=np.float64)
    if not block.endswith(b"\n"):
        return None
    if parse(data, codes, np.frombuffer(layout.delimiter.encode(), dtype=np.uint8), wholes, numbers) != n_rows:
        return None
    of_wholes, of_numbers = iter(wholes), iter(numbers)
    return {
        name: narrow(next(of_numbers if kind == _NUMBER else of_wholes))
        for name, kind in zip(layout.columns, codes, strict=True)
    }


def _table(
    columns: _Columns | None, block: bytes, file: str, layout: Layout, problems: Problems, lines_before: int
) -> Table:
    if columns is None:
        return read_part(io.BytesIO(block), file, layout, problems, lines_before=lines_before)
    n_rows = len(next(iter(columns.values())))
    return Table(columns, lines_before + 1, is_swept=True, rows_read=n_rows, ends_open=False)


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
