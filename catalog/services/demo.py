"""The demo catalogue as a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from catalog.demo.films import FILMS_PATH, DemoFilm, demo_films
from catalog.demo.taste import synthetic_ratings
from catalog.importers.base import ImportReport, ParsedDataset, ParsedItem, RatingScale
from catalog.models import DatasetVersion
from catalog.services.dataset_import import import_parsed

DEMO_NAME = "demo-films"


def load_demo_dataset(*, seed: int = 1, owner: Any = None) -> DatasetVersion:
    """Import the demo catalogue with ratings drawn from the model of taste; the same seed gives the same version."""
    return import_parsed(
        parsed=_demo_parsed(seed),
        name=DEMO_NAME,
        title="Demo films",
        source_format="demo",
        is_synthetic=True,
        owner=owner,
        item_type="film",
    )


def _demo_parsed(seed: int) -> ParsedDataset:
    films = demo_films()
    ratings = synthetic_ratings(seed=seed)
    n_users = int(ratings.users.max()) + 1
    scale = RatingScale(1, 5, 1)
    n_ratings = len(ratings.values)
    return ParsedDataset(
        user_ids=np.array([f"synthetic-{user + 1:04d}" for user in range(n_users)], dtype=np.str_),
        items=tuple(_demo_item(number, film) for number, film in enumerate(films, start=1)),
        users=ratings.users.astype(np.int32),
        items_rated=ratings.items.astype(np.int32),
        values=ratings.values.astype(np.float32),
        timestamps=None,
        scale=scale,
        report=ImportReport(
            source_format="demo",
            files=(FILMS_PATH.name,),
            rows_read=n_ratings,
            rows_kept=n_ratings,
            dropped={},
            examples={},
            warnings=(
                f"The ratings are synthetic: a model of taste with seed {seed} drew them. They say nothing about "
                "the films or about people.",
            ),
            scale=str(scale),
        ),
    )


def _demo_item(number: int, film: DemoFilm) -> ParsedItem:
    facts = (
        ("genre", film.genres),
        ("director", film.directors),
        ("cast", film.cast),
        ("country", film.countries),
        ("decade", (f"{film.year - film.year % 10}s",)),
    )
    return ParsedItem(
        external_id=f"demo-{number:04d}",
        title=film.title,
        year=film.year,
        plot=film.plot,
        features=tuple((kind, value) for kind, values in facts for value in values),
        trailer_url=film.trailer_url,
    )
