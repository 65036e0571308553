"""The demo catalogues as datasets: films with ratings, and books with usage data."""

from __future__ import annotations

from typing import Any

import numpy as np

from catalog.demo.books import BOOKS_PATH, DemoBook, book_catalogue, demo_books
from catalog.demo.films import FILMS_PATH, DemoFilm, demo_films
from catalog.demo.taste import SyntheticRatings, synthetic_ratings
from catalog.importers.base import ImportReport, ParsedDataset, ParsedItem, RatingScale
from catalog.importers.clips import Clips
from catalog.importers.row_checks import USED
from catalog.models import DatasetVersion
from catalog.services.dataset_import import import_parsed
from catalog.services.item_files import store_item_file

DEMO_NAME = "demo-films"
DEMO_BOOKS_NAME = "demo-books"


def load_demo_dataset(*, seed: int = 1, owner: Any = None) -> DatasetVersion:
    """Import the demo films with generated clips of the best-known, and with ratings drawn from the model of taste; the
    same seed gives the same version.
    """
    clips = {path: Clips().file_of(path.read_bytes()) for path in {film.clip for film in demo_films()} if path}
    for clip in clips.values():
        store_item_file(file=clip)
    items = tuple(
        _film_item(number, film, clips[film.clip].stored_name if film.clip else "")
        for number, film in enumerate(demo_films(), start=1)
    )
    ratings = synthetic_ratings(seed=seed)
    warning = (
        f"The ratings are synthetic: a model of taste with seed {seed} drew them. They say nothing about the films or "
        "about people."
    )
    return import_parsed(
        parsed=_parsed(items, ratings, scale=RatingScale(1, 5, 1), file=FILMS_PATH.name, warning=warning),
        name=DEMO_NAME,
        title="Demo films",
        source_format="demo",
        is_synthetic=True,
        owner=owner,
        item_type="film",
    )


def load_demo_books(*, seed: int = 1, owner: Any = None) -> DatasetVersion:
    """Import the demo books with usage data: who read which book, drawn from the model of taste."""
    items = tuple(_book_item(number, book) for number, book in enumerate(demo_books(), start=1))
    ratings = synthetic_ratings(seed=seed, catalogue=book_catalogue())
    warning = (
        f"The usage data are synthetic: a model of taste with seed {seed} drew them. They say nothing about the books "
        "or about people."
    )
    read = ratings._replace(values=np.ones_like(ratings.values))
    return import_parsed(
        parsed=_parsed(items, read, scale=USED, file=BOOKS_PATH.name, warning=warning),
        name=DEMO_BOOKS_NAME,
        title="Demo books",
        source_format="demo",
        is_synthetic=True,
        owner=owner,
        item_type="book",
    )


def _parsed(
    items: tuple[ParsedItem, ...], ratings: SyntheticRatings, *, scale: RatingScale, file: str, warning: str
) -> ParsedDataset:
    n_users, n_ratings = int(ratings.users.max()) + 1, len(ratings.values)
    return ParsedDataset(
        user_ids=np.array([f"synthetic-{user + 1:04d}" for user in range(n_users)], dtype=np.str_),
        items=items,
        users=ratings.users.astype(np.int32),
        items_rated=ratings.items.astype(np.int32),
        values=ratings.values.astype(np.float32),
        timestamps=None,
        scale=scale,
        report=ImportReport(
            source_format="demo",
            files=(file,),
            rows_read=n_ratings,
            rows_kept=n_ratings,
            dropped={},
            examples={},
            warnings=(warning,),
            scale=str(scale),
        ),
    )


def _film_item(number: int, film: DemoFilm, clip: str) -> ParsedItem:
    facts = (
        ("genre", film.genres),
        ("director", film.directors),
        ("cast", film.cast),
        ("country", film.countries),
        ("decade", (_decade(film.year),)),
    )
    return ParsedItem(
        external_id=f"demo-{number:04d}",
        title=film.title,
        year=film.year,
        plot=film.plot,
        features=tuple((kind, value) for kind, values in facts for value in values),
        trailer_url=film.trailer_url,
        clip=clip,
    )


def _book_item(number: int, book: DemoBook) -> ParsedItem:
    facts = (
        ("author", book.authors),
        ("genre", book.genres),
        ("country", book.countries),
        ("decade", (_decade(book.year),)),
    )
    return ParsedItem(
        external_id=f"demo-book-{number:04d}",
        title=book.title,
        year=book.year,
        features=tuple((kind, value) for kind, values in facts for value in values),
    )


def _decade(year: int) -> str:
    return f"{year - year % 10}s"
