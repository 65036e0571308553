"""Reads the requested columns of Parquet files batch by batch, with Apache Arrow."""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import ImportProblem
from catalog.importers.problems import Problems
from catalog.importers.reading.numbers import narrow
from catalog.importers.reading.records import text_of
from catalog.importers.reading.tables import ROWS_AT_A_TIME, Batch, Kind, shown
from catalog.importers.sources import SourceFile, refuse

_MOST_COLUMNS = 10_000
_DAMAGED = "Write or download the file again."


def parquet_columns(file: SourceFile) -> tuple[str, ...]:
    """The names of the columns of a Parquet file. Raises ImportRefused when it is none or damaged, unfolds beyond its
    limit, or has a column twice.
    """
    with _opened(file) as parquet:
        metadata = parquet.metadata
        unpacked = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
        names = tuple(str(name) for name in parquet.schema_arrow.names)
    _check_size(file, unpacked)
    if len(names) > _MOST_COLUMNS:
        raise refuse(file.name, f"it has {len(names):,} columns; at most {_MOST_COLUMNS:,} are read")
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    if twice:
        raise refuse(file.name, f"the file has column {shown(twice[0])} twice")
    return names


def parquet_batches(file: SourceFile, kinds: Mapping[str, Kind], problems: Problems) -> Iterator[Batch]:
    """The requested columns, as numbers where they are; row numbers, from 1, take the place of lines."""
    import pyarrow as pa

    before = 0
    for batch in _batches(file, ROWS_AT_A_TIME, list(kinds)):
        is_kept = np.ones(batch.num_rows, dtype=np.bool_)
        columns: dict[str, Any] = {}
        for name, kind in kinds.items():
            column = batch.column(name)
            numbers = _numbers(column, kind)
            if numbers is not None:
                columns[name] = numbers
                continue
            texts: list[str] = []
            for row, value in enumerate(column.to_pylist()):
                text = _text(value, kind)
                if text is None and is_kept[row]:
                    reason = f"{shown(str(value))} is neither a text nor a number"
                    problems.add("not a number", ImportProblem(file.name, before + row + 1, name, reason, "row"))
                    is_kept[row] = False
                texts.append(text or "")
            columns[name] = pa.array(texts, pa.string())
        lines = np.arange(before + 1, before + 1 + batch.num_rows, dtype=np.int64)
        if not is_kept.all():
            columns = {
                name: column[is_kept] if isinstance(column, np.ndarray) else column.filter(is_kept)
                for name, column in columns.items()
            }
            lines = lines[is_kept]
        yield Batch(columns, lines, batch.num_rows)
        before += batch.num_rows


def parquet_head(file: SourceFile, n: int) -> list[tuple[str, ...]]:
    """The first `n` rows as texts."""
    batch = next(_batches(file, n), None)
    rows = [] if batch is None else batch.to_pylist()
    return [tuple(_text(value, "text") or "" for value in row.values()) for row in rows]


def _check_size(file: SourceFile, n_bytes: int) -> None:
    if n_bytes > file.most:
        raise refuse(
            file.name,
            f"it unpacks to more than {file.most:,} bytes, far more than its size lets expect",
            advice="If the file is sound, write it as .csv and import that.",
        )


def _batches(file: SourceFile, n: int, names: list[str] | None = None) -> Iterator[Any]:
    """Batches of `n` rows, refused once they unfold beyond the file's limit.

    Texts stay dictionaries: one that is repeated in every row is counted before it is unfolded.
    """
    import pyarrow.compute as pc

    with _opened(file) as parquet:
        leaves = [parquet.schema.column(number) for number in range(len(parquet.schema))]
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and leaf.logical_type.type == "STRING"]
    unfolded = 0
    with _opened(file, texts) as parquet:
        for batch in parquet.iter_batches(batch_size=n, columns=names, use_threads=True):
            unfolded += batch.nbytes
            for column in batch.columns:
                if hasattr(column, "dictionary"):
                    lengths = pc.binary_length(column.dictionary).cast("int64")
                    unfolded += pc.sum(pc.take(lengths, column.indices)).as_py() or 0
            _check_size(file, unfolded)
            yield batch


@contextmanager
def _opened(file: SourceFile, texts: list[str] | None = None) -> Iterator[Any]:
    """The file opened by Arrow; errors of Arrow become refusals."""
    from pyarrow.parquet import ParquetFile

    # What Arrow's errors are below, and those of an archive around the file.
    damage = (OSError, ValueError, ArithmeticError, NotImplementedError, zipfile.BadZipFile, zlib.error)
    with file.open_packed() as stream:
        try:
            yield ParquetFile(stream, read_dictionary=texts)
        except damage as error:
            if isinstance(error, ValueError) and type(error).__module__.startswith("catalog."):
                raise  # a refusal of our own
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise refuse(
                file.name, f"this is not a Parquet file, or a damaged one ({first[:120]})", advice=_DAMAGED
            ) from error


def _numbers(column: Any, kind: Kind) -> NDArray[Any] | None:
    """A batch's column in its final type; None where it is not a column of numbers, or has empty fields."""
    name = str(column.type)
    is_whole = name.startswith(("int", "uint")) and name != "uint64"
    if column.null_count or kind in ("text", "name"):
        return None
    if kind in ("whole", "time", "id") and is_whole:
        numbers = column.to_numpy(zero_copy_only=False)
        if kind == "id":
            return np.array([str(number) for number in numbers.tolist()], dtype=object)
        return narrow(numbers.astype(np.int64, copy=False))
    if kind == "number" and (is_whole or name in ("float", "double")):
        numbers = column.to_numpy(zero_copy_only=False).astype(np.float64)
        return narrow(numbers) if np.isfinite(numbers).all() else None
    return None


def _text(value: Any, kind: Kind) -> str | None:
    """A value as text; None where it is neither a text nor a number."""
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if hasattr(value, "as_tuple"):  # a decimal
        return str(value)
    if kind == "text" and value != value:  # as pandas writes a number that is not there
        return ""
    return text_of(value, kind)
