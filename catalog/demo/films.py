"""The films of the demo catalogue: facts read from ``films.csv`` and checked line by line.

The facts (title, year, people, genres, countries) are public knowledge; every plot sentence was written for
this project. ``renown`` is the project's own estimate of how widely a film is known today; only the model of
taste uses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from catalog.demo.works import RENOWN, Catalogue, checked_lists, checked_title, parse_works, whole_number
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

    @property
    def creators(self) -> tuple[str, ...]:
        """The directors."""
        return self.directors


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
    return parse_works(lines, source=source, columns=COLUMNS, read=_film)


def film_catalogue() -> Catalogue:
    """The films with their genres."""
    return Catalogue(demo_films(), GENRES)


def _film(row: Mapping[str, str], where: str) -> DemoFilm:
    title = checked_title(row, where)
    lists = checked_lists(row, where, lists=LISTS, needed=("directors", "genres", "countries"), genres=GENRES)
    plot = row["plot"]
    ends = sum(mark in ".!?" for mark in plot)
    if ends != 1 or not plot.endswith((".", "!", "?")) or len(plot.split()) not in PLOT_WORDS:
        raise DataError(
            f"{where}: the plot of {title} must be one sentence of {PLOT_WORDS[0]} to {PLOT_WORDS[-1]} words."
        )
    return DemoFilm(
        title=title,
        year=whole_number(row["year"], range(FIRST_YEAR, LAST_YEAR + 1), f"{where}: the year of {title}"),
        directors=lists["directors"],
        cast=lists["cast"],
        genres=lists["genres"],
        countries=lists["countries"],
        renown=whole_number(row["renown"], RENOWN, f"{where}: the renown of {title}"),
        plot=plot,
        trailer_url=row["trailer_url"],
    )
