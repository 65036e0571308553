"""The demo catalogues as datasets: films with ratings, and books with usage data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from catalog.demo.taste import synthetic_ratings
from catalog.demo.works import Catalogue, demo_books, demo_films
from catalog.importers.base import ImportReport, ParsedDataset, ParsedItem, RatingScale
from catalog.importers.item_files import CLIPS
from catalog.importers.rows import USED
from catalog.models import DatasetVersion
from catalog.services.dataset_import import import_parsed
from core import artefacts

DEMO_NAME = "demo-films"
DEMO_BOOKS_NAME = "demo-books"


def load_demo_dataset(*, seed: int = 1, owner: Any = None) -> DatasetVersion:
    """Import the demo films with generated clips of the best-known, and with ratings drawn from the model of taste; the
    same seed gives the same version.
    """
    warning = (
        f"The ratings are synthetic: a model of taste with seed {seed} drew them. They say nothing about the films or "
        "about people."
    )
    kinds = ("genre", "director", "cast", "country", "decade")
    parsed = _parsed(demo_films(), seed, prefix="demo", kinds=kinds, scale=RatingScale(1, 5, 1), warning=warning)
    return _imported(parsed, DEMO_NAME, "Demo films", "film", owner)


def load_demo_books(*, seed: int = 1, owner: Any = None) -> DatasetVersion:
    """Import the demo books with usage data: who read which book, drawn from the model of taste."""
    warning = (
        f"The usage data are synthetic: a model of taste with seed {seed} drew them. They say nothing about the books "
        "or about people."
    )
    kinds = ("author", "genre", "country", "decade")
    parsed = _parsed(demo_books(), seed, prefix="demo-book", kinds=kinds, scale=USED, warning=warning)
    return _imported(parsed, DEMO_BOOKS_NAME, "Demo books", "book", owner)


def _imported(parsed: ParsedDataset, name: str, title: str, item_type: str, owner: Any) -> DatasetVersion:
    return import_parsed(
        parsed=parsed,
        name=name,
        title=title,
        source_format="demo",
        is_synthetic=True,
        owner=owner,
        item_type=item_type,
    )


def _parsed(
    catalogue: Catalogue, seed: int, *, prefix: str, kinds: Sequence[str], scale: RatingScale, warning: str
) -> ParsedDataset:
    """A catalogue with synthetic ratings; `kinds` are those of its features, in their order."""
    clips = {path: CLIPS.file_of(path.read_bytes()) for path in {work.clip for work in catalogue.works} if path}
    for clip in clips.values():
        artefacts.store_file(clip.stored_name, clip.content)
    items = []
    for number, work in enumerate(catalogue.works, start=1):
        facts = {
            "genre": work.genres,
            "director": work.creators,
            "author": work.creators,
            "cast": work.cast,
            "country": work.countries,
            "decade": (f"{work.year - work.year % 10}s",),
        }
        items.append(
            ParsedItem(
                external_id=f"{prefix}-{number:04d}",
                title=work.title,
                year=work.year,
                plot=work.plot,
                features=tuple((kind, value) for kind in kinds for value in facts[kind]),
                trailer_url=work.trailer_url,
                clip=clips[work.clip].stored_name if work.clip else "",
            )
        )
    ratings = synthetic_ratings(seed=seed, catalogue=catalogue)
    values = np.ones_like(ratings.values) if scale == USED else ratings.values
    n_users, n_ratings = int(ratings.users.max()) + 1, len(ratings.values)
    return ParsedDataset(
        user_ids=np.array([f"synthetic-{user + 1:04d}" for user in range(n_users)], dtype=np.str_),
        items=tuple(items),
        users=ratings.users.astype(np.int32),
        items_rated=ratings.items.astype(np.int32),
        values=values.astype(np.float32),
        timestamps=None,
        scale=scale,
        report=ImportReport(
            source_format="demo",
            files=(catalogue.file,),
            rows_read=n_ratings,
            rows_kept=n_ratings,
            dropped={},
            examples={},
            warnings=(warning,),
            scale=str(scale),
        ),
    )
