"""A panel's list of submissions, read whole or refused with every place where it is wrong."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from studies.recruiting.panel import AWAITING, Columns

LARGEST = 10_000_000  # bytes
MOST_ROWS = 50_000
MOST_PROBLEMS = 50
LONGEST_CELL = 500


@dataclass(frozen=True)
class Submission:
    """One line of the list.

    Parameters
    ----------
    line : int
        Where it stands in the file, from 1.
    person, submission : str
        Ids; the second may be empty.
    state : str
        One of `studies.recruiting.panel.STATES`.
    told : str
        The panel's own word for it.
    code : str
        The completion code that the participant gave; may be empty.
    """

    line: int
    person: str
    submission: str
    state: str
    told: str
    code: str

    @property
    def key(self) -> str:
        """What tells it from the others: the submission's id, or the person's where it has none."""
        return f"submission:{self.submission}" if self.submission else f"person:{self.person}"


@dataclass(frozen=True)
class Problem:
    """Something wrong with a file.

    Parameters
    ----------
    line : int
        The line, from 1; 0 for the file as a whole.
    column : str
        The column's name; may be empty.
    reason : str
        What is wrong, in a sentence.
    """

    line: int
    column: str
    reason: str


def _normal(word: str) -> str:
    return " ".join(word.replace("_", " ").replace("-", " ").replace("(", " ").replace(")", " ").lower().split())


def _find(names: Sequence[str], header: Sequence[str]) -> int | None:
    wanted = [name.strip().lower() for name in header]
    for name in names:
        small = name.strip().lower()
        for at, there in enumerate(wanted):
            if there == small or (small.endswith("*") and there.startswith(small[:-1])):
                return at
    return None


def _text_of(data: bytes) -> str | Problem:
    if len(data) > LARGEST:
        return Problem(0, "", f"The file has {len(data):,} bytes; at most {LARGEST:,} are read.")
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        return Problem(line, "", "These are no letters in UTF-8. Save the file as CSV in UTF-8.")
    if "\x00" in text:
        return Problem(text[: text.index("\x00")].count("\n") + 1, "", "This is no text: there is a NUL in it.")
    if not text.strip():
        return Problem(0, "", "The file is empty.")
    return text


def _rows(text: str) -> tuple[list[tuple[int, list[str]]], list[Problem]]:
    """The filled rows with the line that each begins at."""
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
        return rows, [Problem(reader.line_num, "", f"This is no CSV: {problem}.")]
    if len(rows) > MOST_ROWS + 1:
        return rows, [Problem(rows[MOST_ROWS + 1][0], "", f"At most {MOST_ROWS:,} submissions are read.")]
    return rows, []


def read_submissions(
    data: bytes, columns: Columns, states: Mapping[str, str]
) -> tuple[tuple[Submission, ...], tuple[Problem, ...]]:
    r"""Read a panel's list.

    Parameters
    ----------
    data : bytes
        The file, as it was sent.
    columns : Columns
        What its columns may be called.
    states : mapping of str to str
        The panel's words in small letters, without hyphens, to `studies.recruiting.panel.STATES`.

    Returns
    -------
    tuple of Submission, tuple of Problem
        Where there is a problem, nothing of the file should be used. A line that repeats an earlier one is read
        once.

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
    places = {name: _find(getattr(columns, name), header) for name in ("person", "submission", "status", "code")}
    for name, told in (("person", "who the participant is"), ("status", "what became of the submission")):
        names = getattr(columns, name)
        if places[name] is None and names:
            wanted = " or ".join(repr(one) for one in names)
            problems.append(
                Problem(begins, names[0], f"The column that says {told} is missing: it is called {wanted}.")
            )
    if problems:
        return (), tuple(problems)
    found: dict[str, Submission] = {}
    for line, row in rows[1:]:
        if len(row) != len(header):
            problems.append(Problem(line, "", f"There are {len(row)} cells, and the first line has {len(header)}."))
        else:
            problems += _read(line, row, header, places, states, found)
        if len(problems) >= MOST_PROBLEMS:
            problems.append(Problem(line, "", "There may be more; the reading stopped here."))
            break
    return (() if problems else tuple(found.values())), tuple(problems)


def _read(
    line: int,
    row: Sequence[str],
    header: Sequence[str],
    places: Mapping[str, int | None],
    states: Mapping[str, str],
    found: dict[str, Submission],
) -> list[Problem]:
    cells = {name: row[at] if at is not None else "" for name, at in places.items()}
    named = {name: header[at] if at is not None else "" for name, at in places.items()}
    for name, cell in cells.items():
        if len(cell) > LONGEST_CELL:
            return [Problem(line, named[name], f"This cell has {len(cell):,} characters; at most {LONGEST_CELL} fit.")]
    if not cells["person"]:
        return [Problem(line, named["person"], "The participant's id is missing.")]
    state = states.get(_normal(cells["status"])) if places["status"] is not None else AWAITING
    if state is None:
        known = ", ".join(sorted(states))
        return [Problem(line, named["status"], f"{cells['status']!r} is not known; known are {known}.")]
    read = Submission(line, cells["person"], cells["submission"], state, cells["status"], cells["code"])
    before = found.get(read.key)
    if before is not None and (before.person, before.state, before.code) != (read.person, read.state, read.code):
        name = "submission" if read.submission else "person"
        return [Problem(line, named[name], f"Line {before.line} says something else of {cells[name]!r}.")]
    found.setdefault(read.key, read)
    return []
