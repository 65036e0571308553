"""The films of the demo catalogue: facts read from ``films.csv`` and checked line by line.

The facts (title, year, people, genres, countries) are public knowledge; every plot sentence was written for
this project. ``renown`` is the project's own estimate of how widely a film is known today; only the model of
taste uses it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from core.errors import DataError

FILMS_PATH = Path(__file__).with_name("films.csv")

GENRES = (
    "Action",
    "Adventure",
    "Animation",
    "Comedy",
    "Crime",
    "Documentary",
    "Drama",
    "Family",
    "Fantasy",
    "History",
    "Horror",
    "Music",
    "Mystery",
    "Romance",
    "Science fiction",
    "Thriller",
    "War",
    "Western",
)

COLUMNS = ("title", "year", "directors", "cast", "genres", "countries", "renown", "plot", "trailer_url")
LISTS = ("directors", "cast", "genres", "countries")
FIRST_YEAR = 1900
LAST_YEAR = 2026
PLOT_WORDS = range(8, 41)
RENOWN = range(1, 6)


@dataclass(frozen=True, slots=True)
class DemoFilm:
    """One film of the demo catalogue."""

    title: str  # as it is usually said in English, article first
    year: int  # of the first public showing
    # `directors`, `cast`, `genres`, `countries`: in billing order; `cast` holds the leading names and is empty for a
    # film without people in it. `genres` come from `GENRES`. A state that is no more keeps its name in `countries`;
    # Germany is one.
    directors: tuple[str, ...]
    cast: tuple[str, ...]
    genres: tuple[str, ...]
    countries: tuple[str, ...]
    renown: int  # 1 (known to enthusiasts) to 5 (known to nearly everyone); an estimate, not a fact
    plot: str  # one sentence
    trailer_url: str = ""  # empty: the demo ships no trailers


@lru_cache(maxsize=1)
def demo_films() -> tuple[DemoFilm, ...]:
    """All films of the demo catalogue, by year and then title.

    A film's position in it is its item index in `catalog.demo.taste.synthetic_ratings`. Raises DataError when the
    shipped file is damaged: the message names the line and what is wrong with it.

    Examples
    --------
    >>> film = next(film for film in demo_films() if film.title == "Seven Samurai")
    >>> film.year, film.directors
    (1954, ('Akira Kurosawa',))
    """
    with FILMS_PATH.open(encoding="utf-8", newline="") as lines:
        return parse_films(lines, source=FILMS_PATH.name)


def parse_films(lines: Iterable[str], *, source: str) -> tuple[DemoFilm, ...]:
    """Read films from the lines of a CSV file with the columns `COLUMNS`, lists separated by ``|``.

    The header comes first; `source` is what messages call the file. Raises DataError for wrong columns, broken quoting, an
    empty or unknown value, a year or renown out of range, a plot that is not one sentence of 8 to 40 words, a film that
    appears twice.

    Examples
    --------
    >>> parse_films(["title,year"], source="films.csv")
    Traceback (most recent call last):
    core.errors.DataError: films.csv must have the columns title, year, directors, cast, genres, countries, renown, plot, trailer_url; it has title, year.
    """  # noqa: E501 - a doctest's message has to be on one line
    reader = csv.DictReader(lines, strict=True)
    columns = tuple(reader.fieldnames or ())
    if columns != COLUMNS:
        wanted, got = ", ".join(COLUMNS), ", ".join(columns) or "none"
        raise DataError(f"{source} must have the columns {wanted}; it has {got}.")
    films: dict[tuple[str, int], DemoFilm] = {}
    try:
        for row in reader:
            where = f"{source}, line {reader.line_num}"
            if None in row or None in row.values():
                raise DataError(f"{where}: the line must have {len(COLUMNS)} fields.")
            film = _film(row, where=where)
            if (film.title, film.year) in films:
                raise DataError(f"{where}: {film.title} ({film.year}) appears twice; remove one of the two.")
            films[film.title, film.year] = film
    except csv.Error as error:
        line_number = reader.reader.line_num  # the DictReader's own number lags behind when a line fails
        raise DataError(f"{source}, line {line_number}: the line is not valid CSV ({error}).") from error
    return tuple(films.values())


def _film(row: dict[str, str], *, where: str) -> DemoFilm:
    title = row["title"]
    if not title or title != title.strip():
        raise DataError(f"{where}: the title {title!r} is empty or has spaces around it.")
    lists = {name: _names(row[name], name, where=where) for name in LISTS}
    for name in ("directors", "genres", "countries"):
        if not lists[name]:
            raise DataError(f"{where}: {title} needs at least one entry in {name}.")
    unknown = [genre for genre in lists["genres"] if genre not in GENRES]
    if unknown:
        known = ", ".join(GENRES)
        raise DataError(f"{where}: {title} has the unknown genre {unknown[0]!r}; use one of {known}.")
    plot = row["plot"]
    ends = sum(mark in ".!?" for mark in plot)
    if ends != 1 or not plot.endswith((".", "!", "?")) or len(plot.split()) not in PLOT_WORDS:
        raise DataError(
            f"{where}: the plot of {title} must be one sentence of {PLOT_WORDS[0]} to {PLOT_WORDS[-1]} words."
        )
    return DemoFilm(
        title=title,
        year=_whole(row["year"], range(FIRST_YEAR, LAST_YEAR + 1), f"{where}: the year of {title}"),
        directors=lists["directors"],
        cast=lists["cast"],
        genres=lists["genres"],
        countries=lists["countries"],
        renown=_whole(row["renown"], RENOWN, f"{where}: the renown of {title}"),
        plot=plot,
        trailer_url=row["trailer_url"],
    )


def _names(text: str, name: str, *, where: str) -> tuple[str, ...]:
    names = tuple(text.split("|")) if text else ()
    if any(not entry or entry != entry.strip() for entry in names) or len(set(names)) != len(names):
        raise DataError(f"{where}: {name} {text!r} has an empty or repeated entry, or spaces around one.")
    return names


def _whole(text: str, allowed: range, what: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) not in allowed:
        raise DataError(f"{what} is {text!r}; it must be a whole number from {allowed[0]} to {allowed[-1]}.")
    return int(text)
