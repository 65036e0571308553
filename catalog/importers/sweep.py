"""A clean file of delimited text as columns, in one sweep of pandas."""

from __future__ import annotations

import csv
import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from catalog.importers.base import ImportRefused, Progress
from catalog.importers.layout import ROWS_AT_A_TIME, Kind, Layout, Table
from catalog.importers.sources import SourceFile

_DTYPES: dict[str, str] = {"whole": "int64", "number": "float64", "time": "str", "id": "str", "text": "str"}


def sweep(file: SourceFile, layout: Layout, progress: Progress | None) -> Table | None:
    """The whole file at once by pandas; None where any row gives it pause.

    So does a line end inside a quoted field: it may be an open quotation mark that swallows rows.
    """
    # A separator of several characters would send pandas to its slow engine. "::" between numbers is read
    # as ":" with an empty column between.
    width = len(layout.delimiter)
    names = [
        name for position, column in enumerate(layout.columns) for name in _padded(column, position, width)
    ]
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in layout.kinds}
    rows = 0
    with file.open() as (stream, watch), warnings.catch_warnings():
        warnings.simplefilter("error")  # pandas warns where it drops fields
        watch.counts_line_ends = layout.has_free_text
        try:
            chunks = pd.read_csv(
                stream,
                sep=layout.delimiter[0],
                header=None,
                names=names,
                skiprows=1 if layout.has_header else 0,
                usecols=list(layout.kinds),
                dtype={name: _DTYPES[kind] for name, kind in layout.kinds.items()},
                index_col=False,
                na_filter=False,
                skip_blank_lines=False,
                quoting=csv.QUOTE_MINIMAL if layout.has_quotes else csv.QUOTE_NONE,
                encoding=layout.encoding,
                chunksize=ROWS_AT_A_TIME,
            )
            for chunk in chunks:
                rows += len(chunk)
                for name, kind in layout.kinds.items():
                    column = _swept_column(chunk[name], kind)
                    if column is None:
                        return None
                    parts[name].append(column)
                if progress is not None:
                    progress(file.name, rows)
        except ImportRefused:  # a ValueError as well
            raise
        except (ValueError, OverflowError, Warning):  # ParserError and UnicodeDecodeError are ValueErrors
            return None
        ends_open = watch.last_byte != b"\n"
        lines = watch.line_ends + ends_open
    if rows == 0 or (ends_open and layout.needs_final_newline):
        return None
    if layout.has_free_text and lines != rows + layout.has_header:
        return None
    return Table(
        columns={name: np.concatenate(column) for name, column in parts.items()},
        lines=np.arange(1, rows + 1) + layout.has_header,
        is_swept=True,
        rows_read=rows,
        ends_open=ends_open,
    )


def _padded(column: str, position: int, width: int) -> list[str]:
    return [*(f"\0{position}.{extra}" for extra in range(width - 1) if position), column]


def _swept_column(series: pd.Series[Any], kind: Kind) -> NDArray[Any] | None:
    """A chunk's column in its final type; None where a value is not of its kind."""
    if kind in ("whole", "number"):
        numbers: NDArray[Any] = series.to_numpy()
        return numbers if kind == "whole" or np.isfinite(numbers).all() else None
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
        return times.to_numpy(dtype="datetime64[s]").astype(np.int64)
    return whole if whole.dtype == np.int64 else None
