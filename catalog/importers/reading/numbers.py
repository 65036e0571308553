"""Reads tables of numbers in compiled blocks, and line by line where a block is unusual."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import Progress
from catalog.importers.problems import Problems
from catalog.importers.reading.tables import LONGEST_LINE, WHITE, Kind, Stretches, Table, Written
from catalog.importers.reading.texts import is_wide
from catalog.importers.sources import SourceFile

BLOCK = 1 << 20  # bytes: what a processor keeps at hand, and no less than the longest line
THREADS = 2
_Columns = dict[str, NDArray[Any]]
_WHOLE, _NUMBER, _ID = 1, 0, 2  # as the compiled reader knows them
_TYPES: dict[Kind, type[Any]] = {"number": np.float32, "time": np.int64}  # at first; times are kept in 64 bits
_CODES: dict[Kind, int] = {"whole": _WHOLE, "time": _WHOLE, "number": _NUMBER, "id": _ID}


class _Growing:
    """Columns that several threads write blocks into, each at its own rows.

    Joining blocks at the end would copy every value again. A caller that enlarges or widens the columns waits until no
    thread writes.
    """

    def __init__(self, kinds: Mapping[str, Kind], n_rows: int) -> None:
        self._columns: _Columns = {
            name: np.empty(n_rows, dtype=_TYPES.get(kind, np.int32)) for name, kind in kinds.items()
        }
        self._room = n_rows
        self._pieces: list[tuple[int, int]] = []  # first row of each block, and how many it has
        self.is_narrow = True  # as every column is until a value needs more than 32 bits

    def has_room(self, end: int) -> bool:
        """Whether the columns have at least `end` rows."""
        return end <= self._room

    def enlarge(self, end: int) -> None:
        """Enlarge the columns to at least `end` rows."""
        self._room = end + end // 2
        for column in self._columns.values():
            column.resize(self._room, refcheck=False)  # no other reference exists

    def write(self, first: int, columns: _Columns) -> bool:
        """Write a block's rows; False, and nothing is written, where a column is too narrow for them."""
        if any(column.dtype.itemsize > self._columns[name].dtype.itemsize for name, column in columns.items()):
            return False
        for name, column in columns.items():
            self._columns[name][first : first + len(column)] = column
        return True

    def widen(self, columns: _Columns) -> None:
        """Widen columns to hold those of a block."""
        for name, column in columns.items():
            if column.dtype.itemsize > self._columns[name].dtype.itemsize:
                self._columns[name] = self._columns[name].astype(column.dtype)
                self.is_narrow = False

    def keep(self, first: int, n_rows: int) -> None:
        """Count the rows of a written block."""
        self._pieces.append((first, n_rows))

    def take(self) -> _Columns:
        """The columns of all rows kept, without gaps for rows that were left out."""
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
    """A block that a thread reads; it writes rows from `first` on."""

    block: bytearray
    n_lines: int
    first: int
    parsed: Future[_Columns | None]


def is_for_blocks(written: Written, kinds: Mapping[str, Kind]) -> bool:
    """Whether every column is read and can consist of digits, and lines are as the compiled reader knows them."""
    return (
        written.records == "table"
        and not (written.is_cr or written.comment or written.escape or written.time_format)
        and written.decimal != written.delimiter
        and written.delimiter != WHITE
        and not is_wide(written.encoding)
        and all(kinds.get(name, "text") in _CODES for name in written.columns)
    )


