"""Lines of nothing but digits as columns: in compiled blocks, and by line where a block is unusual."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
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
_TYPES: dict[Kind, type[Any]] = {"number": np.float32, "time": np.int64}  # at first; times are kept in 64 bits
_CODES: dict[Kind, int] = {"whole": _WHOLE, "time": _WHOLE, "number": _NUMBER, "id": _ID}


class _Growing:
    """Columns that blocks are written into from several threads, each at rows of its own.

    To join blocks at the end would touch every value again. Whoever makes room or widens a column sees to it that
    nobody writes meanwhile.
    """

    def __init__(self, kinds: Mapping[str, Kind], n_rows: int) -> None:
        self._columns: _Columns = {
            name: np.empty(n_rows, dtype=_TYPES.get(kind, np.int32)) for name, kind in kinds.items()
        }
        self._room = n_rows
        self._pieces: list[tuple[int, int]] = []  # first row of each block, and how many it has
        self.is_narrow = True  # as every column is until a value needs more than 32 bits

    def has_room(self, end: int) -> bool:
        """Whether there are as many rows as this."""
        return end <= self._room

    def make_room(self, end: int) -> None:
        """Have at least as many rows as this."""
        self._room = end + end // 2
        for column in self._columns.values():
            column.resize(self._room, refcheck=False)  # nobody else holds it

    def write(self, first: int, columns: _Columns) -> bool:
        """Write a block's rows; False, and nothing is written, where a column is too narrow for them."""
        if any(column.dtype.itemsize > self._columns[name].dtype.itemsize for name, column in columns.items()):
            return False
        for name, column in columns.items():
            self._columns[name][first : first + len(column)] = column
        return True

    def widen(self, columns: _Columns) -> None:
        """Make columns wide enough for those of a block."""
        for name, column in columns.items():
            if column.dtype.itemsize > self._columns[name].dtype.itemsize:
                self._columns[name] = self._columns[name].astype(column.dtype)
                self.is_narrow = False

    def keep(self, first: int, n_rows: int) -> None:
        """Count rows that have been written, block after block."""
        self._pieces.append((first, n_rows))

    def take(self) -> _Columns:
        """The columns of all rows kept, without the gaps that rows left out have made."""
        n_rows = 0
        for first, n in self._pieces:
            if first != n_rows:
                for column in self._columns.values():
                    column[n_rows : n_rows + n] = column[first : first + n]
            n_rows += n
        for column in self._columns.values():
            column.resize(n_rows, refcheck=False)
        return self._columns


@dataclass(frozen=True, slots=True)
class _Sent:
    """A block that a thread reads: the rows it may write are those from `first` on."""

    block: bytearray
    n_lines: int
    first: int
    parsed: Future[_Columns | None]


