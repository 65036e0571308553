"""The facts of the demo catalogue, and what is refused in a damaged copy of them."""

from __future__ import annotations

import unicodedata
from collections import Counter

import pytest

from catalog.demo.films import COLUMNS, FILMS_PATH, GENRES, demo_films, parse_films
from core.errors import DataError

pytestmark = pytest.mark.unit

HEADER = ",".join(COLUMNS)
GOOD = {
    "title": "Alien",
    "year": "1979",
    "directors": "Ridley Scott",
    "cast": "Sigourney Weaver|Tom Skerritt",
    "genres": "Horror|Science fiction",
    "countries": "United Kingdom|United States",
    "renown": "5",
    "plot": "A crew far from home lets something hungry on board.",
    "trailer_url": "",
}


def line(**changes: str) -> str:
    return ",".join(f'"{value}"' for value in (GOOD | changes).values())


def test_facts_are_many_and_within_range():
    films = demo_films()
    assert len(films) >= 420
    assert all(1900 <= film.year <= 2026 for film in films)
    assert all(film.title and film.directors and film.countries for film in films)
    assert {genre for film in films for genre in film.genres} == set(GENRES)
    assert all(len(film.cast) <= 5 for film in films)
    assert sum(len(film.cast) >= 2 for film in films) >= 0.98 * len(films)


def test_facts_list_no_film_twice():
    films = demo_films()
    assert max(Counter((film.title.casefold(), film.year) for film in films).values()) == 1


def test_facts_spread_over_decades_and_countries():
    films = demo_films()
    decades = Counter(film.year // 10 * 10 for film in films)
    assert set(decades) == set(range(1920, 2030, 10))
    assert min(decades.values()) >= 10
    assert len({country for film in films for country in film.countries}) >= 30
    assert sum("United States" not in film.countries for film in films) >= len(films) / 4


def test_plots_are_one_sentence_of_their_own():
    plots = [film.plot for film in demo_films()]
    assert len(set(plots)) == len(plots)
    for plot in plots:
        assert 8 <= len(plot.split()) <= 40, plot
        assert plot[0].isupper(), plot
        assert plot.index(".") == len(plot) - 1, plot


def test_people_are_spelt_one_way():
    """A second spelling that differs in case, accents or dots only would split a director's films in two."""
    spellings: dict[str, set[str]] = {}
    for film in demo_films():
        for name in (*film.directors, *film.cast):
            plain = "".join(filter(str.isalnum, unicodedata.normalize("NFKD", name.casefold())))
            spellings.setdefault(plain, set()).add(name)
    assert [names for names in spellings.values() if len(names) > 1] == []


def test_file_is_utf8_with_composed_accents():
    text = FILMS_PATH.read_bytes().decode("utf-8")
    assert "\nAmélie,2001," in text
    assert not {"\r", "\ufeff", "\ufffd"} & set(text)
    assert unicodedata.is_normalized("NFC", text)


def test_parse_films_reads_lists_and_quotes():
    (film,) = parse_films([HEADER, line(title="Monsters, Inc.", cast="")], source="films.csv")
    assert film.title == "Monsters, Inc."
    assert film.genres == ("Horror", "Science fiction")
    assert film.cast == ()
    assert (film.year, film.renown, film.trailer_url) == (1979, 5, "")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"title": ""}, "title"),
        ({"title": " Alien"}, "spaces around it"),
        ({"year": "1899"}, "from 1900 to 2026"),
        ({"year": "197\N{SUPERSCRIPT NINE}"}, "whole number"),
        ({"renown": "6"}, "from 1 to 5"),
        ({"directors": ""}, "at least one entry in directors"),
        ({"genres": "Horror|Sci-Fi"}, "unknown genre 'Sci-Fi'"),
        ({"cast": "Tom Skerritt||John Hurt"}, "empty or repeated"),
        ({"countries": "Italy|Italy"}, "empty or repeated"),
        ({"plot": "A crew far from home. It lets something hungry on board."}, "one sentence"),
        ({"plot": "A crew far from home lets something hungry on board"}, "one sentence"),
        ({"plot": "Too short a plot."}, "8 to 40 words"),
    ],
)
def test_parse_films_refuses_a_bad_value_and_says_where(changes, reason):
    with pytest.raises(DataError, match=r"films\.csv, line 3") as refusal:
        parse_films([HEADER, line(title="Heat"), line(**changes)], source="films.csv")
    assert reason in str(refusal.value)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([], "it has none"),
        ([HEADER.replace("plot", "story")], "story"),
        ([HEADER, "Alien,1979"], "line 2: the line must have 9 fields"),
        ([HEADER, line() + ",more"], "line 2: the line must have 9 fields"),
        ([HEADER, line(), line()], "appears twice"),
        ([HEADER, line() + '"x'], "line 2: the line is not valid CSV"),
    ],
)
def test_parse_films_refuses_a_damaged_file(lines, reason):
    with pytest.raises(DataError) as refusal:
        parse_films(lines, source="films.csv")
    assert reason in str(refusal.value)