def read_blocks(
    file: SourceFile,
    written: Written,
    kinds: Mapping[str, Kind],
    problems: Problems,
    read_rows: Callable[..., tuple[_Columns, NDArray[np.int64], int]],
    progress: Progress | None,
) -> Table | None:
    """The file's columns; None where blocks cannot be read separately because rows may span lines or ids may be text.

    A block that the compiled reader does not take is read by `read_rows`, which gets the block, its first line, whether
    it is the last and the problems, and returns the columns, the lines and the number of rows read. Raises
    ImportRefused when the file is empty, has no row, is damaged or is not a table.
    """
    from catalog.importers.kernels.numbers import parse_numbers

    has_text = not {"whole", "number"}.issuperset(kinds.values())
    problems_found = Problems()  # merged at the end, as a file that is abandoned is read again
    positions: list[tuple[int, Stretches | int, str]] = []
    rows, lines_before, sent = 0, written.lines_before, 0
    growing: _Growing | None = None
    with file.open() as (stream, watch), ThreadPoolExecutor(THREADS) as threads:
        for _ in range(written.lines_before):
            stream.readline(LONGEST_LINE)
        waiting: deque[_Sent] = deque()
        blocks = whole_lines(stream)
        is_read = False
        while waiting or not is_read:
            block = None if is_read else next(blocks, None)
            is_read = block is None
            if block is not None:
                if written.has_quotes and b'"' in block:
                    return None
                n_lines = _n_lines(block)
                if growing is None:
                    growing = _Growing(kinds, _rows_expected(file.n_bytes, len(block), n_lines))
                if not growing.has_room(sent + n_lines):
                    wait([block_sent.parsed for block_sent in waiting])
                    growing.enlarge(sent + n_lines)
                parsed = threads.submit(_read, parse_numbers, block, n_lines, written, kinds, growing, sent)
                waiting.append(_Sent(block, n_lines, sent, parsed))
                sent += n_lines
                if len(waiting) <= 2 * THREADS:
                    continue
            if waiting and growing is not None:
                block_sent = waiting.popleft()
                columns = block_sent.parsed.result()
                lines: Stretches | int = lines_before + 1
                n_kept = n_rows = block_sent.n_lines
                if columns is None and has_text:
                    return None
                if columns is None:
                    is_last = is_read and not waiting
                    rows_read, lines_read, n_rows = read_rows(
                        bytes(block_sent.block), lines_before + 1, is_last, problems_found
                    )
                    columns = {name: narrow(column) for name, column in rows_read.items()}
                    n_kept, lines = len(lines_read), Stretches.of(lines_read)
                rows += n_rows
                if columns and not growing.write(block_sent.first, columns):
                    wait([block_sent.parsed for block_sent in waiting])
                    growing.widen(columns)
                    growing.write(block_sent.first, columns)
                growing.keep(block_sent.first, n_kept)
                positions.append((n_kept, lines, ""))
                lines_before += block_sent.n_lines
                if progress is not None:
                    progress(file.name, rows)
        ends_open = watch.bytes_read > 0 and watch.last_byte != b"\n"
    if rows == 0 or growing is None:
        return None
    problems.merge(problems_found)
    is_whole = all(isinstance(lines, int) for _, lines, _ in positions)
    return Table(
        columns=growing.take(),
        lines=1 + written.lines_before if is_whole else Stretches.joined(positions),
        rows_read=rows,
        ends_open=ends_open,
    )


def _rows_expected(n_bytes: int, block_bytes: int, block_rows: int) -> int:
    """An estimate of the rows of a file from its first block, slightly too high.

    Memory that is allocated but never written costs nothing.
    """
    return max(block_rows, int(n_bytes / block_bytes * block_rows * 1.02))


def _n_lines(block: bytearray) -> int:
    """The number of lines in a block, including a last one without a line end."""
    ends = np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
    return int(ends) + (not block.endswith(b"\n"))


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


def _read(
    parse: Any,
    block: bytearray,
    n_lines: int,
    written: Written,
    kinds: Mapping[str, Kind],
    growing: _Growing,
    first: int,
) -> _Columns | None:
    """A block's columns by the compiled reader; an empty dict if they have been written already.

    None if something in the block is unusual.
    """
    columns = None
    if growing.is_narrow:
        columns = _columns_of(parse, block, n_lines, written, kinds, np.int32, np.float32)
    if columns is None:
        columns = _columns_of(parse, block, n_lines, written, kinds, np.int64, np.float64)
        columns = None if columns is None else {name: narrow(column) for name, column in columns.items()}
    return {} if columns is not None and growing.write(first, columns) else columns


def _columns_of(
    parse: Any,
    block: bytearray,
    n_lines: int,
    written: Written,
    kinds: Mapping[str, Kind],
    whole: type[Any],
    number: type[Any],
) -> _Columns | None:
    """A block's columns in these types; None where a value has no room in them, or something is unusual."""
    if not block.endswith(b"\n"):
        return None
    data = np.frombuffer(block, dtype=np.uint8)
    data.flags.writeable = False
    codes = np.array([_CODES[kinds[name]] for name in written.columns], dtype=np.uint8)
    is_number = codes == _NUMBER
    wholes = np.empty((int((~is_number).sum()), n_lines), dtype=whole)
    numbers = np.empty((int(is_number.sum()), n_lines), dtype=number)
    delimiter = np.frombuffer(written.delimiter.encode(), dtype=np.uint8)
    if parse(data, codes, delimiter, np.uint8(ord(written.decimal)), wholes, numbers) != n_lines:
        return None
    of_wholes, of_numbers = iter(wholes), iter(numbers)
    return {
        name: next(of_numbers if kind == _NUMBER else of_wholes)
        for name, kind in zip(written.columns, codes, strict=True)
    }


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
