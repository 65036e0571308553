"""BookCrossing: ratings from 1 to 10, with a 0 where a book was used and not rated; semicolons, Latin-1.

References
----------
Ziegler, McNee, Konstan & Lausen (2005), Improving recommendation lists through topic diversification, WWW.
"""

from __future__ import annotations

import html
from dataclasses import replace

import numpy as np

from catalog.importers.base import (
    LONGEST_FEATURE,
    ImportProblem,
    ParsedDataset,
    ParsedItem,
    Policy,
    Progress,
    RatingScale,
)
from catalog.importers.items import misfit
from catalog.importers.layout import Kind, Layout, first_line, shown
from catalog.importers.options import Options
from catalog.importers.problems import Problems
from catalog.importers.row_checks import RatingColumns
from catalog.importers.rows import assemble
from catalog.importers.sources import Source, SourceFile, refuse
from catalog.importers.table_reader import read_table

RATINGS, BOOKS = "bx-book-ratings.csv", "bx-books.csv"
ONE_TO_TEN = RatingScale(1.0, 10.0, 1.0)
_IMAGE = "Image-URL-L"
_BOOK_COLUMNS = (
    "ISBN", "Book-Title", "Book-Author", "Year-Of-Publication", "Publisher", "Image-URL-S", "Image-URL-M", _IMAGE,
)  # fmt: skip


def parse_bookcrossing(
    source: Source, options: Options, *, policy: Policy, progress: Progress | None = None
) -> ParsedDataset:
    """`BX-Book-Ratings.csv`, and `BX-Books.csv` where it is there. Raises ImportRefused for a missing file, other
    columns, or rows that the policy refuses.
    """
    ratings = source.need(RATINGS, "the ratings")
    problems, set_aside = Problems(), Problems()
    files = [ratings.name]
    items: tuple[ParsedItem, ...] | None = None
    if BOOKS in source.files:
        files.append(source.files[BOOKS].name)
        items = _books(source.files[BOOKS], problems)
    layout = _layout(ratings, {"User-ID": "whole", "ISBN": "id", "Book-Rating": "number"})
    table = read_table(ratings, layout, problems, progress=progress)
    is_used = table.columns["Book-Rating"] == 0
    is_alone = options.zeros == "apart"
    reason = "it is rated, and only what is not was asked for" if is_alone else "0 says that the book was not rated"

    def left_out(row: int) -> ImportProblem:
        return ImportProblem(ratings.name, table.line(row), "Book-Rating", reason)

    kind = "rated, where the unrated are imported apart" if is_alone else "0, which is not a rating"
    set_aside.add_rows(kind, np.flatnonzero(~is_used if is_alone else is_used), left_out)
    table = table.selected(is_used if is_alone else ~is_used)
    if len(table) == 0 and not problems.total:
        set_aside.refuse("No row is left. Nothing was imported.")
    return assemble(
        source_format="bookcrossing",
        files=files,
        table=table,
        columns=RatingColumns(ratings.name, "User-ID", "ISBN", None if is_alone else "Book-Rating", None, files[-1]),
        items=items,
        scale=ONE_TO_TEN,
        policy=policy,
        problems=problems,
        set_aside=set_aside,
    )


def _layout(file: SourceFile, kinds: dict[str, Kind]) -> Layout:
    header = first_line(file, "latin-1").removeprefix("ï»¿")  # a byte-order mark, as Latin-1 has it
    columns = tuple(kinds)
    if [name.strip().strip('"') for name in header.split(";")] != list(columns):
        reason = f"the columns are {shown(header)} where {';'.join(columns)!r} belongs"
        raise refuse(file.name, reason, line=1, advice="Other tables are imported as format 'delimited'.")
    return Layout(columns=columns, kinds=kinds, delimiter=";", encoding="latin-1", needs_final_newline=False)


def _books(file: SourceFile, problems: Problems) -> tuple[ParsedItem, ...]:
    """The books; a quotation mark inside a title has a backslash before it, and "&" is written as in HTML."""
    kinds: dict[str, Kind] = dict.fromkeys(_BOOK_COLUMNS, "text")
    kinds["ISBN"] = "id"
    layout = replace(_layout(file, kinds), escape="\\")
    table = read_table(file, layout, problems, by_line=True)
    items: dict[str, ParsedItem] = {}
    for row, isbn in enumerate(table.columns["ISBN"]):
        title = html.unescape(table.columns["Book-Title"][row]).strip()
        problem = misfit(isbn, title, items)
        year = table.columns["Year-Of-Publication"][row].strip()
        if problem is None and not (year.isascii() and year.isdigit() and len(year) <= 4):
            problem = ("unusable year", f"{shown(year)} is no year")
        if problem is not None:
            problems.add(problem[0], ImportProblem(file.name, table.line(row), "ISBN", problem[1]))
            continue
        published = int(year) or None  # 0: it is not known
        image = table.columns[_IMAGE][row].strip()
        features = [
            (kind, value)
            for kind, column in (("author", "Book-Author"), ("publisher", "Publisher"))
            if 0 < len(value := html.unescape(table.columns[column][row]).strip()) <= LONGEST_FEATURE
        ]
        if published is not None:
            features.append(("decade", f"{published // 10 * 10}s"))
        items[isbn] = ParsedItem(
            isbn,
            title,
            year=published,
            features=tuple(dict.fromkeys(features)),
            image_url=image if image.startswith(("http://", "https://")) else "",
        )
    if not items:
        problems.refuse("Nothing was imported.")
    return tuple(items.values())
