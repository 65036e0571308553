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
from catalog.importers.bulk_reader import arrow_table, whole_lines
from catalog.importers.layout import LONGEST_LINE, Layout, Stretches, shown
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile, refuse

COLUMNS = ("user", "movie", "rating", "time")
HEADING = re.compile(r"(\d{1,9}):")
MOST_ID = 2**31
_LAYOUT = Layout(columns=("user", "rating", "time"), kinds={}, has_quotes=False)
_FIRST_DATE, _LAST_DATE = np.datetime64("1970-01-01"), np.datetime64("2037-12-31")  # so that seconds fit 32 bits
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
            part, movie = _by_arrow(block, file.name, movie, lines_before) or _by_line(
                block, file.name, movie, lines_before, problems
            )
            yield part
            lines_before += block.count(b"\n")
        if watch.bytes_read == 0:
            raise refuse(file.name, "the file is empty", line=1)


def _by_arrow(block: bytearray, file: str, movie: int | None, lines_before: int) -> tuple[Part, int | None] | None:
    """A block's rows by Arrow, and the movie that the next block's first lines are of; None if something is unusual."""
    import pyarrow as pa

    if not block.endswith(b"\n") or not block.isascii() or b"0x" in block or b"0X" in block:
        return None
    headings: list[tuple[int, int]] = []

    def skip_heading(row: Any) -> str:
        heading = HEADING.fullmatch(row.text)
        if heading is not None:
            headings.append((row.number, int(heading[1])))
        return "error" if heading is None else "skip"

    types = [pa.int32(), pa.int32(), pa.date32()]
    table = arrow_table(block, ["user", "rating", "time"], types, layout=_LAYOUT, skip_row=skip_heading)
    if table is None or table.num_rows + len(headings) != block.count(b"\n"):
        return None
    if any(column.null_count for column in table.columns):
        return None
    users, values, dates = (column.to_numpy() for column in table.columns)
    lines = np.array([line for line, _ in headings], dtype=np.int64)
    rows = lines - 1 - np.arange(len(lines))  # before each heading, without the headings above it
    is_headless = movie is None and len(users) > 0 and not (len(rows) and rows[0] == 0)
    if is_headless or (users < 0).any() or ((dates < _FIRST_DATE) | (dates > _LAST_DATE)).any():
        return None
    starts = np.concatenate(([0], rows))
    movies = np.array([movie or 0, *(heading for _, heading in headings)], dtype=np.int32)
    # The k-th heading has k headings and its rows before it, and its own line.
    first_lines = lines_before + 1 + starts + np.arange(len(movies))
    columns: dict[str, NDArray[Any]] = {
        "user": users,
        "movie": np.repeat(movies, np.diff(starts, append=len(users))),
        "rating": values.astype(np.float32),
        "time": dates.astype("datetime64[s]").astype(np.int32),
    }
    return Part(columns, Stretches(starts, first_lines), file, len(users)), int(movies[-1]) if len(lines) else movie


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
