"""Formatting of values in files: one rule for every text format."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

MISSING = ""  # the missing code of every variable: an empty cell
FORMULA = ("=", "+", "-", "@", "|", "%")


def iso_time(value: datetime) -> str:
    """A time as ISO 8601 in UTC, to the millisecond."""
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def cell(value: Any) -> str:
    """A value as written to a file.

    Booleans are 1 and 0, times ISO 8601 in UTC, nothing an empty cell, line breaks spaces, lists and mappings
    JSON. Text that a spreadsheet would run as a formula gets an apostrophe before it; numbers are never touched.
    """
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, datetime):
        return iso_time(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    text = " ".join(str(value).split("\n")).replace("\r", "").replace("\x00", "")
    # Spreadsheets pass over leading spaces; a tab or a line break can also start a formula.
    return f"'{text}" if text.lstrip(" \t").startswith(FORMULA) or text[:1] == "\t" else text


def plain(value: Any) -> Any:
    """A value as JSON holds it: times as text, everything else as it is; JSON runs no formula."""
    return iso_time(value) if isinstance(value, datetime) else value
