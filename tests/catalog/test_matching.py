"""What people type finds what they mean: on the demo catalogue, without a database."""

from __future__ import annotations

import numpy as np
import pytest

from catalog.demo.works import demo_films
from catalog.selectors.item_matcher import Document, Matcher

pytestmark = pytest.mark.unit


def matcher_of(*titles: str, popularity: list[int] | None = None) -> Matcher:
    counts = popularity or [0] * len(titles)
    return Matcher([Document([title]) for title in titles], np.array(counts, dtype=np.int64))


@pytest.fixture(scope="module")
def demo() -> tuple[Matcher, list[str]]:
    films = demo_films().works
    documents = [
        Document(
            [film.title],
            [*film.creators, *film.cast],
            [*film.genres, str(film.year), f"{film.year // 10 * 10}s", f"{film.year % 100 // 10}0s"],
        )
        for film in films
    ]
    matcher = Matcher(documents, np.array([film.renown for film in films], dtype=np.int64))
    return matcher, [film.title for film in films]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("matrx", "The Matrix"),
        ("THE MATRIX", "The Matrix"),
        ("matrix, the", "The Matrix"),
        ("amelie", "Amélie"),
        ("AMÉLIE", "Amélie"),
        ("wachowski", "The Matrix"),
        ("wachovsky", "The Matrix"),
        ("lana wachowski 1999", "The Matrix"),
        ("god father", "The Godfather"),
        ("godfahter", "The Godfather"),
        ("schindlers list", "Schindler's List"),
        ("shawshenk redempion", "The Shawshank Redemption"),
        ("pulp ficton", "Pulp Fiction"),
        ("walle", "WALL-E"),
        ("seven samurai kurosawa", "Seven Samurai"),
        ("2001 space odissey", "2001: A Space Odyssey"),
    ],
)
def test_a_query_finds_the_film_first(demo: tuple[Matcher, list[str]], query: str, title: str) -> None:
    matcher, titles = demo
    assert titles[matcher.match(query)[0]] == title


def test_an_article_at_the_end_finds_all_of_a_series(demo: tuple[Matcher, list[str]]) -> None:
    matcher, titles = demo
    found = [titles[at] for at in matcher.match("Lord of the Rings, The")]
    assert len(found) >= 2
    assert all(title.startswith("The Lord of the Rings") for title in found)


@pytest.mark.parametrize(
    ("query", "years"), [("1999", range(1999, 2000)), ("90s", range(1990, 2000)), ("1990s", range(1990, 2000))]
)
def test_a_year_or_decade_finds_its_films(demo: tuple[Matcher, list[str]], query: str, years: range) -> None:
    matcher, _ = demo
    expected = {at for at, film in enumerate(demo_films().works) if film.year in years}
    found = matcher.match(query).tolist()
    assert expected
    assert set(found) == expected
    renown = [demo_films().works[at].renown for at in found]
    assert renown == sorted(renown, reverse=True)


def test_a_person_finds_their_films_and_nothing_else(demo: tuple[Matcher, list[str]]) -> None:
    matcher, _ = demo
    expected = {at for at, film in enumerate(demo_films().works) if "Hayao Miyazaki" in film.creators}
    assert set(matcher.match("hayao miyazaki").tolist()) == expected
    assert set(matcher.match("hayao miyasaki").tolist()) == expected


@pytest.mark.parametrize("query", ["", "  ", "?!", "zzzzzzzz", "9999999"])
def test_nonsense_finds_nothing(demo: tuple[Matcher, list[str]], query: str) -> None:
    assert demo[0].match(query).size == 0


@pytest.mark.parametrize("query", ["a" * 200, "the " * 50, "\x00", "💥", "%_'\"\\", "ﬁ", "İ", "-- drop table"])
def test_odd_queries_are_answered(demo: tuple[Matcher, list[str]], query: str) -> None:
    found = demo[0].match(query)
    assert found.dtype == np.int64
    assert len(set(found.tolist())) == found.size


def test_better_answers_come_before_popular_ones() -> None:
    titles = ("Heart", "Heat", "The Heat Is On", "Heather", "In the Heat of the Night")
    matcher = matcher_of(*titles, popularity=[900, 1, 5, 800, 50])
    assert [titles[at] for at in matcher.match("heat")] == [
        "Heat",
        "In the Heat of the Night",
        "The Heat Is On",
        "Heather",
        "Heart",
    ]


def test_equal_answers_are_ordered_by_popularity_then_position() -> None:
    matcher = matcher_of("King One", "King Two", "King Three", popularity=[1, 9, 1])
    assert matcher.match("king").tolist() == [1, 0, 2]


def test_words_may_come_in_any_order_and_be_unfinished() -> None:
    matcher = matcher_of("Star Wars", "Star Trek", "War Horse")
    assert matcher.match("wars star").tolist() == [0]
    assert matcher.match("star tr").tolist() == [1]


def test_all_words_but_one_will_do_where_none_has_all() -> None:
    matcher = matcher_of("The Lord of the Rings", "Lord Jim", "Ring")
    assert matcher.match("lord rings movie").tolist() == [0]


def test_numbers_are_found_in_either_writing_and_never_guessed() -> None:
    titles = ("The Godfather: Part II", "Toy Story 2", "1999", "1998", "2010")
    matcher = matcher_of(*titles)
    assert [titles[at] for at in matcher.match("godfather 2")] == ["The Godfather: Part II"]
    assert [titles[at] for at in matcher.match("toy story ii")] == ["Toy Story 2"]
    assert [titles[at] for at in matcher.match("1999")] == ["1999"]


def test_other_titles_find_an_item_too() -> None:
    matcher = Matcher([Document(["Spirited Away", "千と千尋の神隠し", "Sen to Chihiro no kamikakushi"])], np.array([1]))
    for query in ("千と千尋", "sen to chihiro", "spirited"):
        assert matcher.match(query).tolist() == [0]


def test_short_words_are_not_guessed() -> None:
    matcher = matcher_of("Her", "Hex", "Ray")
    assert matcher.match("hez").size == 0


def test_an_empty_catalogue_answers_nothing() -> None:
    assert Matcher([], np.empty(0, dtype=np.int64)).match("matrix").size == 0
