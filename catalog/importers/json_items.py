"""JSON Lines of items: an object a line, its values texts or lists of texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from catalog.importers.base import ImportProblem, Progress
from catalog.importers.layout import LONGEST_LINE, ROWS_AT_A_TIME, shown, undecodable
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile, refuse

Texts = dict[str, tuple[str, ...]]


def json_items(
    file: SourceFile, problems: Problems, progress: Progress | None = None
) -> Iterator[tuple[int, Texts | None]]:
    """The objects of a file by line, each key's values as texts; None for a line that cannot be taken.

    Empty lines are no rows. Numbers are taken as texts; null, empty texts and empty lists as nothing.

    Raises
    ------
    ImportRefused
        The file is empty, damaged or beyond its limit, or a line does not end.
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
    """A line that cannot be taken: kind of problem, column, reason."""


def _parsed(raw: bytes, *, is_first: bool) -> dict[str, Any]:
    try:
        text = raw.decode("utf-8-sig" if is_first else "utf-8")
    except UnicodeDecodeError as error:
        raise _Unusable("broken encoding", None, undecodable(error, "utf-8-sig")) from error
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except RecursionError as error:
        raise _Unusable("unreadable row", None, "the line is nested too deeply") from error
    except ValueError as error:
        raise _Unusable("unreadable row", None, f"the line is no JSON ({error})") from error
    if not isinstance(found, dict):
        raise _Unusable("unreadable row", None, "the line is JSON, but no object ({…})")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice in one object")
    return found


def _texts(found: dict[str, Any]) -> Texts:
    texts: Texts = {}
    for key, value in found.items():
        values = value if isinstance(value, list) else [value]
        for one in values:
            if isinstance(one, dict | list | bool) or one in (float("inf"), float("-inf")) or one != one:
                raise _Unusable("unusable value", key, f"{shown(json.dumps(one))} is neither a text nor a number")
        kept = (str(one).strip() for one in values if one is not None)
        texts[key] = tuple(text for text in kept if text)
        if any(_is_broken(text) for text in texts[key]):
            raise _Unusable("broken encoding", key, "the text holds half of a surrogate pair, which is no character")
    return texts


def _is_broken(text: str) -> bool:
    """Whether a text cannot be written as UTF-8: JSON can spell half of a surrogate pair."""
    return any("\ud800" <= character <= "\udfff" for character in text)
