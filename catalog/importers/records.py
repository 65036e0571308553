"""JSON Lines: one object a line, its keys the columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from catalog.importers.base import ImportProblem, Progress
from catalog.importers.layout import LONGEST_LINE, ROWS_AT_A_TIME, Kind, Stretches, Table, shown, undecodable
from catalog.importers.lines import TYPES, value_of
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile, refuse

_Problem = tuple[str, str | None, str]  # kind, column, reason


@dataclass(frozen=True, slots=True)
class RecordSheet:
    """Objects, one a line; the columns are the keys of the first."""

    file: SourceFile
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        """The file's name."""
        return self.file.name

    def read(
        self, kinds: Mapping[str, Kind], problems: Problems, *, by_line: bool = True, progress: Progress | None = None
    ) -> Table:
        """The columns asked for, line by line."""
        values: dict[str, list[Any]] = {name: [] for name in kinds}
        kept: list[int] = []
        number = rows = 0
        with self.file.open() as (stream, _):
            while raw := stream.readline(LONGEST_LINE):
                number += 1
                if len(raw) == LONGEST_LINE:
                    raise refuse(self.name, "the line does not end: these are no objects line by line", line=number)
                if not raw.strip():
                    continue
                rows += 1
                problem = _fill(values, raw, kinds, is_first=number == 1)
                if problem is None:
                    kept.append(number)
                else:
                    kind, column, reason = problem
                    problems.add(kind, ImportProblem(self.name, number, column, reason))
                if progress is not None and rows % ROWS_AT_A_TIME == 0:
                    progress(self.name, rows)
        return Table(
            columns={name: np.array(values[name], dtype=TYPES.get(kind, object)) for name, kind in kinds.items()},
            lines=Stretches.of(np.array(kept, dtype=np.int64)),
            is_swept=False,
            rows_read=rows,
            ends_open=False,  # an object says itself where it ends
        )


def open_records(file: SourceFile) -> RecordSheet:
    """The sheet of a file of objects.

    Raises
    ------
    ImportRefused
        The file is empty, or its first line is no object.
    """
    with file.open() as (stream, _):
        raw = stream.readline(LONGEST_LINE)
    if not raw.strip():
        raise refuse(file.name, "the file is empty" if not raw else "the first line is empty", line=1)
    found = _object(raw, is_first=True)
    if isinstance(found, tuple):
        raise refuse(file.name, found[2], line=1, advice="Each line has to be one JSON object, as in {…}.")
    return RecordSheet(file, tuple(found))


def _object(raw: bytes, *, is_first: bool) -> dict[str, Any] | _Problem:
    try:
        text = raw.decode("utf-8-sig" if is_first else "utf-8")
    except UnicodeDecodeError as error:
        return "broken encoding", None, undecodable(error, "utf-8")
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        return "unreadable row", None, "the JSON is nested too deeply"
    except json.JSONDecodeError as error:
        cut = " (the file ends in the middle of this line)" if not raw.endswith(b"\n") else ""
        return "unreadable row", None, f"this is no JSON: {error.msg} at position {error.colno}{cut}"
    except ValueError as error:
        return "not a number", None, str(error)
    if not isinstance(found, dict):
        return "unreadable row", None, f"{shown(text.strip())} is no JSON object"
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _fill(values: dict[str, list[Any]], raw: bytes, kinds: Mapping[str, Kind], *, is_first: bool) -> _Problem | None:
    """Add an object to the columns, or say what keeps it out."""
    found = _object(raw, is_first=is_first)
    if isinstance(found, tuple):
        return found
    row: list[Any] = []
    for name, kind in kinds.items():
        text = _text(found.get(name), kind)
        if text is None:
            return "unusable value", name, f"{shown(json.dumps(found[name]))} is neither a text nor a number"
        if kind != "text" and not text.strip():
            return "missing field", name, "the field is empty" if name in found else "the object has no such key"
        if not text.isprintable() and ("\0" in text or any("\ud800" <= mark <= "\udfff" for mark in text)):
            return "unusable character", name, "the field holds a NUL or half a character, which belongs in no text"
        try:
            row.append(value_of(text, kind))
        except ValueError as error:
            return "not a number", name, str(error)
    for name, value in zip(kinds, row, strict=True):
        values[name].append(value)
    return None


def _text(value: Any, kind: Kind) -> str | None:
    """A value as a table would have it; lists of texts are joined by "|"; None: it has no place in a table."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        whole = isinstance(value, float) and value.is_integer() and kind in ("whole", "time")
        return str(int(value)) if whole else str(value)
    if kind == "text" and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "|".join(value)
    return None
