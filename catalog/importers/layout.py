"""The layout of a delimited file, and the table read from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from catalog.importers.sources import SourceFile, refuse

Kind = Literal["whole", "number", "time", "id", "text"]
ROWS_AT_A_TIME = 1 << 18
LONGEST_LINE = 1 << 20  # bytes; a longer one is no line of a table


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a delimited file."""

    columns: tuple[str, ...]  # the names of all fields of a row, in order
    # The columns to read, and what they hold: "whole" numbers, "number"s, "time" (seconds since 1970 or ISO 8601), "id"
    # (text, not empty, trimmed), "text".
    kinds: Mapping[str, Kind]
    delimiter: str = ","  # one character, or several ("::", without quoting)
    encoding: str = "utf-8-sig"
    has_header: bool = True  # whether the first line names the columns
    has_quotes: bool = True  # whether a field may be quoted
    needs_final_newline: bool = True  # whether a last line without a line end means that the file was cut short
    decimal: str = "."  # the character before the decimals of a number, "." or ","
    # The character that takes the next one's meaning away; empty: there is none. Such a file is read by line.
    escape: str = ""

    @property
    def has_free_text(self) -> bool:
        """Whether any text is valid in some column, so that a wrong field can go unnoticed."""
        return not {"whole", "number"}.issuperset(self.kinds.get(name, "text") for name in self.columns)


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
    def joined(cls, parts: Sequence[tuple[int, Stretches | int, str]]) -> Stretches:
        """The stretches of concatenated tables: rows, lines and file of each."""
        starts, lines, files = [], [], []
        before = 0
        for n_rows, part, file in parts:
            if n_rows:
                stretches = part if isinstance(part, Stretches) else cls(np.zeros(1, np.int64), np.array([part]))
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
    # The physical line on which each row ends, from 1; or of the first row, where each has the next.
    lines: Stretches | int
    is_bulk_read: bool  # whether the whole file was read in bulk
    rows_read: int  # rows of the file, with those that could not be read
    ends_open: bool  # whether the last line has no line end

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def line(self, row: int) -> int:
        """The physical line on which a row ends, from 1."""
        return self.lines + row if isinstance(self.lines, int) else self.lines.line(row)

    def file(self, row: int, usual: str) -> str:
        """The file of a row: `usual`, unless the table was read from several."""
        return usual if isinstance(self.lines, int) else self.lines.file(row) or usual

    def selected(self, is_kept: NDArray[np.bool_]) -> Table:
        """The table with some of its rows; they keep their lines."""
        if is_kept.all():
            return self
        rows = np.flatnonzero(is_kept)
        stretches = self.lines if isinstance(self.lines, Stretches) else None
        starts_before = stretches.starts if stretches is not None else np.zeros(1, dtype=np.int64)
        first_lines = stretches.first_lines if stretches is not None else np.array([self.lines])
        stretch = np.searchsorted(starts_before, rows, side="right") - 1
        lines = first_lines[stretch] + rows - starts_before[stretch]
        # A stretch ends where lines are left out, and where another began.
        starts = np.flatnonzero((np.diff(lines, prepend=-1) != 1) | (np.diff(stretch, prepend=-1) != 0))
        files = (
            tuple(stretches.files[stretch[start]] for start in starts)
            if stretches is not None and stretches.files
            else ()
        )
        return replace(
            self,
            columns={name: column[is_kept] for name, column in self.columns.items()},
            lines=Stretches(starts, lines[starts], files),
        )


def first_line(file: SourceFile, encoding: str) -> str:
    """The file's first line, decoded, without its line end. Raises ImportRefused when the file is empty, or its first
    line is too long or cannot be decoded.
    """
    with file.open() as (stream, _):
        raw = stream.readline(LONGEST_LINE)
    if not raw.strip():
        raise refuse(file.name, "the file is empty" if not raw else "the first line is empty", line=1)
    if len(raw) == LONGEST_LINE:
        raise refuse(file.name, "the first line does not end: this is no delimited text", line=1)
    try:
        return raw.decode(encoding).rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise refuse(file.name, undecodable(error, encoding), line=1, advice=_ENCODING_ADVICE) from error


def shown(text: str) -> str:
    """A field as shown in a message: quoted and shortened."""
    return repr(text if len(text) <= 40 else text[:39] + "…")


_ENCODING_ADVICE = "Save the file in this encoding, or say in which one it is."


def undecodable(error: UnicodeDecodeError, encoding: str) -> str:
    """The reason why a line cannot be decoded."""
    name = "UTF-8" if encoding in ("utf-8", "utf-8-sig") else encoding
    return f"byte 0x{error.object[error.start]:02x} at position {error.start + 1} of the line is not {name}"
