"""The books of the second demo catalogue: facts read from ``books.csv`` and checked line by line.

The facts (title, year, authors, genres, countries) are public knowledge. ``renown`` is the project's own estimate of
how widely a book is known today; only the model of taste uses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from catalog.demo.works import RENOWN, Catalogue, checked_lists, checked_title, parse_works, whole_number

BOOKS_PATH = Path(__file__).with_name("books.csv")
GENRES = (
    "Adventure",
    "Children",
    "Crime",
    "Dystopia",
    "Essays",
    "Fantasy",
    "Gothic",
    "Historical",
    "Horror",
    "Literary fiction",
    "Magical realism",
    "Memoir",
    "Philosophy",
    "Poetry",
    "Romance",
    "Satire",
    "Science",
    "Science fiction",
    "Short stories",
    "Thriller",
    "War",
)
COLUMNS = ("title", "year", "authors", "genres", "countries", "renown")
LISTS = ("authors", "genres", "countries")
YEARS = range(1600, 2027)


@dataclass(frozen=True, slots=True)
class DemoBook:
    """One book of the demo catalogue."""

    title: str  # as it is usually said in English, article first
    year: int  # of the first publication
    authors: tuple[str, ...]
    genres: tuple[str, ...]  # from `GENRES`
    countries: tuple[str, ...]  # of the author; a state that is no more keeps its name
    renown: int  # 1 (known to enthusiasts) to 5 (known to nearly everyone); an estimate, not a fact

    @property
    def creators(self) -> tuple[str, ...]:
        """The authors."""
        return self.authors


@lru_cache(maxsize=1)
def demo_books() -> tuple[DemoBook, ...]:
    """All books of the demo catalogue, by year and then title. Raises DataError when the shipped file is damaged.

    Examples
    --------
    >>> next(book for book in demo_books() if book.title == "Dracula").authors
    ('Bram Stoker',)
    """
    with BOOKS_PATH.open(encoding="utf-8", newline="") as lines:
        return parse_works(lines, source=BOOKS_PATH.name, columns=COLUMNS, read=_book)


def book_catalogue() -> Catalogue:
    """The books with their genres."""
    return Catalogue(demo_books(), GENRES)


def _book(row: Mapping[str, str], where: str) -> DemoBook:
    title = checked_title(row, where)
    lists = checked_lists(row, where, lists=LISTS, needed=LISTS, genres=GENRES)
    return DemoBook(
        title=title,
        year=whole_number(row["year"], YEARS, f"{where}: the year of {title}"),
        authors=lists["authors"],
        genres=lists["genres"],
        countries=lists["countries"],
        renown=whole_number(row["renown"], RENOWN, f"{where}: the renown of {title}"),
    )
