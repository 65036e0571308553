"""Reads JSON Lines: one object per line, with its keys as columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catalog.importers.base import ImportProblem, Progress
from catalog.importers.layout import LONGEST_LINE, ROWS_AT_A_TIME, Kind, Table, shown, undecodable
from catalog.importers.line_reader import value_of
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile, refuse
from catalog.importers.typed_rows import TypedRows

_Problem = tuple[str, str | None, str]  # kind, column, reason


@dataclass(frozen=True, slots=True)
class RecordSheet:
    """Objects, one per line; the columns are the keys of the first."""

    file: SourceFile
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        """The file's name."""
        return self.file.name

    def head(self, n: int) -> list[tuple[str, ...]]:
        """The first `n` objects as texts; lines that are no objects are passed over."""
        rows: list[tuple[str, ...]] = []
        with self.file.open() as (stream, _):
            while len(rows) < n and (raw := stream.readline(LONGEST_LINE)):
                record = _object(raw, is_first=not rows) if raw.strip() else None
                if isinstance(record, dict):
                    texts = (_text(record.get(name), "text") for name in self.columns)
                    rows.append(tuple("" if text is None else text for text in texts))
        return rows

    def read(
        self, kinds: Mapping[str, Kind], problems: Problems, *, by_line: bool = True, progress: Progress | None = None
    ) -> Table:
        """The requested columns, read line by line."""
        typed = TypedRows(kinds)
        number = rows = 0
        with self.file.open() as (stream, _):
            while raw := stream.readline(LONGEST_LINE):
                number += 1
                if len(raw) == LONGEST_LINE:
                    raise refuse(self.name, "the line does not end: these are no objects line by line", line=number)
                if not raw.strip():
                    continue
                rows += 1
                problem = _add_row(typed, raw, kinds, line=number)
                if problem is not None:
                    kind, column, reason = problem
                    problems.add(kind, ImportProblem(self.name, number, column, reason))
                if progress is not None and rows % ROWS_AT_A_TIME == 0:
                    progress(self.name, rows)
        return Table(
            columns=typed.columns(),
            lines=typed.lines(),
            is_bulk_read=False,
            rows_read=rows,
            ends_open=False,  # an object says itself where it ends
        )


def open_records(file: SourceFile) -> RecordSheet:
    """The sheet of a file of objects. Raises ImportRefused when the file is empty, or its first line is no object."""
    with file.open() as (stream, _):
        raw = stream.readline(LONGEST_LINE)
    if not raw.strip():
        raise refuse(file.name, "the file is empty" if not raw else "the first line is empty", line=1)
    record = _object(raw, is_first=True)
    if isinstance(record, tuple):
        raise refuse(file.name, record[2], line=1, advice="Each line has to be one JSON object, as in {…}.")
    return RecordSheet(file, tuple(record))


def _object(raw: bytes, *, is_first: bool) -> dict[str, Any] | _Problem:
    try:
        text = raw.decode("utf-8-sig" if is_first else "utf-8")
    except UnicodeDecodeError as error:
        return "broken encoding", None, undecodable(error, "utf-8")
    try:
        parsed = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        return "unreadable row", None, "the JSON is nested too deeply"
    except json.JSONDecodeError as error:
        cut = " (the file ends in the middle of this line)" if not raw.endswith(b"\n") else ""
        return "unreadable row", None, f"this is no JSON: {error.msg} at position {error.colno}{cut}"
    except ValueError as error:
        return "not a number", None, str(error)
    if not isinstance(parsed, dict):
        return "unreadable row", None, f"{shown(text.strip())} is no JSON object"
    return parsed


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _add_row(typed: TypedRows, raw: bytes, kinds: Mapping[str, Kind], *, line: int) -> _Problem | None:
    """Add an object to the columns, or return the problem that excludes it."""
    record = _object(raw, is_first=line == 1)
    if isinstance(record, tuple):
        return record
    row: list[Any] = []
    for name, kind in kinds.items():
        text = _text(record.get(name), kind)
        if text is None:
            return "unusable value", name, f"{shown(json.dumps(record[name]))} is neither a text nor a number"
        if kind != "text" and not text.strip():
            return "missing field", name, "the field is empty" if name in record else "the object has no such key"
        if not text.isprintable() and ("\0" in text or any("\ud800" <= mark <= "\udfff" for mark in text)):
            return "unusable character", name, "the field holds a NUL or half a character, which belongs in no text"
        try:
            row.append(value_of(text, kind))
        except ValueError as error:
            return "not a number", name, str(error)
    typed.add(row, line=line)
    return None


def _text(value: Any, kind: Kind) -> str | None:
    """A value as text; lists of texts are joined by "|"; None if it cannot be a table value."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        whole = isinstance(value, float) and value.is_integer() and kind in ("whole", "time")
        return str(int(value)) if whole else str(value)
    if kind == "text" and isinstance(value, list) and all(isinstance(text, str) for text in value):
        return "|".join(value)
    return None
