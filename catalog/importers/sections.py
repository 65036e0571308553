"""Files where a heading ("12:") says which movie the lines below are of: "user,rating,date" each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import ImportProblem
from catalog.importers.layout import LONGEST_LINE, Stretches, shown
from catalog.importers.number_reader import whole_lines
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile, refuse

COLUMNS = ("user", "movie", "rating", "time")
HEADING = re.compile(r"(\d{1,9}):")
MOST_ID = 2**31
_TYPES = {"user": np.int32, "movie": np.int32, "rating": np.float32, "time": np.int32}


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one block of a file."""

    columns: dict[str, NDArray[Any]]
    lines: Stretches
    file: str
    rows_read: int


def read_sections(file: SourceFile, problems: Problems) -> Iterator[Part]:
    """A file's rows, block by block; those that cannot be read are added to `problems`. Raises ImportRefused when the
    file is empty, damaged or no such file.
    """
    lines_before = 0
    movie: int | None = None
    with file.open() as (stream, watch):
        for block in whole_lines(stream):
            part, movie = _compiled(block, file.name, movie, lines_before) or _by_line(
                block, file.name, movie, lines_before, problems
            )
            yield part
            lines_before += block.count(b"\n")
        if watch.bytes_read == 0:
            raise refuse(file.name, "the file is empty", line=1)


def _compiled(block: bytearray, file: str, movie: int | None, lines_before: int) -> tuple[Part, int | None] | None:
    """A block's rows by the compiled reader, and the movie that the next block's first lines are of."""
    from catalog.importers.kernels.sections import parse_sections

    if not block.endswith(b"\n"):
        return None  # the reader counts on a line's end after every row
    n_lines = block.count(b"\n")
    users, values, seconds, headings = (np.empty(n_lines, dtype=np.int32) for _ in range(4))
    heading_rows = np.empty(n_lines, dtype=np.int64)
    n_headings = np.zeros(1, dtype=np.int64)
    data = np.frombuffer(block, dtype=np.uint8)
    data.flags.writeable = False
    n_rows = parse_sections(data, users, values, seconds, headings, heading_rows, n_headings)
    n_found = int(n_headings[0])
    rows = heading_rows[:n_found]
    if n_rows < 0 or (movie is None and n_rows > 0 and not (n_found and rows[0] == 0)):
        return None
    starts = np.concatenate(([0], rows))
    movies = np.concatenate(([movie or 0], headings[:n_found]))
    # The k-th heading has k headings and its rows before it, and its own line.
    first_lines = lines_before + 1 + starts + np.arange(n_found + 1)
    columns: dict[str, NDArray[Any]] = {
        "user": users[:n_rows],
        "movie": np.repeat(movies.astype(np.int32), np.diff(starts, append=n_rows)),
        "rating": values[:n_rows].astype(np.float32),
        "time": seconds[:n_rows],
    }
    return Part(columns, Stretches(starts, first_lines), file, n_rows), int(movies[-1]) if n_found else movie


def _by_line(
    block: bytearray, file: str, movie: int | None, lines_before: int, problems: Problems
) -> tuple[Part, int | None]:
    """The same, line by line: every line that cannot be taken is named."""
    rows: list[tuple[int, int, float, int]] = []
    lines_read: list[int] = []
    rows_read = 0
    for number, raw in enumerate(block.split(b"\n"), start=lines_before + 1):
        if len(raw) >= LONGEST_LINE:
            raise refuse(file, "the line does not end: this is no table", line=number)
        text = raw.decode("latin-1").strip()
        heading = HEADING.fullmatch(text)
        if heading is not None:
            movie = int(heading[1])
            continue
        if not text:
            continue
        rows_read += 1
        row = _row(text, movie)
        if len(row) == 3:
            problems.add(row[0], ImportProblem(file, number, row[1], row[2]))
        else:
            rows.append(row)
            lines_read.append(number)
    columns = {
        name: np.array([row[position] for row in rows], dtype=_TYPES[name]) for position, name in enumerate(COLUMNS)
    }
    return Part(columns, Stretches.of(np.array(lines_read, dtype=np.int64)), file, rows_read), movie


def _row(text: str, movie: int | None) -> tuple[int, int, float, int] | tuple[str, str | None, str]:
    """User, movie, rating and time of a line; or kind, column and reason."""
    fields = [field.strip() for field in text.split(",")]
    if len(fields) != 3:
        kind = "missing field" if len(fields) < 3 else "too many fields"
        return kind, None, f"{shown(text)} is neither a movie's heading nor a user, a rating and a date"
    if movie is None:
        return "no heading", None, "no movie's heading comes before this line"
    user, rating, date = fields
    if not re.fullmatch(r"\d{1,10}", user) or int(user) >= MOST_ID:
        return "not a number", "user", f"{shown(user)} is not a whole number from 0 to {MOST_ID - 1}"
    if not re.fullmatch(r"-?\d{1,9}(\.\d{1,9})?", rating):
        return "not a number", "rating", f"{shown(rating)} is not a number"
    try:
        moment = datetime.strptime(date, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return "not a date", "time", f"{shown(date)} is no date, as in 2005-09-06"
    if not 1970 <= moment.year <= 2037:
        return "not a date", "time", f"{shown(date)} is not from 1970 to 2037"
    return int(user), movie, float(rating), int(moment.timestamp())