def is_for_blocks(layout: Layout) -> bool:
    """Whether every column is read, and may well hold nothing but digits; decimals need a character of their own."""
    return layout.decimal != layout.delimiter and all(
        layout.kinds.get(name, "text") in _CODES for name in layout.columns
    )


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
    places: list[tuple[int, Stretches | int, str]] = []
    rows, ends_open, is_swept = 0, False, True
    lines_before, sent = 0, 0
    growing: _Growing | None = None
    with file.open() as (stream, watch), ThreadPoolExecutor(THREADS) as threads:
        if layout.has_header:
            stream.readline(LONGEST_LINE)
            lines_before = 1
        waiting: deque[_Sent] = deque()
        blocks = whole_lines(stream)
        is_read = False
        while waiting or not is_read:
            block = None if is_read else next(blocks, None)
            is_read = block is None
            if block is not None:
                if layout.has_quotes and b'"' in block:
                    return None
                n_lines = _n_lines(block)
                if growing is None:
                    growing = _Growing(layout.kinds, _rows_expected(file.n_bytes, len(block), n_lines))
                if not growing.has_room(sent + n_lines):
                    wait([one.parsed for one in waiting])
                    growing.make_room(sent + n_lines)
                parsed = threads.submit(_read, parse, block, n_lines, layout, growing, sent)
                waiting.append(_Sent(block, n_lines, sent, parsed))
                sent += n_lines
                if len(waiting) <= 2 * THREADS:
                    continue
            if waiting and growing is not None:
                one = waiting.popleft()
                columns = one.parsed.result()
                if columns is None and is_strict:
                    return None
                if columns is None:
                    part = read_part(io.BytesIO(one.block), file.name, layout, found, lines_before=lines_before)
                    columns = {name: narrow(column) for name, column in part.columns.items()}
                    n_kept, lines = len(part), part.lines
                    rows += part.rows_read
                    ends_open, is_swept = part.ends_open, False
                else:
                    n_kept, lines = one.n_lines, lines_before + 1
                    rows += n_kept
                    ends_open = False
                if columns and not growing.write(one.first, columns):
                    wait([other.parsed for other in waiting])
                    growing.widen(columns)
                    growing.write(one.first, columns)
                growing.keep(one.first, n_kept)
                places.append((n_kept, lines, ""))
                lines_before += one.n_lines
                if progress is not None:
                    progress(file.name, rows)
        if watch.bytes_read == 0:
            raise refuse(file.name, "the file is empty", line=1)
    if rows == 0 or growing is None:
        raise refuse(file.name, "there is no row after the header", line=2)
    problems.merge(found)
    return Table(
        columns=growing.take(),
        lines=1 + layout.has_header if is_swept else Stretches.joined(places),
        is_swept=is_swept,
        rows_read=rows,
        ends_open=ends_open,
    )


def _rows_expected(n_bytes: int, block_bytes: int, block_rows: int) -> int:
    """The rows of a file whose first block has so many, and a few more; lines grow longer as numbers do.

    Memory that is asked for and never written is never taken.
    """
    return max(block_rows, int(n_bytes / block_bytes * block_rows * 1.02))


def _n_lines(block: bytearray) -> int:
    """The lines of a block, with one that has no end."""
    ends = np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
    return int(ends) + (not block.endswith(b"\n"))


def whole_lines(stream: BinaryIO) -> Iterator[bytearray]:
    """The rest of a stream in blocks that end with a line, except the last, or one with a line beyond all bounds."""
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


def _read(parse: Any, block: bytearray, n_lines: int, layout: Layout, growing: _Growing, first: int) -> _Columns | None:
    """A block's columns by the compiled reader, or none of them where they have been written.

    None where something in the block is unusual.
    """
    columns = None
    if growing.is_narrow:
        columns = _columns_of(parse, block, n_lines, layout, np.int32, np.float32)
    if columns is None:
        columns = _columns_of(parse, block, n_lines, layout, np.int64, np.float64)
        columns = None if columns is None else {name: narrow(column) for name, column in columns.items()}
    return {} if columns is not None and growing.write(first, columns) else columns


def _columns_of(
    parse: Any, block: bytearray, n_lines: int, layout: Layout, whole: type[Any], number: type[Any]
) -> _Columns | None:
    """A block's columns in these types; None where a value has no room in them, or something is unusual."""
    if not block.endswith(b"\n"):
        return None
    data = np.frombuffer(block, dtype=np.uint8)
    data.flags.writeable = False
    codes = np.array([_CODES[layout.kinds[name]] for name in layout.columns], dtype=np.uint8)
    is_number = codes == _NUMBER
    wholes = np.empty((int((~is_number).sum()), n_lines), dtype=whole)
    numbers = np.empty((int(is_number.sum()), n_lines), dtype=number)
    delimiter = np.frombuffer(layout.delimiter.encode(), dtype=np.uint8)
    if parse(data, codes, delimiter, np.uint8(ord(layout.decimal)), wholes, numbers) != n_lines:
        return None
    of_wholes, of_numbers = iter(wholes), iter(numbers)
    return {
        name: next(of_numbers if kind == _NUMBER else of_wholes)
        for name, kind in zip(layout.columns, codes, strict=True)
    }


def narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Numbers in 32 bits where that loses nothing, as half the memory is half the time to join blocks.

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
