"""Reads objects: JSON or Python dictionaries, one per line, or one JSON array of them."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np

from catalog.importers.base import ImportProblem
from catalog.importers.problems import Problems
from catalog.importers.reading.tables import LONGEST_LINE, ROWS_AT_A_TIME, Batch, Kind, Records, shown, undecodable
from catalog.importers.sources import SourceFile, refuse


class UnusableRecord(ValueError):
    """An object that cannot be read: kind of problem, column, reason."""


def record_batches(
    file: SourceFile, records: Records, kinds: Mapping[str, Kind], problems: Problems
) -> Iterator[Batch]:
    """The objects of a file as texts by key, some at a time; those that cannot be read are added to `problems`."""
    import pyarrow as pa

    rows: list[list[str]] = []
    lines: list[int] = []
    rows_read = 0

    def batch() -> Batch:
        columns = zip(*rows, strict=True) if rows else [()] * len(kinds)
        arrays = {name: pa.array(texts, pa.string()) for name, texts in zip(kinds, columns, strict=True)}
        return Batch(arrays, np.array(lines, dtype=np.int64), rows_read)

    unit = "row" if records == "array" else "line"
    with file.open() as (stream, _):
        for number, record in numbered_records(stream, file.name, records):
            rows_read += 1
            try:
                if isinstance(record, UnusableRecord):
                    raise record
                rows.append([_field(record, name, kind) for name, kind in kinds.items()])
                lines.append(number)
            except UnusableRecord as unusable:
                what, column, reason = unusable.args
                problems.add(what, ImportProblem(file.name, number, column, reason, unit))
            if rows_read == ROWS_AT_A_TIME:
                yield batch()
                rows, lines, rows_read = [], [], 0
    yield batch()


def numbered_records(
    stream: BinaryIO, file: str, records: Records
) -> Iterator[tuple[int, dict[str, Any] | UnusableRecord]]:
    """Each object with its line (of an array: its number), or what keeps it from being read."""
    if records == "array":
        yield from enumerate(_array(stream, file), start=1)
        return
    number = 0
    while raw := stream.readline(LONGEST_LINE):
        number += 1
        if len(raw) == LONGEST_LINE:
            raise refuse(file, "the line does not end: these are no objects line by line", line=number)
        if raw.strip():
            try:
                yield number, _parsed(raw, is_first=number == 1, is_python=records == "dicts")
            except UnusableRecord as unusable:
                yield number, unusable


def _array(stream: BinaryIO, file: str) -> Iterable[dict[str, Any] | UnusableRecord]:
    try:
        objects = _JSON.decode(stream.read().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        why = error.args[2] if isinstance(error, UnusableRecord) else error
        raise refuse(
            file, f"this is not a JSON array of objects ({why})", advice="Write one object per line."
        ) from error
    return [
        each if isinstance(each, dict) else UnusableRecord("unreadable row", None, f"{shown(str(each))} is no object")
        for each in objects
    ]


def _parsed(raw: bytes, *, is_first: bool, is_python: bool) -> dict[str, Any]:
    cut = "" if raw.endswith(b"\n") else " (the file ends in the middle of this line)"
    what = "Python dictionary" if is_python else "JSON object"
    try:
        text = raw.decode("utf-8-sig" if is_first else "utf-8")
        parsed = ast.literal_eval(text.strip()) if is_python else _JSON.decode(text)
    except UnusableRecord:
        raise
    except UnicodeDecodeError as error:
        raise UnusableRecord("broken encoding", None, undecodable(error, "utf-8")) from error
    except (RecursionError, MemoryError) as error:
        raise UnusableRecord("unreadable row", None, f"the {what} is nested too deeply") from error
    except json.JSONDecodeError as error:
        reason = f"this is not valid JSON: {error.msg} at position {error.colno}{cut}"
        raise UnusableRecord("unreadable row", None, reason) from error
    except (SyntaxError, ValueError) as error:
        raise UnusableRecord("unreadable row", None, f"this is not a valid {what}{cut}") from error
    if not isinstance(parsed, dict):
        raise UnusableRecord("unreadable row", None, f"{shown(text.strip())} is not a {what}")
    return parsed


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise UnusableRecord("unreadable row", None, "a key comes twice in one object")
    return record


def _no_constant(name: str) -> Any:
    raise UnusableRecord("not a number", None, f"{name} is not a number")


_JSON = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def _field(record: Mapping[str, Any], name: str, kind: Kind) -> str:
    text = text_of(record.get(name), kind)
    if text is None:
        reason = f"{shown(json.dumps(record[name], default=str))} is neither a text nor a number"
        raise UnusableRecord("unusable value", name, reason)
    if kind not in ("text", "name") and not text.strip():
        reason = "the field is empty" if name in record else "the object has no such key"
        raise UnusableRecord("missing field", name, reason)
    if not text.isprintable() and ("\0" in text or any("\ud800" <= mark <= "\udfff" for mark in text)):
        reason = "the field holds a NUL or half a character, which is not a text character"
        raise UnusableRecord("unusable character", name, reason)
    return text


def text_of(value: Any, kind: Kind) -> str | None:
    """A value as text; lists of texts are joined by "|"; None if it cannot be a table value."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower() if kind == "text" else None
    if kind == "text" and isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int | float):
        is_whole = isinstance(value, float) and value.is_integer() and kind in ("whole", "time", "id")
        return str(int(value)) if is_whole else str(value)
    if kind == "text" and isinstance(value, list | tuple):
        flat = [part for each in value for part in (each if isinstance(each, list | tuple) else [each])]
        is_plain = all(isinstance(part, str | int | float | None) and not isinstance(part, bool) for part in flat)
        return "|".join(str(part) for part in flat if part is not None) if is_plain else None
    return None
