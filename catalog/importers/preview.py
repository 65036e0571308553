"""The first rows of a dataset, and what is detected in them, before anything is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from catalog.importers.auto import detect
from catalog.importers.base import ImportRefused, Limits, Policy, RatingScale
from catalog.importers.delimited import BASKET_NAMES, USUAL_NAMES
from catalog.importers.detection import (
    decimal_of,
    detected_delimiter,
    detected_encoding,
    detected_roles,
    first_lines,
    rows_of,
    seems_header,
)
from catalog.importers.formats import TEXT
from catalog.importers.items import USUAL_ITEM_NAMES
from catalog.importers.kinds import plain, usual_kind
from catalog.importers.line_reader import value_of
from catalog.importers.options import codec_of
from catalog.importers.parquet import open_parquet
from catalog.importers.records import open_records
from catalog.importers.scales import detected_scale
from catalog.importers.sheets import PARQUET, RECORDS, numbered_columns
from catalog.importers.sources import Source, SourceFile, open_source, refuse

ROWS_SHOWN = 8
SAMPLE_BYTES = 1 << 18  # of a text, in which columns and scale are detected
SAMPLE_ROWS = 1000  # of Parquet and JSON Lines
MOST_COLUMNS = 60  # a wider table is no list of ratings
_TABLES = ("parquet", "jsonlines", "delimited")
_USUAL = frozenset(name for names in (*USUAL_NAMES.values(), BASKET_NAMES) for name in names)


@dataclass(frozen=True, slots=True)
class Declared:
    """How a text is written, as people say; what is None is detected."""

    delimiter: str | None = None
    encoding: str | None = None
    has_header: bool | None = None


@dataclass(frozen=True, slots=True)
class TablePreview:
    """The beginning of a table."""

    file: str
    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]  # the line (of Parquet: row) on which each ends, and its fields
    n_sampled: int  # rows in which things were detected
    roles: Mapping[str, str] = field(default_factory=dict)  # column to user, item, rating or time
    scale: RatingScale | None = None  # of the sampled ratings; None where there is no evident one
    # Of a text; empty for Parquet and JSON Lines.
    delimiter: str = ""
    encoding: str = ""
    has_header: bool = True
    decimal: str = "."

    @property
    def is_text(self) -> bool:
        """Whether it is delimited text."""
        return bool(self.delimiter)

    @property
    def is_usage(self) -> bool:
        """Whether no column seems to hold ratings."""
        return "rating" not in self.roles.values()


@dataclass(frozen=True, slots=True)
class Preview:
    """What a source is. `table` is None where the format has fixed columns, so that nothing is left to say."""

    source_format: str
    files: tuple[str, ...]
    table: TablePreview | None


def preview_dataset(path: Path, *, limits: Limits, declared: Declared | None = None) -> Preview:
    """Recognise a dataset and read its first rows. Raises ImportRefused: nothing known is there, the archive is damaged
    or unfolds beyond the limits, or the file is empty or no table.
    """
    source = open_source(path, limits)
    try:
        source_format = detect(path, Policy(limits=limits))
    except ImportRefused:
        if len(source.files) != 1:
            raise
        source_format = "delimited"  # a single file of another name may be a table still
    names = tuple(file.name for file in source.files.values())
    if source_format not in _TABLES:
        return Preview(source_format, names, None)
    return Preview(source_format, names, _with_roles(_table(_table_file(source), declared or Declared(), _USUAL)))


def preview_items(path: Path, *, limits: Limits, encoding: str | None = None) -> TablePreview:
    """The first rows of a file of items, which has a header. The roles are the options of the import, and kinds of
    features. Raises ImportRefused as `preview_dataset` does.
    """
    source = open_source(path, limits)
    table = _table(_table_file(source), Declared(encoding=encoding, has_header=True), _USUAL)
    return _replaced(table, roles=item_roles(table.columns))


def item_roles(columns: Sequence[str]) -> dict[str, str]:
    """What each column of a file of items seems to hold: items_id, title, year, plot, image, trailer, or a kind.

    Examples
    --------
    >>> item_roles(["isbn", "name", "authors", "shelf"])
    {'isbn': 'items_id', 'name': 'title', 'authors': 'author'}
    """
    roles: dict[str, str] = {}
    for name in columns:
        kind = usual_kind(name)
        if plain(name) in (*USUAL_ITEM_NAMES, "id"):
            kind = "items_id"
        elif plain(name) == "name":
            kind = "title"
        if kind is not None and "_" not in kind.removeprefix("items_") and kind not in roles.values():
            roles[name] = kind
    if "items_id" not in roles.values() and columns and columns[0] not in roles:
        roles = {columns[0]: "items_id", **roles}
    return roles


def _table_file(source: Source) -> SourceFile:
    matches = [file for name, file in source.files.items() if name.endswith(PARQUET + RECORDS + TEXT)]
    candidates = matches or list(source.files.values())
    if len(candidates) != 1:
        here = ", ".join(file.name for file in list(source.files.values())[:8]) or "nothing"
        raise refuse(source.name, f"one table is needed (there is {here})", advice="Upload the file itself.")
    return candidates[0]


def _table(file: SourceFile, declared: Declared, usual: frozenset[str]) -> TablePreview:
    name = file.name.lower()
    if name.endswith(PARQUET + RECORDS):
        sheet = open_parquet(file) if name.endswith(PARQUET) else open_records(file)
        sample = sheet.head(SAMPLE_ROWS)
        table = TablePreview(file.name, sheet.columns, tuple(enumerate(sample, start=1)), len(sample))
    else:
        table = _text(file, declared, usual)
    if len(table.columns) > MOST_COLUMNS:
        reason = f"the table has {len(table.columns)} columns; at most {MOST_COLUMNS} are shown here"
        raise refuse(file.name, reason, line=1, advice="Keep the columns of users, items, ratings and times.")
    if not table.rows:
        raise refuse(file.name, "there is no row after the header", line=2)
    return table


def _text(file: SourceFile, declared: Declared, usual: frozenset[str]) -> TablePreview:
    encoding = declared.encoding or detected_encoding(file)
    lines = first_lines(file, codec_of(encoding), SAMPLE_BYTES)
    if not lines or not lines[0].strip():
        raise refuse(file.name, "the first line is empty" if lines else "the file is empty", line=1)
    delimiter = declared.delimiter or detected_delimiter(file.name, lines)
    rows = [(line, tuple(fields)) for line, fields in rows_of(lines, delimiter)]
    first = [name.strip() for name in rows[0][1]]
    has_header = declared.has_header if declared.has_header is not None else seems_header(first, usual)
    if len(first) < 2:
        raise refuse(file.name, f"the first line has one column when parted at {delimiter!r}", line=1)
    columns = first if has_header else numbered_columns(len(first))
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise refuse(file.name, f"the header names column {twice[0]!r} twice", line=1, options=("has_header",))
    body = rows[1:] if has_header else rows
    return TablePreview(
        file.name, tuple(columns), tuple(body), len(body), delimiter=delimiter, encoding=encoding, has_header=has_header
    )


def _with_roles(table: TablePreview) -> TablePreview:
    """The table with roles, scale and decimal character, and with the rows to show only."""
    roles = detected_roles(table.columns, [fields for _, fields in table.rows], has_header=table.has_header)
    rating = next((name for name, role in roles.items() if role == "rating"), None)
    at = table.columns.index(rating) if rating else 0
    texts = [fields[at] for _, fields in table.rows if rating and at < len(fields)]
    decimal = decimal_of(texts) if table.is_text else "."
    return _replaced(table, roles=roles, scale=_scale(texts, decimal), decimal=decimal)


def _replaced(
    table: TablePreview, *, roles: Mapping[str, str], scale: RatingScale | None = None, decimal: str = "."
) -> TablePreview:
    return TablePreview(
        file=table.file,
        columns=table.columns,
        rows=table.rows[:ROWS_SHOWN],
        n_sampled=table.n_sampled,
        roles=roles,
        scale=scale,
        delimiter=table.delimiter,
        encoding=table.encoding,
        has_header=table.has_header,
        decimal=decimal,
    )


def _scale(texts: Sequence[str], decimal: str) -> RatingScale | None:
    values = []
    for text in texts:
        try:
            values.append(value_of(text, "number", decimal))
        except ValueError:
            continue
    try:
        return detected_scale("", np.array(values, dtype=np.float64)) if values else None
    except ImportRefused:
        return None
