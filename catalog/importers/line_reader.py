"""Delimited text line by line: every line that cannot be taken is named, the others give the columns."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO

import numpy as np

from catalog.importers.base import ImportProblem, Progress
from catalog.importers.layout import LONGEST_LINE, ROWS_AT_A_TIME, Kind, Layout, Table, shown, undecodable
from catalog.importers.problems import DECIMAL_COMMA, Problems
from catalog.importers.sources import SourceFile, refuse
from catalog.importers.typed_rows import TypedRows

_WITH_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


class _Lines:
    """A file's lines as text, numbered; lines of a row that failed can be given once more.

    A line that cannot be decoded is a problem and is left out.
    """

    def __init__(self, stream: BinaryIO, file: str, encoding: str, problems: Problems, before: int) -> None:
        self._stream = stream
        self._file = file
        self._encoding = encoding
        self._problems = problems
        self._read = before
        self._waiting: deque[tuple[int, str]] = deque()
        self._row: list[tuple[int, str]] = []  # the lines given since the row began
        self.undecodable = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        self._row.append(self._waiting.popleft() if self._waiting else self._decoded())
        return self._row[-1][1]

    def _decoded(self) -> tuple[int, str]:
        while raw := self._stream.readline(LONGEST_LINE):
            self._read += 1
            if len(raw) == LONGEST_LINE:
                raise refuse(self._file, "the line does not end: this is no table", line=self._read)
            try:
                # A byte-order mark stands at the start of a file only.
                encoding = self._encoding if self._read == 1 else self._encoding.removesuffix("-sig")
                return self._read, raw.decode(encoding)
            except UnicodeDecodeError as error:
                self.undecodable += 1
                reason = undecodable(error, self._encoding)
                self._problems.add("broken encoding", ImportProblem(self._file, self._read, None, reason))
        raise StopIteration

    @property
    def number(self) -> int:
        """The line given last."""
        return self._row[-1][0]

    @property
    def row_start(self) -> int:
        """The line on which the present row began."""
        return self._row[0][0]

    @property
    def ends_open(self) -> bool:
        """Whether the line given last has no line end."""
        return not self._row[-1][1].endswith("\n")

    def begin_row(self) -> None:
        """The next line begins a row."""
        self._row = []

    def retry_after_first(self) -> None:
        """Give the present row's lines once more, without its first."""
        self._waiting.extendleft(reversed(self._row[1:]))
        self._row = []


def read_lines(file: SourceFile, layout: Layout, problems: Problems, progress: Progress | None) -> Table:
    """A file's rows, line by line. Raises ImportRefused when the file is empty, has no row, or is damaged."""
    with file.open() as (stream, watch):
        table = read_part(stream, file.name, layout, problems, progress, has_header=layout.has_header)
        if watch.bytes_read == 0:
            raise refuse(file.name, "the file is empty", line=1)
    if table.rows_read == 0:
        raise refuse(file.name, "there is no row after the header", line=2)
    return table


def read_part(
    stream: BinaryIO,
    file: str,
    layout: Layout,
    problems: Problems,
    progress: Progress | None = None,
    *,
    has_header: bool = False,
    lines_before: int = 0,
) -> Table:
    """The rows of a stream of whole lines, which `lines_before` others of the file came before."""
    fields_of_columns = [(name, layout.columns.index(name), kind) for name, kind in layout.kinds.items()]
    typed = TypedRows(layout.kinds)
    rows = 0
    ends_open = False
    lines = _Lines(stream, file, layout.encoding, problems, lines_before)
    if has_header:
        next(lines, None)
        lines.begin_row()
    for fields in _split(lines, layout):
        rows += 1
        ends_open = lines.ends_open
        if isinstance(fields, csv.Error):
            problem, line = _unsplit(fields), lines.row_start
        else:
            line = lines.number
            problem = _misfit(fields, lines, layout) or _add_row(typed, fields, fields_of_columns, layout.decimal, line)
        if problem is not None:
            kind, column, reason = problem
            problems.add(kind, ImportProblem(file, line, column, reason))
            if not isinstance(fields, csv.Error):
                _leave_out(problems, fields, fields_of_columns)
        if progress is not None and rows % ROWS_AT_A_TIME == 0:
            progress(file, rows)
    return Table(
        columns=typed.columns(),
        lines=typed.lines(),
        is_bulk_read=False,
        rows_read=rows + lines.undecodable,
        ends_open=ends_open,
    )


