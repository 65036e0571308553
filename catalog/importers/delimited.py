"""Any delimited text with a header, by naming its columns: ratings, and a file of items beside them."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from catalog.importers.base import (
    LONGEST_FEATURE,
    LONGEST_ID,
    LONGEST_TITLE,
    ImportProblem,
    ParsedDataset,
    ParsedItem,
    Policy,
    Progress,
    RatingScale,
)
from catalog.importers.layout import Kind, Layout, Table, first_line, shown
from catalog.importers.problems import Problems
from catalog.importers.rows import RatingColumns, assemble
from catalog.importers.sources import SourceFile, open_source, refuse
from catalog.importers.tables import read_table
from core.errors import ParameterError

DELIMITERS = (",", ";", "\t", "|")
# Headers that need no naming, compared without case, spaces, "_" and "-".
USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "customer", "customerid", "visitorid", "reviewerid"),
    "item": ("item", "itemid", "iid", "movieid", "movie", "productid", "product", "asin", "isbn", "bookid"),
    "rating": ("rating", "ratings", "score", "stars", "bookrating", "overall"),
    "time": ("timestamp", "time", "date", "ts", "ratedat", "unixreviewtime"),
}
_NAMES_OF_TITLE = ("title", "name", "itemtitle")
_NAMES_OF_YEAR = ("year", "releaseyear", "yearofpublication")
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True)
class Options:
    """Which columns hold what.

    Parameters
    ----------
    user, item, rating, time : str, optional
        Columns of the file of ratings; None: found by the usual names. Without a time column there are no
        times.
    delimiter : str, optional
        One character; None: detected from the header.
    encoding : str
        Of both files.
    scale : RatingScale, optional
        None: detected from the ratings, and said so.
    items_file : Path, optional
        A file of items with a header, delimited in its own way. Without it an item's title is its id.
    items_id, title, year, plot, image, trailer : str, optional
        Columns of the file of items; the id, the title and the year are found by the usual names.
    features : mapping
        Kind of feature to column ("genre": "genres").
    feature_separator : str
        Between the values of one feature.
    """

    user: str | None = None
    item: str | None = None
    rating: str | None = None
    time: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    scale: RatingScale | None = None
    items_file: Path | None = None
    items_id: str | None = None
    title: str | None = None
    year: str | None = None
    plot: str | None = None
    image: str | None = None
    trailer: str | None = None
    features: Mapping[str, str] = field(default_factory=dict)
    feature_separator: str = "|"

    def __post_init__(self) -> None:
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise ParameterError(f"The delimiter is {self.delimiter!r}: it has to be one character.")
        if not self.feature_separator:
            raise ParameterError("The separator of features is empty: it has to be at least one character.")
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise ParameterError(
                f"There is no encoding {self.encoding!r}: 'utf-8', 'latin-1' and 'cp1252' are usual."
            ) from None
        if "a,\n".encode(self.codec).removeprefix(codecs.BOM_UTF8) != b"a,\n":
            raise ParameterError(
                f"Files in {self.encoding} are not read, as their line ends are no single bytes: "
                "save the file as UTF-8."
            )

    @property
    def codec(self) -> str:
        """The encoding, with leave for a byte-order mark where it is UTF-8."""
        name = codecs.lookup(self.encoding).name
        return "utf-8-sig" if name == "utf-8" else name


def parse_delimited(
    ratings: SourceFile, options: Options, *, policy: Policy, progress: Progress | None = None
) -> ParsedDataset:
    """Ratings by named columns.

    Raises
    ------
    ImportRefused
        A header without the columns, or rows that the policy refuses.
    """
    delimiter, header = read_header(ratings, options)
    user = _column(ratings, header, options.user, USUAL_NAMES["user"], "users")
    item = _column(ratings, header, options.item, USUAL_NAMES["item"], "items")
    rating = _column(ratings, header, options.rating, USUAL_NAMES["rating"], "ratings")
    time = _column(ratings, header, options.time, USUAL_NAMES["time"], "times", is_needed=options.time is not None)
    kinds: dict[str, Kind] = {user: "id", item: "id", rating: "number"}
    if time:
        kinds[time] = "time"
    if len(kinds) < 3 + bool(time):
        raise refuse(ratings.name, f"one column is named for two things ({', '.join(kinds)})", line=1)
    layout = Layout(
        columns=tuple(header),
        kinds=kinds,
        delimiter=delimiter,
        encoding=options.codec,
        needs_final_newline=False,
    )
    problems = Problems()
    files = [ratings.name]
    items: tuple[ParsedItem, ...] | None = None
    if options.items_file is not None:
        beside = open_source(options.items_file, policy.limits)
        if len(beside.files) != 1:
            raise refuse(beside.name, f"one file of items is needed, and there are {len(beside.files)} here")
        (items_file,) = beside.files.values()
        files.append(items_file.name)
        items = _items(items_file, options, problems)
    return assemble(
        source_format="delimited",
        files=files,
        table=read_table(ratings, layout, problems, progress=progress),
        columns=RatingColumns(ratings.name, user, item, rating, time or None, files[-1]),
        items=items,
        scale=options.scale,
        policy=policy,
        problems=problems,
    )


def _plain(name: str) -> str:
    return re.sub(r"[\s_.-]", "", name).lower()


def read_header(file: SourceFile, options: Options) -> tuple[str, list[str]]:
    """The delimiter and the names of the columns."""
    line = first_line(file, options.codec)
    delimiter = options.delimiter or max(DELIMITERS, key=line.count)
    try:
        (header,) = csv.reader([line], delimiter=delimiter, strict=True)
    except csv.Error as error:
        raise refuse(file.name, f"the header cannot be read ({error})", line=1) from error
    header = [name.strip() for name in header]
    if len(header) < 2:
        others = [other for other in DELIMITERS if other in line and other != delimiter]
        seems = f"; it seems to be delimited by {others[0]!r}" if others else ""
        reason = f"the header {shown(line)} has one column when parted at {delimiter!r}{seems}"
        raise refuse(file.name, reason, line=1)
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise refuse(file.name, f"the header names column {shown(twice[0])} twice", line=1)
    return delimiter, header


def _column(
    file: SourceFile,
    header: list[str],
    wanted: str | None,
    usual: tuple[str, ...],
    what: str,
    *,
    is_needed: bool = True,
) -> str:
    """The column that holds something; empty where there is none and none is needed."""
    if wanted is not None:
        if wanted in header:
            return wanted
        reason = f"there is no column {shown(wanted)} for the {what}: the header has {', '.join(header)}"
        raise refuse(file.name, reason, line=1)
    by_name = {_plain(name): name for name in header}
    found = [by_name[name] for name in usual if name in by_name]
    if found or not is_needed:
        return found[0] if found else ""
    reason = f"no column is known to hold the {what}: the header has {', '.join(map(shown, header))}"
    raise refuse(file.name, reason, line=1, advice="The first line has to name the columns: say which is which.")


def _items(file: SourceFile, options: Options, problems: Problems) -> tuple[ParsedItem, ...]:
    """The items of their file, in order of id as ratings without it would have them."""
    delimiter, header = read_header(file, options)
    identity = _column(file, header, options.items_id or _same(options.item, header), USUAL_NAMES["item"], "ids")
    title = _column(file, header, options.title, _NAMES_OF_TITLE, "titles")
    year = _column(file, header, options.year, _NAMES_OF_YEAR, "years", is_needed=options.year is not None)
    texts = {
        what: _column(file, header, wanted, (), what, is_needed=wanted is not None)
        for what, wanted in (("plot", options.plot), ("image", options.image), ("trailer", options.trailer))
    }
    features = {
        kind: _column(file, header, wanted, (), f"features of kind {kind}") for kind, wanted in options.features.items()
    }
    if not options.features and "genres" in header:
        features["genre"] = "genres"
    kinds: dict[str, Kind] = {name: "text" for name in (title, year, *texts.values(), *features.values()) if name}
    kinds[identity] = "id"
    layout = Layout(
        columns=tuple(header),
        kinds=kinds,
        delimiter=delimiter,
        encoding=options.codec,
        needs_final_newline=False,
    )
    table = read_table(file, layout, problems, by_line=True)
    items: dict[str, ParsedItem] = {}
    for row, external_id in enumerate(table.columns[identity]):
        problem = _misfit(external_id, table.columns[title][row].strip(), items)
        number: int | None = None
        if problem is None and year and table.columns[year][row].strip():
            text = table.columns[year][row].strip().removesuffix(".0")
            number = int(text) if _YEAR.fullmatch(text) else None
            problem = None if number is not None else ("unusable year", f"{shown(text)} is no year")
        if problem is not None:
            problems.add(problem[0], ImportProblem(file.name, table.line(row), identity, problem[1]))
            continue
        items[external_id] = ParsedItem(
            external_id=external_id,
            title=table.columns[title][row].strip(),
            year=number,
            plot=_text(table, texts["plot"], row),
            features=_features(table, features, row, number, options.feature_separator),
            image_url=_text(table, texts["image"], row),
            trailer_url=_text(table, texts["trailer"], row),
        )
    if not items:
        problems.refuse("Nothing was imported.")
    return tuple(items.values())


def _same(wanted: str | None, header: list[str]) -> str | None:
    """The name of the ratings' item column, where the items' file has it as well."""
    return wanted if wanted in header else None


def _misfit(external_id: str, title: str, items: Mapping[str, ParsedItem]) -> tuple[str, str] | None:
    """What keeps an item from being a row: kind and reason."""
    if len(external_id) > LONGEST_ID:
        return "unusable id", f"the id has {len(external_id)} characters; at most {LONGEST_ID} are kept"
    if external_id in items:
        return "listed twice", f"item {external_id} was listed before"
    if not title:
        return "unusable title", "the title is empty"
    if len(title) > LONGEST_TITLE:
        return "unusable title", f"the title has {len(title)} characters; at most {LONGEST_TITLE} are kept"
    return None


def _text(table: Table, column: str, row: int) -> str:
    return str(table.columns[column][row]).strip() if column else ""


def _features(
    table: Table, columns: Mapping[str, str], row: int, year: int | None, separator: str
) -> tuple[tuple[str, str], ...]:
    found = [
        (kind, value.strip())
        for kind, column in columns.items()
        for value in table.columns[column][row].split(separator)
        if value.strip() and len(value.strip()) <= LONGEST_FEATURE
    ]
    if year is not None:
        found.append(("decade", f"{year // 10 * 10}s"))
    return tuple(dict.fromkeys(found))
