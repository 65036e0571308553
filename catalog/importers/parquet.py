"""Reads the requested columns of Parquet files batch by batch, with Apache Arrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import ImportProblem, Progress
from catalog.importers.layout import ROWS_AT_A_TIME, Kind, Stretches, Table, shown
from catalog.importers.line_reader import value_of
from catalog.importers.number_reader import narrow
from catalog.importers.problems import Problems
from catalog.importers.sources import SourceFile, refuse
from catalog.importers.typed_rows import TYPES, TypedRows

_MOST_COLUMNS = 10_000
_DAMAGED = "Write or download the file again."


@dataclass(frozen=True, slots=True)
class ParquetSheet:
    """A Parquet file; row numbers, from 1, take the place of lines."""

    file: SourceFile
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        """The file's name."""
        return self.file.name

    def head(self, n: int) -> list[tuple[str, ...]]:
        """The first `n` rows as texts."""
        batch = next(_batches(self.file, n), None)
        rows = [] if batch is None else batch.to_pylist()
        return [tuple("" if row[name] is None else str(row[name]) for name in self.columns) for row in rows]

    def read(
        self, kinds: Mapping[str, Kind], problems: Problems, *, by_line: bool = False, progress: Progress | None = None
    ) -> Table:
        """The requested columns."""
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in kinds}
        lines: list[NDArray[np.int64]] = []
        rows = 0
        for batch in _batches(self.file, ROWS_AT_A_TIME, list(kinds)):
            columns_read = {name: _column(batch.column(name), kind) for name, kind in kinds.items()}
            columns = {name: column for name, column in columns_read.items() if column is not None}
            rows_kept = np.arange(batch.num_rows, dtype=np.int64)
            if len(columns) < len(kinds):
                rows_kept, columns = self._by_row(batch, kinds, problems, rows)
            for name, column in columns.items():
                parts[name].append(column)
            lines.append(rows_kept + rows + 1)
            rows += batch.num_rows
            if progress is not None:
                progress(self.name, rows)
        if rows == 0:
            raise refuse(self.name, "the file has no row")
        return Table(
            columns={
                name: np.concatenate(
                    [part for part in parts[name] if len(part)] or [np.empty(0, TYPES.get(kind, object))]
                )
                for name, kind in kinds.items()
            },
            lines=Stretches.of(np.concatenate(lines)),
            is_bulk_read=False,
            rows_read=rows,
            ends_open=False,
        )

    def _by_row(
        self, batch: Any, kinds: Mapping[str, Kind], problems: Problems, before: int
    ) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
        """The valid rows of a batch and their columns; the others become problems."""
        typed = TypedRows(kinds)
        columns = [batch.column(name).to_pylist() for name in kinds]
        for row, fields in enumerate(zip(*columns, strict=True)):
            row_values: list[Any] = []
            for (name, kind), field in zip(kinds.items(), fields, strict=True):
                try:
                    row_values.append(_value(field, kind))
                except ValueError as error:
                    what = "missing field" if field is None or field == "" else "not a number"
                    problems.add(what, ImportProblem(self.name, before + row + 1, name, str(error)))
                    break
            else:
                typed.add(row_values, line=row)
        return typed.line_numbers(), typed.columns()


def open_parquet(file: SourceFile) -> ParquetSheet:
    """The sheet of a Parquet file. Raises ImportRefused when it is none or damaged, unfolds beyond its limit, or has a
    column twice.
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
    return ParquetSheet(file, names)


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

    damage = (OSError, ValueError, ArithmeticError, NotImplementedError)  # what Arrow's errors are below
    with file.open_packed() as stream:
        try:
            yield ParquetFile(stream, read_dictionary=texts)
        except damage as error:
            if isinstance(error, ValueError) and type(error).__module__.startswith("catalog."):
                raise  # a refusal of our own
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise refuse(
                file.name, f"this is no Parquet file, or a damaged one ({first[:120]})", advice=_DAMAGED
            ) from error


def _column(column: Any, kind: Kind) -> NDArray[Any] | None:
    """A batch's column in its final type; None if values have to be checked one by one."""
    if column.null_count:
        return None
    name = str(column.type)
    is_whole = name.startswith(("int", "uint")) and name != "uint64"
    if kind == "text":
        try:
            return np.array([_value(field, kind) for field in column.to_pylist()], dtype=object)
        except ValueError:
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


def _value(field: Any, kind: Kind) -> Any:
    """One field in its type. Raises ValueError with the reason in words."""
    if field is None:
        if kind == "text":
            return ""
        raise ValueError("the field is empty")
    if hasattr(field, "isoformat"):
        field = field.isoformat()
    if isinstance(field, list) and kind == "text":
        return "|".join(str(entry) for entry in field)
    if not isinstance(field, str | int | float) and not hasattr(field, "as_tuple"):  # the last: a decimal
        raise ValueError(f"{shown(str(field))} is neither a text nor a number")
    if isinstance(field, bool):
        raise ValueError(f"{field} is neither a text nor a number")
    if isinstance(field, float) and field.is_integer() and kind in ("whole", "time", "id"):
        field = int(field)
    text = str(field)
    if "\0" in text:
        raise ValueError("the field holds a NUL character, which belongs in no text")
    if kind != "text" and not text.strip():
        raise ValueError("the field is empty")
    return cast(Any, value_of(text, kind))
