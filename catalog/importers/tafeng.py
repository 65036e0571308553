"""Ta-Feng: four months of a grocery's sales, as its own four files or as the one they are often merged into.

References
----------
Hsu, Chung & Huang (2004), Mining skewed and sparse transaction data for personalized shopping recommendation,
Machine Learning 57:35-59, doi:10.1023/B:MACH.0000035471.28235.6d.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from catalog.importers.base import LONGEST_FEATURE, ImportProblem, ParsedDataset, ParsedItem, Policy, Progress
from catalog.importers.ids import ordered_ids
from catalog.importers.layout import Kind, Layout, Stretches, Table, first_line, shown
from catalog.importers.options import Options
from catalog.importers.problems import Problems
from catalog.importers.row_checks import RatingColumns
from catalog.importers.rows import assemble
from catalog.importers.sources import Source, SourceFile, refuse
from catalog.importers.table_reader import read_table
from core.errors import ParameterError

MERGED = "ta_feng_all_months_merged.csv"
MONTHS = re.compile(r"d(11|12|01|02)(\.txt|\.csv)?")
_COLUMNS = ("date", "customer", "age", "area", "subclass", "product", "amount", "asset", "price")
_KINDS: dict[str, Kind] = {
    "date": "text",
    "customer": "id",
    "subclass": "text",
    "product": "id",
    "amount": "number",
    "asset": "number",
    "price": "number",
}
_DATES = ("%m/%d/%Y", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d")


def parse_tafeng(
    source: Source, options: Options, *, policy: Policy, progress: Progress | None = None
) -> ParsedDataset:
    """`ta_feng_all_months_merged.csv`, or `D11`, `D12`, `D01` and `D02`: who bought what, when, at which price.

    A product's utility is the mean of the price (or, where asked for, price less cost) of one piece. Raises
    ImportRefused: a missing file, other columns, or rows that the policy refuses. Raises ParameterError for a utility
    that is neither "price" nor "profit".
    """
    worth = options.utility or "price"
    if worth not in ("price", "profit"):
        raise ParameterError(f"The utility of Ta-Feng is {worth!r}: it can be 'price' or 'profit'.")
    files = [file for name, file in sorted(source.files.items()) if MONTHS.fullmatch(name)]
    if MERGED in source.files:
        files = [source.files[MERGED]]
    if not files:
        raise refuse(MERGED, f"the file is missing from {source.name}: it, or D11, D12, D01 and D02, holds the sales")
    problems = Problems()
    tables = [read_table(file, _layout(file), problems, progress=progress) for file in files]
    table = Table(
        columns={name: np.concatenate([table.columns[name] for table in tables]) for name in _KINDS},
        lines=Stretches.joined(
            [(len(table), table.lines, file.name) for table, file in zip(tables, files, strict=True)]
        ),
        is_bulk_read=False,
        rows_read=sum(table.rows_read for table in tables),
        ends_open=any(table.ends_open for table in tables),
    )
    file = files[0].name
    times, is_dated = _times(table, file, problems)
    amount = table.columns["amount"]
    is_sold = amount > 0

    def none_sold(row: int) -> ImportProblem:
        reason = f"{amount[row]:g} pieces is no sale"
        return ImportProblem(table.file(row, file), table.line(row), "amount", reason)

    problems.add_rows("no sale", np.flatnonzero(~is_sold), none_sold)
    paid = table.columns["price"] - (table.columns["asset"] if worth == "profit" else 0.0)
    each = np.divide(paid, amount, out=np.zeros(len(paid)), where=is_sold)
    whole = replace(table, columns={**table.columns, "time": times, "utility": each})
    sales = whole.selected(is_dated & is_sold)
    return assemble(
        source_format="tafeng",
        files=[source.name for source in files],
        table=sales,
        columns=RatingColumns(file, "customer", "product", None, "time", file, "utility"),
        items=_products(sales) or None,
        scale=None,
        policy=policy,
        problems=problems,
    )


def _layout(file: SourceFile) -> Layout:
    header = first_line(file, "latin-1")
    delimiter = ";" if header.count(";") > header.count(",") else ","
    if header.count(delimiter) != len(_COLUMNS) - 1:
        reason = f"the header has {header.count(delimiter) + 1} columns where {len(_COLUMNS)} belong ({shown(header)})"
        raise refuse(file.name, reason, line=1)
    return Layout(columns=_COLUMNS, kinds=_KINDS, delimiter=delimiter, encoding="latin-1", needs_final_newline=False)


def _times(table: Table, file: str, problems: Problems) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Seconds since 1970 of each row, and whether its date is one; the others become problems."""
    dates = table.columns["date"].tolist()
    known = {date: _seconds(date.strip()) for date in set(dates)}
    times = np.array([known[date] or 0 for date in dates], dtype=np.int64)
    is_dated = np.array([known[date] is not None for date in dates], dtype=np.bool_)

    def undated(row: int) -> ImportProblem:
        reason = f"{shown(dates[row])} is no date, as in 11/1/2000 or 2000-11-01"
        return ImportProblem(table.file(row, file), table.line(row), "date", reason)

    problems.add_rows("not a date", np.flatnonzero(~is_dated), undated)
    return times, is_dated


def _seconds(date: str) -> int | None:
    for form in _DATES:
        try:
            return int(datetime.strptime(date, form).replace(tzinfo=UTC).timestamp())
        except ValueError:
            continue
    return None


def _products(table: Table) -> tuple[ParsedItem, ...]:
    """The products, each with the subclass in its first row."""
    ids, codes = ordered_ids(table.columns["product"])
    _, first = np.unique(codes, return_index=True)
    subclasses = [str(table.columns["subclass"][row]).strip() for row in first]
    return tuple(
        ParsedItem(product, product, features=(("subclass", subclass),) if 0 < len(subclass) <= LONGEST_FEATURE else ())
        for product, subclass in zip(ids.tolist(), subclasses, strict=True)
    )
