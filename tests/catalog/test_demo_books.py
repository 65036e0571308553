"""The facts of the books of the second demo, and its usage data."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from catalog.demo.books import BOOKS_PATH, COLUMNS, GENRES, book_catalogue, demo_books
from catalog.demo.taste import synthetic_ratings
from catalog.demo.works import parse_works
from catalog.services import DEMO_BOOKS_NAME, load_demo_books
from core.errors import DataError
from studies.usage_data import is_usage


@pytest.mark.unit
def test_facts_are_many_sorted_and_within_range() -> None:
    books = demo_books()
    assert len(books) >= 390
    assert [(book.year, book.title) for book in books] == sorted((book.year, book.title) for book in books)
    assert {genre for book in books for genre in book.genres} == set(GENRES)
    assert min(Counter(genre for book in books for genre in book.genres).values()) >= 4
    assert all(book.creators == book.authors for book in books)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Dracula,1897,,Horror,Ireland,5", "Dracula needs at least one entry in authors"),
        ("Dracula,1897,Bram Stoker,Cookery,Ireland,5", "unknown genre 'Cookery'"),
        ("Dracula,97,Bram Stoker,Horror,Ireland,5", "the year of Dracula is '97'"),
        ("Dracula,1897,Bram Stoker,Horror,Ireland,6", "the renown of Dracula is '6'"),
    ],
)
def test_what_is_damaged_is_named_with_its_line(line: str, problem: str) -> None:
    from catalog.demo.books import _book

    with pytest.raises(DataError, match=f"books.csv, line 2: .*{problem}"):
        parse_works([",".join(COLUMNS), line], source=BOOKS_PATH.name, columns=COLUMNS, read=_book)


@pytest.mark.unit
def test_who_reads_what_follows_the_planted_tastes() -> None:
    """Readers of one book of an author more often read another one of theirs than everybody does."""
    catalogue = book_catalogue()
    usage = synthetic_ratings(n_users=600, seed=3, catalogue=catalogue)
    has_read = np.zeros((600, len(catalogue.works)), dtype=bool)
    has_read[usage.users, usage.items] = True
    lifts = []
    for author in ("Jane Austen", "Stephen King", "Ursula K. Le Guin", "Virginia Woolf", "Haruki Murakami"):
        own = [index for index, book in enumerate(catalogue.works) if author in book.creators]
        for one in own:
            others = [index for index in own if index != one]
            lifts.append(has_read[has_read[:, one]][:, others].mean() / has_read[:, others].mean())
    assert np.mean(lifts) > 1.2


@pytest.mark.integration
@pytest.mark.django_db
def test_the_dataset_is_synthetic_usage_data_on_books() -> None:
    version = load_demo_books(seed=1)
    assert version.dataset.name == DEMO_BOOKS_NAME
    assert version.dataset.item_type == "book"
    assert is_usage(version)
    assert version.is_synthetic
    assert "synthetic" in version.report["warnings"][0]
    book = version.items.get(title="Dracula")
    assert set(book.features.filter(kind="author").values_list("value", flat=True)) == {"Bram Stoker"}
