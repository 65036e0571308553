"""Parsers for lists of entries and of a panel's submissions; a file with errors is rejected as a whole."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.errors import DataError
from studies.recruitment.panels.panel import AWAITING, Columns

LARGEST = 10_000_000  # bytes
MOST_ROWS = 50_000
MOST_PROBLEMS = 50
LONGEST_CELL = 500
MOST_ENTRIES = 20_000


@dataclass(frozen=True)
class Submission:
    """One line of the list."""

    line: int  # line number in the file, from 1
    # `person`, `submission`: ids of participant and submission; the latter may be empty
    person: str
    submission: str
    state: str  # one of `studies.recruitment.panels.panel.STATES`
    panel_status: str  # the panel's own word for the state
    code: str  # the completion code that the participant entered; may be empty

    @property
    def key(self) -> str:
        return f"submission:{self.submission}" if self.submission else f"person:{self.person}"


@dataclass(frozen=True)
class Problem:
    """An error in a file."""

    line: int  # the line, from 1; 0 for the file as a whole
    column: str  # the column's name; may be empty
    reason: str  # the error, as a sentence


def _normal(word: str) -> str:
    return " ".join(word.replace("_", " ").replace("-", " ").replace("(", " ").replace(")", " ").lower().split())


def _find(names: Sequence[str], header: Sequence[str]) -> int | None:
    columns = [name.strip().lower() for name in header]
    for name in names:
        pattern = name.strip().lower()
        for at, column in enumerate(columns):
            if column == pattern or (pattern.endswith("*") and column.startswith(pattern[:-1])):
                return at
    return None


def _text_of(data: bytes) -> str | Problem:
    if len(data) > LARGEST:
        return Problem(0, "", f"The file has {len(data):,} bytes; the limit is {LARGEST:,}.")
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        return Problem(line, "", "The text is not valid UTF-8. Save the file as CSV in UTF-8.")
    if "\x00" in text:
        return Problem(
            text[: text.index("\x00")].count("\n") + 1,
            "",
            "The file contains a NUL character. Save it as CSV in UTF-8.",
        )
    if not text.strip():
        return Problem(0, "", "The file is empty.")
    return text


def _rows(text: str) -> tuple[list[tuple[int, list[str]]], list[Problem]]:
    head = text.lstrip("\r\n").splitlines()[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    begins = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append((begins, [cell.strip() for cell in row]))
            begins = reader.line_num + 1
    except csv.Error as problem:
        return rows, [Problem(reader.line_num, "", f"The file is not valid CSV: {problem}.")]
    if len(rows) > MOST_ROWS + 1:
        return rows, [
            Problem(rows[MOST_ROWS + 1][0], "", f"The file has more than {MOST_ROWS:,} submissions. Split it.")
        ]
    return rows, []


def read_submissions(
    data: bytes, columns: Columns, states: Mapping[str, str]
) -> tuple[tuple[Submission, ...], tuple[Problem, ...]]:
    r"""Parse a panel's list of submissions.

    `states` has `studies.recruitment.panels.panel.STATES` by the panel's words in lower case, without hyphens. If there
    is a problem, do not use any of the submissions. Repeated lines are returned once.

    Examples
    --------
    >>> rows, problems = read_submissions(b"who,what\na,returned\n", Columns(("who",), (), ("what",)),
    ...                                   {"returned": "returned"})
    >>> rows[0].person, rows[0].state, problems
    ('a', 'returned', ())
    """
    text = _text_of(data)
    if isinstance(text, Problem):
        return (), (text,)
    rows, problems = _rows(text)
    if problems:
        return (), tuple(problems)
    begins, header = rows[0]
    positions = {name: _find(getattr(columns, name), header) for name in ("person", "submission", "status", "code")}
    for name, content in (("person", "participant's id"), ("status", "submission's status")):
        names = getattr(columns, name)
        if positions[name] is None and names:
            expected = " or ".join(map(repr, names))
            problems.append(
                Problem(begins, names[0], f"There is no column with the {content}. Its name should be {expected}.")
            )
    if problems:
        return (), tuple(problems)
    submissions: dict[str, Submission] = {}
    for line, row in rows[1:]:
        if len(row) != len(header):
            problems.append(Problem(line, "", f"The line has {len(row)} cells, but the header has {len(header)}."))
        else:
            problems += _read(line, row, header, positions, states, submissions=submissions)
        if len(problems) >= MOST_PROBLEMS:
            problems.append(Problem(line, "", "Parsing stopped here; there may be more problems."))
            break
    return (() if problems else tuple(submissions.values())), tuple(problems)


def _read(
    line: int,
    row: Sequence[str],
    header: Sequence[str],
    positions: Mapping[str, int | None],
    states: Mapping[str, str],
    *,
    submissions: dict[str, Submission],
) -> list[Problem]:
    cells = {name: row[at] if at is not None else "" for name, at in positions.items()}
    titles = {name: header[at] if at is not None else "" for name, at in positions.items()}
    for name, cell in cells.items():
        if len(cell) > LONGEST_CELL:
            return [Problem(line, titles[name], f"The cell has {len(cell):,} characters; the limit is {LONGEST_CELL}.")]
    if not cells["person"]:
        return [Problem(line, titles["person"], "The participant's id is missing.")]
    state = states.get(_normal(cells["status"])) if positions["status"] is not None else AWAITING
    if state is None:
        known = ", ".join(sorted(states))
        return [Problem(line, titles["status"], f"The status {cells['status']!r} is unknown. Known: {known}.")]
    read = Submission(line, cells["person"], cells["submission"], state, cells["status"], cells["code"])
    before = submissions.get(read.key)
    if before is not None and (before.person, before.state, before.code) != (read.person, read.state, read.code):
        name = "submission" if read.submission else "person"
        return [Problem(line, titles[name], f"The line contradicts line {before.line} about {cells[name]!r}.")]
    submissions.setdefault(read.key, read)
    return []


def entries_of(text: str, longest: int) -> tuple[str, ...]:
    r"""Return the unique entries in order; case is preserved.

    Empty lines are ignored. `longest` is the maximum number of characters of an entry. Raises DataError when an entry
    is too long or contains a NUL character, or there are too many entries; the message has the line.

    Examples
    --------
    >>> entries_of("anna\n\n 7, Rossi\nanna\n", longest=20)
    ('anna', '7')
    """
    entries: dict[str, None] = {}
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    try:
        for row in reader:
            entry = row[0].strip() if row else ""
            if len(entry) > longest:
                raise DataError(
                    f"Line {reader.line_num}: an entry has at most {longest} characters; this one has {len(entry):,}."
                )
            if "\x00" in entry:
                raise DataError(f"Line {reader.line_num}: the line contains a NUL character.")
            if entry:
                entries[entry] = None
            if len(entries) > MOST_ENTRIES:
                raise DataError(f"Line {reader.line_num}: a list has at most {MOST_ENTRIES:,} entries.")
    except csv.Error as problem:
        raise DataError(f"Line {reader.line_num}: the list cannot be parsed: {problem}.") from problem
    return tuple(entries)
