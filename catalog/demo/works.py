"""The works of the demo catalogues, films and books: what the model of taste needs of them, and how files are read."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from core.errors import DataError

RENOWN = range(1, 6)
W = TypeVar("W", bound="Work")


class Work(Protocol):
    """A film or a book."""

    @property
    def title(self) -> str:
        """As it is usually said in English, article first."""

    @property
    def year(self) -> int:
        """When it first appeared."""

    @property
    def creators(self) -> tuple[str, ...]:
        """Directors or authors."""

    @property
    def genres(self) -> tuple[str, ...]:
        """From the genres of the catalogue."""

    @property
    def countries(self) -> tuple[str, ...]:
        """The first is its own, others took part."""

    @property
    def renown(self) -> int:
        """1 (known to enthusiasts) to 5 (known to nearly everyone); an estimate, not a fact."""


@dataclass(frozen=True)
class Catalogue:
    """All works of a kind; a work's position is its item index in `catalog.demo.taste.synthetic_ratings`."""

    works: Sequence[Work]
    genres: tuple[str, ...]


def parse_works(
    lines: Iterable[str], *, source: str, columns: tuple[str, ...], read: Callable[[Mapping[str, str], str], W]
) -> tuple[W, ...]:
    """Read works from the lines of a CSV file, header first; `read` is given a row and where it stands.

    `source` is what messages call the file. Raises DataError for wrong columns, broken quoting and a work that appears
    twice, and whatever `read` raises.
    """
    reader = csv.DictReader(lines, strict=True)
    header = tuple(reader.fieldnames or ())
    if header != columns:
        wanted, got = ", ".join(columns), ", ".join(header) or "none"
        raise DataError(f"{source} must have the columns {wanted}; it has {got}.")
    works: dict[tuple[str, int], W] = {}
    try:
        for row in reader:
            where = f"{source}, line {reader.line_num}"
            if None in row or None in row.values():
                raise DataError(f"{where}: the line must have {len(columns)} fields.")
            work = read(row, where)
            if (work.title, work.year) in works:
                raise DataError(f"{where}: {work.title} ({work.year}) appears twice; remove one of the two.")
            works[work.title, work.year] = work
    except csv.Error as error:
        line_number = reader.reader.line_num  # the DictReader's own number lags behind when a line fails
        raise DataError(f"{source}, line {line_number}: the line is not valid CSV ({error}).") from error
    return tuple(works.values())


def checked_title(row: Mapping[str, str], where: str) -> str:
    """The title. Raises DataError for one that is empty or has spaces around it."""
    title = row["title"]
    if not title or title != title.strip():
        raise DataError(f"{where}: the title {title!r} is empty or has spaces around it.")
    return title


def checked_lists(
    row: Mapping[str, str], where: str, *, lists: Sequence[str], needed: Sequence[str], genres: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """The lists of names, separated by ``|``, by column.

    Raises DataError for an empty or repeated entry, a `needed` list without any, and a genre that is not among
    `genres`.
    """
    names = {name: _names(row[name], name, where=where) for name in lists}
    for name in needed:
        if not names[name]:
            raise DataError(f"{where}: {row['title']} needs at least one entry in {name}.")
    unknown = [genre for genre in names["genres"] if genre not in genres]
    if unknown:
        known = ", ".join(genres)
        raise DataError(f"{where}: {row['title']} has the unknown genre {unknown[0]!r}; use one of {known}.")
    return names


def _names(text: str, name: str, *, where: str) -> tuple[str, ...]:
    names = tuple(text.split("|")) if text else ()
    if any(not entry or entry != entry.strip() for entry in names) or len(set(names)) != len(names):
        raise DataError(f"{where}: {name} {text!r} has an empty or repeated entry, or spaces around one.")
    return names


def whole_number(text: str, allowed: range, what: str) -> int:
    """A number written in digits. Raises DataError for another or one outside `allowed`."""
    if not text.isascii() or not text.isdigit() or int(text) not in allowed:
        raise DataError(f"{what} is {text!r}; it must be a whole number from {allowed[0]} to {allowed[-1]}.")
    return int(text)
