"""Reads items from JSON Lines: one object per line, with texts or lists of texts as values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from catalog.importers.base import ImportProblem, Progress
from catalog.importers.problems import Problems
from catalog.importers.reading.tables import LONGEST_LINE, ROWS_AT_A_TIME, shown, undecodable
from catalog.importers.sources import SourceFile, refuse

Texts = dict[str, tuple[str, ...]]


def json_items(
    file: SourceFile, problems: Problems, progress: Progress | None = None
) -> Iterator[tuple[int, Texts | None]]:
    """The objects of a file by line, each key's values as texts; None for a line that cannot be read.

    Empty lines are no rows. Numbers are taken as texts; null, empty texts and empty lists as nothing. Raises
    ImportRefused: the file is empty, damaged or beyond its limit, or a line does not end.
    """
    with file.open() as (stream, watch):
        number, rows = 0, 0
        while raw := stream.readline(LONGEST_LINE):
            number += 1
            if len(raw) == LONGEST_LINE:
                raise refuse(file.name, "the line does not end: these are no JSON Lines", line=number)
            if not raw.strip():
                continue
            rows += 1
            try:
                yield number, _texts(_parsed(raw, is_first=number == 1))
            except _Unusable as unusable:
                kind, column, reason = unusable.args
                problems.add(kind, ImportProblem(file.name, number, column, reason))
                yield number, None
            if progress is not None and rows % ROWS_AT_A_TIME == 0:
                progress(file.name, rows)
        if rows == 0:
            raise refuse(file.name, "the file is empty" if watch.bytes_read == 0 else "there is no line in it", line=1)


class _Unusable(Exception):
    """A line that cannot be read: kind of problem, column, reason."""


def _parsed(raw: bytes, *, is_first: bool) -> dict[str, Any]:
    try:
        text = raw.decode("utf-8-sig" if is_first else "utf-8")
    except UnicodeDecodeError as error:
        raise _Unusable("broken encoding", None, undecodable(error, "utf-8-sig")) from error
    try:
        parsed = json.loads(text, object_pairs_hook=_once)
    except RecursionError as error:
        raise _Unusable("unreadable row", None, "the line is nested too deeply") from error
    except ValueError as error:
        raise _Unusable("unreadable row", None, f"the line is no JSON ({error})") from error
    if not isinstance(parsed, dict):
        raise _Unusable("unreadable row", None, "the line is JSON, but no object ({…})")
    return parsed


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key comes twice in one object")
    return record


def _texts(record: dict[str, Any]) -> Texts:
    texts: Texts = {}
    for key, value in record.items():
        values = value if isinstance(value, list) else [value]
        for value in values:
            if isinstance(value, dict | list | bool) or value in (float("inf"), float("-inf")) or value != value:
                raise _Unusable("unusable value", key, f"{shown(json.dumps(value))} is neither a text nor a number")
        texts_of_values = (str(value).strip() for value in values if value is not None)
        texts[key] = tuple(text for text in texts_of_values if text)
        if any(_is_broken(text) for text in texts[key]):
            raise _Unusable("broken encoding", key, "the text holds half of a surrogate pair, which is no character")
    return texts


def _is_broken(text: str) -> bool:
    """Whether a text cannot be encoded as UTF-8, because JSON allows unpaired surrogates."""
    return any("\ud800" <= character <= "\udfff" for character in text)
