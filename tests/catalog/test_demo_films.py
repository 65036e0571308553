"""The facts of the demo films."""

from __future__ import annotations

import unicodedata
from collections import Counter

import pytest

from catalog.demo.works import FOLDER, demo_books, demo_films

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("catalogue", [demo_films(), demo_books()], ids=["films", "books"])
def test_entries_are_filled_trimmed_and_said_once(catalogue):
    for work in catalogue.works:
        for texts in ((work.title,), work.creators, work.genres, work.countries, work.cast):
            assert all(text and text == text.strip() for text in texts), work
            assert len(set(texts)) == len(texts), work
        assert 1 <= work.renown <= 5, work


def test_facts_are_many_and_within_range():
    films = demo_films().works
    assert len(films) >= 420
    assert all(1900 <= film.year <= 2026 for film in films)
    assert all(film.title and film.creators and film.countries for film in films)
    assert len(demo_films().genres) == 18
    assert all(len(film.cast) <= 5 for film in films)
    assert sum(len(film.cast) >= 2 for film in films) >= 0.98 * len(films)


def test_facts_list_no_film_twice():
    films = demo_films().works
    assert max(Counter((film.title.casefold(), film.year) for film in films).values()) == 1


def test_facts_spread_over_decades_and_countries():
    films = demo_films().works
    decades = Counter(film.year // 10 * 10 for film in films)
    assert set(decades) == set(range(1920, 2030, 10))
    assert min(decades.values()) >= 10
    assert len({country for film in films for country in film.countries}) >= 30
    assert sum("United States" not in film.countries for film in films) >= len(films) / 4


def test_plots_are_one_sentence_of_their_own():
    plots = [film.plot for film in demo_films().works]
    assert len(set(plots)) == len(plots)
    for plot in plots:
        assert 8 <= len(plot.split()) <= 40, plot
        assert plot[0].isupper(), plot
        assert plot.index(".") == len(plot) - 1, plot


def test_people_are_spelt_one_way():
    """A second spelling that differs in case, accents or dots only would split a director's films in two."""
    spellings: dict[str, set[str]] = {}
    for film in demo_films().works:
        for name in (*film.creators, *film.cast):
            plain = "".join(filter(str.isalnum, unicodedata.normalize("NFKD", name.casefold())))
            spellings.setdefault(plain, set()).add(name)
    assert [names for names in spellings.values() if len(names) > 1] == []


def test_file_is_utf8_with_composed_accents():
    text = (FOLDER / "films.csv").read_bytes().decode("utf-8")
    assert "\nAmélie,2001," in text
    assert not {"\r", "\ufeff", "\ufffd"} & set(text)
    assert unicodedata.is_normalized("NFC", text)
