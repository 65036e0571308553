"""Titles taken apart."""

from __future__ import annotations

import csv

import pytest

from catalog.importers.items import Title, parse_title
from catalog.titles import natural

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("filed", "said"),
    [
        ("Matrix, The", "The Matrix"),
        ("Clockwork Orange, A", "A Clockwork Orange"),
        ("American Tail, An", "An American Tail"),
        ("Misérables, Les", "Les Misérables"),
        ("Dolce vita, La", "La Dolce vita"),
        ("Trou, Le", "Le Trou"),
        ("Avventura, L'", "L'Avventura"),
        ("Avventura, L’", "L’Avventura"),
        ("Postino, Il", "Il Postino"),
        ("Sceicco bianco, Lo", "Lo Sceicco bianco"),
        ("Mariachi, El", "El Mariachi"),
        ("Olvidados, Los", "Los Olvidados"),
        ("Chicas, Las", "Las Chicas"),
        ("Blechtrommel, Die", "Die Blechtrommel"),
        ("Untergang, Der", "Der Untergang"),
        ("Boot, Das", "Das Boot"),
        ("Femme est une femme, Une", "Une Femme est une femme"),
        ("Prophète, Un", "Un Prophète"),
        ("Good, the Bad and the Ugly, The", "The Good, the Bad and the Ugly"),
        ("Lust, Caution", "Lust, Caution"),
        ("Monsters,  Inc.", "Monsters, Inc."),
        ("The", "The"),
    ],
)
def test_natural_puts_the_article_in_front(filed, said):
    assert natural(filed) == said


@pytest.mark.parametrize(
    ("filed", "expected"),
    [
        ("Toy Story (1995)", Title("Toy Story", 1995, ())),
        ("Babylon 5", Title("Babylon 5", None, ())),
        (
            "City of Lost Children, The (Cité des enfants perdus, La) (1995)",
            Title("The City of Lost Children", 1995, ("La Cité des enfants perdus",)),
        ),
        ("Seven (a.k.a. Se7en) (1995)", Title("Seven", 1995, ("Se7en",))),
        (
            "Legend of 1900, The (a.k.a. The Legend of the Pianist) (Leggenda del pianista) (1998)",
            Title("The Legend of 1900", 1998, ("The Legend of the Pianist", "Leggenda del pianista")),
        ),
        ("Death Note (2006–2007)", Title("Death Note", 2006, ())),
        ("Something (2009- )", Title("Something", 2009, ())),
        ("(500) Days of Summer (2009)", Title("(500) Days of Summer", 2009, ())),
        ("Frontière(s) (2007)", Title("Frontière(s)", 2007, ())),
        (
            "Birdman: Or (The Unexpected Virtue of Ignorance) (2014)",
            Title("Birdman: Or (The Unexpected Virtue of Ignorance)", 2014, ()),
        ),
        ("Léon (Léon) (Leon) (1994)", Title("Léon", 1994, ("Leon",))),
        ("1900 (1976) ", Title("1900", 1976, ())),
        ("(1999)", Title("(1999)", None, ())),
        ("", Title("", None, ())),
    ],
)
def test_take_apart_finds_title_year_and_aliases(filed, expected):
    assert parse_title(filed) == expected


def test_take_apart_loses_no_title_of_movielens(movielens_small):
    with (movielens_small / "movies.csv").open(encoding="utf-8", newline="") as file:
        titles = [parse_title(row["title"]) for row in csv.DictReader(file)]
    assert all(title.text for title in titles)
    assert sum(title.year is None for title in titles) == 12
    assert not any(title.text.endswith((", The", ", A", ", La", ", Les", ", L'")) for title in titles)
