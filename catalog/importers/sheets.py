"""Files whose first row, schema or first object names their columns: delimited text, Parquet, JSON Lines."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from catalog.importers.base import Progress
from catalog.importers.kinds import plain
from catalog.importers.layout import Kind, Layout, Table, first_line, shown
from catalog.importers.options import Options
from catalog.importers.parquet import ParquetSheet, open_parquet
from catalog.importers.problems import Problems
from catalog.importers.records import RecordSheet, open_records
from catalog.importers.sources import SourceFile, refuse
from catalog.importers.table_reader import read_table

DELIMITERS = (",", ";", "\t", "|")
PARQUET = (".parquet", ".pq")
RECORDS = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


class Sheet(Protocol):
    """A file with named columns."""

    @property
    def name(self) -> str:
        """The file's name, for messages."""

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns, each once."""

    def read(
        self, kinds: Mapping[str, Kind], problems: Problems, *, by_line: bool = False, progress: Progress | None = None
    ) -> Table:
        """The requested columns; rows that cannot be read are added to `problems`."""


@dataclass(frozen=True, slots=True)
class DelimitedSheet:
    """Delimited text; without a header its columns are numbered."""

    file: SourceFile
    columns: tuple[str, ...]
    delimiter: str
    encoding: str
    decimal: str
    has_header: bool = True

    @property
    def name(self) -> str:
        """The file's name."""
        return self.file.name

    def read(
        self, kinds: Mapping[str, Kind], problems: Problems, *, by_line: bool = False, progress: Progress | None = None
    ) -> Table:
        """The requested columns."""
        layout = Layout(
            columns=self.columns,
            kinds=kinds,
            delimiter=self.delimiter,
            encoding=self.encoding,
            decimal=self.decimal,
            has_header=self.has_header,
            needs_final_newline=False,
        )
        return read_table(self.file, layout, problems, by_line=by_line, progress=progress)


def open_sheet(file: SourceFile, options: Options) -> DelimitedSheet | ParquetSheet | RecordSheet:
    """The sheet of a file by its name; a file that is neither Parquet nor JSON Lines is delimited text. Raises
    ImportRefused: the columns have no names, or one name is given twice.
    """
    name = file.name.lower()
    if name.endswith(PARQUET):
        return open_parquet(file)
    if name.endswith(RECORDS):
        return open_records(file)
    delimiter, header = read_header(file, options)
    return DelimitedSheet(file, tuple(header), delimiter, options.codec, options.decimal, options.has_header)


def read_header(file: SourceFile, options: Options) -> tuple[str, list[str]]:
    """The delimiter and the names of the columns."""
    line = first_line(file, options.codec)
    # Where numbers have decimal commas, another character is the likelier delimiter.
    candidates = [
        character for character in DELIMITERS if character != options.decimal and character in line
    ] or DELIMITERS
    delimiter = options.delimiter or max(candidates, key=line.count)
    try:
        (header,) = csv.reader([line], delimiter=delimiter, strict=True)
    except csv.Error as error:
        raise refuse(file.name, f"the header cannot be read ({error})", line=1) from error
    header = [name.strip() for name in header]
    if len(header) < 2:
        alternatives = [character for character in DELIMITERS if character in line and character != delimiter]
        seems = f"; it seems to be delimited by {alternatives[0]!r}" if alternatives else ""
        reason = f"the header {shown(line)} has one column when parted at {delimiter!r}{seems}"
        raise refuse(file.name, reason, line=1, options=("delimiter",))
    if not options.has_header:
        return delimiter, numbered_columns(len(header))
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise refuse(file.name, f"the header names column {shown(twice[0])} twice", line=1)
    return delimiter, header


def numbered_columns(n: int) -> list[str]:
    """The names of the columns of a table without a header.

    Examples
    --------
    >>> numbered_columns(2)
    ['Column 1', 'Column 2']
    """
    return [f"Column {number}" for number in range(1, n + 1)]


def column_of(
    sheet: Sheet,
    wanted: str | None,
    usual: tuple[str, ...],
    what: str,
    *,
    is_needed: bool = True,
    advice: str = "",
    options: Sequence[str] = (),
) -> str:
    """The column for a role; empty if there is none and none is needed. Raises ImportRefused when there is no such
    column.

    `wanted` is its name, by default one of the usual names, compared without case, spaces, "_", "." and "-". `what`
    names the role in messages, such as "users"; `advice` says what to do where there is none; `options` are those of
    the import that name the column, or make it needless.
    """
    if wanted is not None:
        if wanted in sheet.columns:
            return wanted
        reason = f"there is no column {shown(wanted)} for the {what}: the header has {', '.join(sheet.columns)}"
        raise refuse(sheet.name, reason, line=1)
    by_name = {plain(name): name for name in sheet.columns}
    matches = [by_name[name] for name in usual if name in by_name]
    if matches or not is_needed:
        return matches[0] if matches else ""
    reason = f"no column is known to hold the {what}: the header has {', '.join(map(shown, sheet.columns))}"
    usual_advice = "The first line has to name the columns: say which is which."
    raise refuse(sheet.name, reason, line=1, advice=advice or usual_advice, options=options)
