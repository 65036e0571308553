"""The facts of the books of the second demo, and its usage data."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from catalog.demo.taste import synthetic_ratings
from catalog.demo.works import demo_books
from catalog.services import DEMO_BOOKS_NAME, load_demo_books
from studies.usage_data import is_usage


@pytest.mark.unit
def test_facts_are_many_sorted_and_within_range() -> None:
    books = demo_books().works
    assert len(books) >= 390
    assert [(book.year, book.title) for book in books] == sorted((book.year, book.title) for book in books)
    assert all(1600 <= book.year <= 2026 for book in books)
    assert len(demo_books().genres) == 21
    assert min(Counter(genre for book in books for genre in book.genres).values()) >= 4


@pytest.mark.unit
def test_who_reads_what_follows_the_planted_tastes() -> None:
    """Readers of one book of an author more often read another one of theirs than everybody does."""
    catalogue = demo_books()
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
