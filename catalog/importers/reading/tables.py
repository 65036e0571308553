"""How a file is written, and the table that is read from it."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import ImportProblem

# What a column holds: "whole" numbers, "number"s, "time"s, "id"s (text, not empty, trimmed), "name"s (ids that may be
# empty), "text".
Kind = Literal["whole", "number", "time", "id", "name", "text"]
Records = Literal["table", "objects", "array", "dicts", "sections", "baskets", "matrix", "parquet", "workbook"]
WHITE = " +"  # the delimiter of fields parted by runs of white space
ROWS_AT_A_TIME = 1 << 18
LONGEST_LINE = 1 << 20  # bytes; a longer one is no line of a table


@dataclass(frozen=True, slots=True)
class Written:
    """How a file is written: what has to be known to read its rows."""

    # The names of all fields of a row, in order. Of "sections" the first is the heading's, of "baskets" they are the
    # line and the item, of "matrix" the row, the column and the value.
    columns: tuple[str, ...]
    records: Records = "table"
    delimiter: str = ","  # a character, or several ("::", without quoting); " +" for runs of white space
    encoding: str = "utf-8"
    has_quotes: bool = True  # whether a field may be quoted
    decimal: str = "."  # the character before the decimals of a number, "." or ","
    time_format: str = ""  # of times, as `strptime` takes it; empty: seconds (or finer) since 1970, or ISO 8601
    is_cr: bool = False  # whether lines end in CR alone
    lines_before: int = 0  # the header and other lines before the first row
    comment: str = ""  # what begins a line that is no row; empty: nothing does
    # The character that takes the next one's meaning away; empty: there is none.
    escape: str = ""
    sheet: str = ""  # of a workbook
    # Of baskets whether each line begins with their number of items or with their user; of a matrix whether each row
    # begins with its number of values or with its user.
    first: Literal["", "count", "user"] = ""
    is_rest: bool = False  # whether the last field has delimiters of its own
    needs_final_newline: bool = False  # whether a last line without a line end means that the file was cut short

    @property
    def codec(self) -> str:
        """The encoding, with leave for a byte-order mark where it is UTF-8."""
        name = codecs.lookup(self.encoding).name
        return "utf-8-sig" if name == "utf-8" else name


@dataclass(frozen=True, slots=True)
class Stretches:
    """The lines of a table's rows, as stretches of consecutive lines.

    Examples
    --------
    >>> stretches = Stretches.of(np.array([2, 3, 7]))
    >>> [stretches.line(row) for row in range(3)]
    [2, 3, 7]
    """

    starts: NDArray[np.int64]  # shape (n_stretches,); the first row of each stretch, ascending from 0
    first_lines: NDArray[np.int64]  # shape (n_stretches,); the line of that row
    files: tuple[str, ...] = ()  # the file of each stretch; empty where the table has one file

    @classmethod
    def of(cls, lines: NDArray[np.int64]) -> Stretches:
        """The stretches for a line number per row."""
        starts = np.flatnonzero(np.diff(lines, prepend=-1) != 1) if len(lines) else np.empty(0, dtype=np.int64)
        return cls(starts, lines[starts])

    @classmethod
    def joined(cls, parts: Sequence[tuple[int, Stretches, str]]) -> Stretches:
        """The stretches of concatenated tables: rows, lines and file of each."""
        starts, lines, files = [], [], []
        before = 0
        for n_rows, stretches, file in parts:
            if n_rows:
                starts.append(stretches.starts + before)
                lines.append(stretches.first_lines)
                files += [file] * len(stretches.starts)
                before += n_rows
        empty = [np.empty(0, dtype=np.int64)]
        return cls(np.concatenate(starts or empty), np.concatenate(lines or empty), tuple(files))

    def line(self, row: int) -> int:
        """The line of a row."""
        stretch = self._stretch_of(row)
        return int(self.first_lines[stretch] + row - self.starts[stretch])

    def file(self, row: int) -> str:
        """The file of a row; empty where the table has one file."""
        return self.files[self._stretch_of(row)] if self.files else ""

    def _stretch_of(self, row: int) -> int:
        return int(np.searchsorted(self.starts, row, side="right")) - 1


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of a file, of the rows that could be read."""

    # Shape (n_rows,); whole numbers for "whole" and "time" (32 or 64 bits), float64 for "number", object arrays of str
    # for the others.
    columns: dict[str, NDArray[Any]]
    lines: Stretches  # the physical line on which each row ends, from 1
    rows_read: int  # rows of the file, with those that could not be read
    name: str  # of its file, or of the first
    lacks_final_newline: bool  # whether the last line has no line end

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def problem(self, row: int, column: str | None, reason: str) -> ImportProblem:
        """What is wrong with a row."""
        return ImportProblem(self.lines.file(row) or self.name, self.lines.line(row), column, reason)

    def selected(self, is_kept: NDArray[np.bool_]) -> Table:
        """The table with some of its rows; they keep their lines."""
        if is_kept.all():
            return self
        rows = np.flatnonzero(is_kept)
        stretches = self.lines
        stretch = np.searchsorted(stretches.starts, rows, side="right") - 1
        lines = stretches.first_lines[stretch] + rows - stretches.starts[stretch]
        # A stretch ends where lines are left out, and where another began.
        starts = np.flatnonzero((np.diff(lines, prepend=-1) != 1) | (np.diff(stretch, prepend=-1) != 0))
        files = tuple(stretches.files[stretch[start]] for start in starts) if stretches.files else ()
        return replace(
            self,
            columns={name: column[is_kept] for name, column in self.columns.items()},
            lines=Stretches(starts, lines[starts], files),
        )


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a file: Arrow arrays of strings, or NumPy arrays of numbers where they are numbers by nature."""

    columns: Mapping[str, Any]
    lines: NDArray[np.int64]  # shape (n_rows,); the physical line on which each row ends, from 1
    rows_read: int  # with those that could not be read, which are problems


def shown(text: str) -> str:
    """A field as shown in a message: quoted and shortened."""
    return repr(text if len(text) <= 40 else text[:39] + "…")


def undecodable(error: UnicodeDecodeError, encoding: str) -> str:
    """The reason why a line cannot be decoded."""
    name = "UTF-8" if encoding in ("utf-8", "utf-8-sig") else encoding
    return f"byte 0x{error.object[error.start]:02x} at position {error.start + 1} of the line is not {name}"