def _split(lines: _Lines, layout: Layout) -> Iterator[list[str] | csv.Error]:
    """The fields of each row; where a row cannot be split, the reason. Empty lines are no rows."""
    if len(layout.delimiter) > 1:
        for text in lines:
            fields = text.rstrip("\r\n").split(layout.delimiter)
            if fields != [""]:
                yield fields
            lines.begin_row()
        return
    while True:
        reader = csv.reader(
            lines,
            delimiter=layout.delimiter,
            quoting=csv.QUOTE_MINIMAL if layout.has_quotes else csv.QUOTE_NONE,
            escapechar=layout.escape or None,
            strict=True,
        )
        try:
            for fields in reader:
                if fields:
                    yield fields
                lines.begin_row()
            return
        except csv.Error as error:
            yield error
            # The row may have swallowed good lines behind an open quotation mark.
            lines.retry_after_first()


_Problem = tuple[str, str | None, str]  # kind, column, reason


def _unsplit(error: csv.Error) -> _Problem | None:
    reason = str(error)
    if "unexpected end of data" in reason or "field larger" in reason:
        reason = "a quotation mark opens here and is never closed: the file may be cut short"
    return "unreadable row", None, reason


def _misfit(fields: list[str], lines: _Lines, layout: Layout) -> _Problem | None:
    """What is wrong with the number of fields, or with the line's end."""
    wanted = len(layout.columns)
    if len(fields) < wanted:
        cut = " (the file ends in the middle of this line)" if lines.ends_open else ""
        return (
            "missing field",
            layout.columns[len(fields)],
            f"the line has {len(fields)} of {wanted} fields{cut}",
        )
    if len(fields) > wanted:
        return "too many fields", None, f"the line has {len(fields)} fields where {wanted} belong"
    if lines.ends_open and layout.needs_final_newline:
        return (
            "cut short",
            None,
            "the last line has no line end, so the file is probably cut short (if it is complete, end its last line)",
        )
    return None


def _leave_out(problems: Problems, fields: list[str], fields_of_columns: list[tuple[str, int, Kind]]) -> None:
    """Remember the numbers of a row that is left out, whichever way their decimals are written."""
    for name, position, kind in fields_of_columns:
        if kind == "number" and position < len(fields):
            try:
                problems.leave_out(name, _number(fields[position].strip().replace(",", "."), "."))
            except ValueError:
                continue


def _add_row(
    typed: TypedRows, fields: list[str], fields_of_columns: list[tuple[str, int, Kind]], decimal: str, line: int
) -> _Problem | None:
    """Add a row to the columns, or return the problem that excludes it."""
    row: list[Any] = []
    for name, position, kind in fields_of_columns:
        if kind != "text" and not fields[position].strip():
            return "missing field", name, "the field is empty"
        if kind in ("text", "id") and "\0" in fields[position]:
            return "unusable character", name, "the field holds a NUL character, which belongs in no text"
        try:
            row.append(value_of(fields[position], kind, decimal))
        except ValueError as error:
            if kind == "number" and decimal == "." and _WITH_COMMA.fullmatch(fields[position].strip()):
                return DECIMAL_COMMA, name, str(error)
            return "not a number", name, str(error)
    typed.add(row, line=line)
    return None


def value_of(text: str, kind: Kind, decimal: str = ".") -> Any:
    """One field in its type; `decimal` is the character before the decimals of a number. Raises ValueError with the
    reason in words.
    """
    if kind == "text":
        return text
    trimmed = text.strip()
    if kind == "id":
        return trimmed
    try:
        if kind == "whole":
            return _whole(trimmed)
        if kind == "number":
            return _number(trimmed, decimal)
    except ValueError:
        what = "a whole number" if kind == "whole" else "a number"
        raise ValueError(f"{shown(trimmed)} is not {what}") from None
    try:
        return _whole(trimmed)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(trimmed)
    except ValueError:
        raise ValueError(f"{shown(trimmed)} is neither seconds since 1970 nor an ISO 8601 time") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp() // 1)


def _whole(text: str) -> int:
    number = int(text)
    if "_" in text or not -(2**63) <= number < 2**63:  # Python reads 1_000; a table does not mean it
        raise ValueError(text)
    return number


def _number(text: str, decimal: str) -> float:
    if decimal == ",":
        if "." in text:
            raise ValueError(text)
        text = text.replace(",", ".")
    number = float(text)
    if "_" in text or not np.isfinite(number):
        raise ValueError(text)
    return number
