"""Reads a clean delimited file with pandas."""

from __future__ import annotations

import csv
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import ImportRefused, Progress
from catalog.importers.layout import ROWS_AT_A_TIME, Kind, Layout, Table
from catalog.importers.number_reader import narrow
from catalog.importers.sources import SourceFile, Watched

if TYPE_CHECKING:
    import pandas as pd

_DTYPES: dict[str, str] = {"whole": "str", "number": "float64", "time": "str", "id": "str", "text": "str"}


def read_text(file: SourceFile, layout: Layout, progress: Progress | None) -> Table | None:
    """The whole file by pandas; None if any row is doubtful, so that it is read by line."""
    import pandas as pd

    names, gaps = _names(layout)
    is_used = layout.kinds.keys()
    dtypes = {name: _DTYPES[layout.kinds[name]] if name in is_used else "str" for name in names}
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in layout.kinds}
    rows = 0
    with file.open() as (stream, watch), warnings.catch_warnings():
        warnings.simplefilter("error")  # pandas warns where it drops fields
        watch.count(b"\n", b'"', b"\0", layout.delimiter.encode(), only_if=layout.has_free_text)
        try:
            # All columns are read, as pandas overlooks fields too many where it is to use some columns only.
            chunks = pd.read_csv(
                stream,
                sep=layout.delimiter[0],
                decimal=layout.decimal,
                header=None,
                names=names,
                skiprows=1 if layout.has_header else 0,
                dtype=dtypes,
                index_col=False,
                na_filter=False,
                skip_blank_lines=False,
                quoting=csv.QUOTE_MINIMAL if layout.has_quotes else csv.QUOTE_NONE,
                encoding=layout.encoding,
                chunksize=ROWS_AT_A_TIME,
                low_memory=False,  # the chunks are small already
            )
            for chunk in chunks:
                rows += len(chunk)
                for name, kind in layout.kinds.items():
                    column = _typed_column(chunk[name], kind)
                    if column is None:
                        return None
                    parts[name].append(column)
                if any((chunk[gap] != "").any() for gap in gaps):
                    return None
                if progress is not None:
                    progress(file.name, rows)
        except ImportRefused:  # a ValueError as well
            raise
        except (ValueError, OverflowError, Warning):  # ParserError and UnicodeDecodeError are ValueErrors
            return None
        ends_open = watch.last_byte != b"\n"
    if rows == 0 or (ends_open and layout.needs_final_newline):
        return None
    if layout.has_free_text and _hides_something(watch, layout, rows + layout.has_header, ends_open):
        return None
    return Table(
        columns={name: np.concatenate(parts.pop(name)) for name in layout.kinds},
        lines=1 + layout.has_header,
        is_bulk_read=True,
        rows_read=rows,
        ends_open=ends_open,
    )


def _names(layout: Layout) -> tuple[list[str], list[str]]:
    """The columns for pandas, and those of them that must be empty.

    A separator of several characters would send pandas to its slow engine, so "::" is read as ":" with an
    empty column between.
    """
    gaps: list[str] = []
    names: list[str] = []
    for index, column in enumerate(layout.columns):
        between = [f"\0{index}.{extra}" for extra in range(1, len(layout.delimiter))] if index else []
        gaps += between
        names += [*between, column]
    return names, gaps


def _hides_something(watch: Watched, layout: Layout, rows: int, ends_open: bool) -> bool:
    """Whether the file has other lines, or other delimiters, than its rows account for, or NUL characters.

    A line end inside a quoted field may be an open quotation mark that swallows rows; a row without its last
    fields looks like one whose last fields are empty.
    """
    if watch.counts[b"\n"] + ends_open != rows or watch.counts[b"\0"]:
        return True
    has_quotes = watch.counts[b'"'] > 0  # then delimiters may be text
    return not has_quotes and watch.counts[layout.delimiter.encode()] != rows * (len(layout.columns) - 1)


def _typed_column(series: pd.Series[Any], kind: Kind) -> NDArray[Any] | None:
    """A chunk's column in its final type; None where a value is not of its kind."""
    import pandas as pd

    if kind == "whole":
        # Typed as whole numbers pandas would take "3." and "1e3" for some.
        digits = series.str.strip()
        return narrow(digits.astype("int64").to_numpy()) if digits.str.fullmatch(r"[+-]?[0-9]+").all() else None
    if kind == "number":
        numbers: NDArray[Any] = series.to_numpy()
        return numbers if np.isfinite(numbers).all() else None
    texts: NDArray[Any] = series.to_numpy(dtype=object)
    if kind == "text":
        return texts
    if kind == "id":
        trimmed = series.str.strip().to_numpy(dtype=object)
        return trimmed if all(trimmed) else None
    try:
        whole: NDArray[Any] = pd.to_numeric(series).to_numpy()
    except ValueError:
        times = pd.to_datetime(series, format="ISO8601", utc=True)
        seconds: NDArray[Any] = times.to_numpy(dtype="datetime64[s]").astype(np.int64)
        return seconds
    return whole if whole.dtype == np.int64 else None
