"""Texts as numbers, times and ids: whole columns at once, and value by value where one is unusual."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import ImportProblem
from catalog.importers.problems import DECIMAL_COMMA, Problems
from catalog.importers.reading.tables import Batch, Kind, Written, shown

TYPES: Mapping[str, Any] = {"whole": np.int64, "time": np.int64, "number": np.float64}
# As Arrow reads them, which knows no plus sign.
_WHOLE = r"^-?[0-9]{1,18}$"
_NUMBER = r"^-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$"
_ISO = (
    r"^[12][0-9]{3}-[01][0-9]-[0-3][0-9]([T ][0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$"
)
_WITH_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_FORMULA = r'^="(.*)"$'  # how spreadsheets keep an id from becoming a number


def typed(
    batch: Batch, file: str, kinds: Mapping[str, Kind], written: Written, problems: Problems, unit: str = "line"
) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
    """The columns of a batch in their types, of the rows whose fields all are of their kind, and the lines of these.

    The other rows are added to `problems`, each for its first wrong field. Texts and ids are arrays of str.
    """
    columns: dict[str, NDArray[Any]] = {}
    is_kept = np.ones(len(batch.lines), dtype=np.bool_)
    for name, kind in kinds.items():
        texts = batch.columns[name]
        if isinstance(texts, np.ndarray):
            columns[name] = texts
            continue
        columns[name], is_read = _column(texts, kind, written)
        for row in np.flatnonzero(~is_read & is_kept).tolist():
            text = texts[row].as_py()
            try:
                if kind != "text" and kind != "name" and not text.strip():
                    raise _Unusable("missing field", "the field is empty")
                if "\0" in text:
                    raise _Unusable("unusable character", "the field holds a NUL character; it is not a text character")
                columns[name][row] = value_of(text, kind, written)
            except _Unusable as unusable:
                what, reason = unusable.args
            except ValueError as error:
                is_comma = kind == "number" and written.decimal == "." and _WITH_COMMA.fullmatch(text.strip())
                what, reason = DECIMAL_COMMA if is_comma else "not a number", str(error)
            else:
                continue
            is_kept[row] = False
            problems.add(what, ImportProblem(file, int(batch.lines[row]), name, reason, unit))
    if is_kept.all():
        return columns, batch.lines
    return {name: column[is_kept] for name, column in columns.items()}, batch.lines[is_kept]


class _Unusable(ValueError):
    """A field that is no value: kind of problem, reason."""


def _column(texts: Any, kind: Kind, written: Written) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """A column in its type, and which of its values were read; the others are to be looked at one by one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == "text":
        return _strings(texts), ~_bools(pc.match_substring(texts, "\0"))
    trimmed = pc.utf8_trim_whitespace(texts)
    if kind in ("id", "name"):
        if pc.any(pc.starts_with(trimmed, '="')).as_py():
            trimmed = pc.replace_substring_regex(trimmed, _FORMULA, r"\1")
        is_read = ~_bools(pc.match_substring(trimmed, "\0"))
        return _strings(trimmed), is_read if kind == "name" else is_read & ~_bools(pc.equal(trimmed, ""))
    if kind == "number" and written.decimal == ",":
        trimmed = pc.replace_substring(pc.replace_substring(trimmed, ".", "_"), ",", ".")
    if kind == "time" and not written.time_format:
        trimmed = pc.replace_substring_regex(trimmed, r"^([+-]?[0-9]+)\.0+$", r"\1")
    is_read = _bools(pc.match_substring_regex(trimmed, _NUMBER if kind == "number" else _WHOLE))
    if kind == "time" and (written.time_format or not is_read.all()):
        return _times(trimmed, is_read, written.time_format)
    plain = trimmed if is_read.all() else pc.if_else(pa.array(is_read), trimmed, "0")
    numbers = plain.cast(pa.float64() if kind == "number" else pa.int64()).to_numpy(zero_copy_only=False)
    return numbers if numbers.flags.writeable else numbers.copy(), is_read


def _times(texts: Any, is_whole: NDArray[np.bool_], form: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    import pandas as pd
    import pyarrow.compute as pc

    seconds = np.zeros(len(texts), dtype=np.int64)
    is_iso = _bools(pc.match_substring_regex(texts, _ISO)) if not form else np.ones(len(texts), dtype=np.bool_)
    if is_iso.any():
        series = pd.Series(_strings(texts)[is_iso])
        moments = pd.to_datetime(series, format=form or "ISO8601", utc=True, errors="coerce")
        is_moment = moments.notna().to_numpy()
        seconds[np.flatnonzero(is_iso)[is_moment]] = moments[is_moment].to_numpy(dtype="datetime64[s]").astype(np.int64)
        is_iso[np.flatnonzero(is_iso)[~is_moment]] = False
    if not form and is_whole.any():
        seconds[is_whole] = [int(text) for text in _strings(texts)[is_whole].tolist()]
    return seconds, is_iso if form else is_iso | is_whole


def _strings(texts: Any) -> NDArray[Any]:
    strings: NDArray[Any] = texts.to_numpy(zero_copy_only=False)
    return strings if strings.flags.writeable else strings.copy()


def _bools(column: Any) -> NDArray[np.bool_]:
    return np.array(column.to_numpy(zero_copy_only=False), dtype=np.bool_)


def value_of(text: str, kind: Kind, written: Written) -> Any:
    """One field in its type. Raises ValueError with the reason in words."""
    trimmed = text.strip()
    if kind == "text":
        return text
    if kind in ("id", "name"):
        return re.sub(_FORMULA, r"\1", trimmed)
    try:
        if kind == "whole":
            return _whole(trimmed)
        if kind == "number":
            return _number(trimmed, written.decimal)
    except ValueError:
        what = "a whole number" if kind == "whole" else "a number"
        raise ValueError(f"{shown(trimmed)} is not {what}") from None
    return _time(trimmed, written.time_format)


def _time(text: str, form: str) -> int:
    if form:
        try:
            moment = datetime.strptime(text, form)  # noqa: DTZ007  # UTC where the text has no zone
        except ValueError:
            raise ValueError(f"{shown(text)} is not a time in the form {form}") from None
    else:
        if re.fullmatch(r"[+-]?[0-9]{1,20}(\.0+)?", text):
            return _whole(text.partition(".")[0])
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError(f"{shown(text)} is neither seconds since 1970 nor an ISO 8601 time") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp() // 1)


def _whole(text: str) -> int:
    number = int(text)
    if "_" in text or not -(2**63) <= number < 2**63:  # Python reads 1_000; a table does not mean it
        raise ValueError(text)
    return number


def _number(text: str, decimal: str) -> float:
    if decimal == ",":
        if "." in text:
            raise ValueError(text)
        text = text.replace(",", ".")
    number = float(text)
    if "_" in text or not np.isfinite(number):
        raise ValueError(text)
    return number
