"""Small datasets in tests, made by the real service."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from catalog.importers.base import ImportReport, ParsedDataset, ParsedItem, RatingScale
from catalog.models import DatasetVersion
from catalog.services import import_parsed

GENRES = ("Comedy", "Drama", "Thriller", "Western")


def make_items(n_items: int) -> tuple[ParsedItem, ...]:
    """Films with a genre, a director, two actors and a trailer each, from three decades."""
    return tuple(
        ParsedItem(
            external_id=str(index + 1),
            title=f"Film {index + 1:02d}",
            year=1980 + index % 30,
            plot=f"A short story about number {index + 1}.",
            trailer_url=f"https://trailers.example/{index + 1}",
            features=(
                ("genre", GENRES[index % len(GENRES)]),
                ("director", f"Director {index % 7}"),
                ("cast", f"Actor {index % 11}"),
                ("cast", f"Actress {index % 13}"),
            ),
        )
        for index in range(n_items)
    )


def make_parsed(
    *,
    n_users: int = 60,
    n_items: int = 40,
    per_user: int = 15,
    seed: int = 1,
    items: tuple[ParsedItem, ...] | None = None,
) -> ParsedDataset:
    """Ratings from 1 to 5: early items are popular, and a user likes one genre more than the others."""
    rng = np.random.default_rng(seed)
    films = items or make_items(n_items)
    share = 1 / (np.arange(len(films)) + 3.0)
    users, rated, values = [], [], []
    for user in range(n_users):
        chosen = np.sort(rng.choice(len(films), size=min(per_user, len(films)), replace=False, p=share / share.sum()))
        liking = np.where(chosen % len(GENRES) == user % len(GENRES), 4.4, 2.9) + rng.normal(0, 0.9, len(chosen))
        users.append(np.full(len(chosen), user, dtype=np.int32))
        rated.append(chosen.astype(np.int32))
        values.append(np.clip(np.rint(liking), 1, 5).astype(np.float32))
    n_ratings = sum(map(len, values))
    return ParsedDataset(
        user_ids=np.array([str(user + 1) for user in range(n_users)], dtype=np.str_),
        items=films,
        users=np.concatenate(users),
        items_rated=np.concatenate(rated),
        values=np.concatenate(values),
        timestamps=None,
        scale=RatingScale(1, 5, 1),
        report=ImportReport("factory", ("made in a test",), n_ratings, n_ratings, {}, {}, (), "1 to 5 in steps of 1"),
    )


def make_usage(**kwargs: Any) -> ParsedDataset:
    """The same users and items as usage data: items taken, nobody rated."""
    rated = make_parsed(**kwargs)
    scale, values = RatingScale(1, 1, 1), np.ones_like(rated.values)
    return replace(rated, values=values, scale=scale, report=replace(rated.report, scale="usage"))


def make_half_stars_version(*, name: str = "halves", **kwargs: Any) -> DatasetVersion:
    """A version with the same ratings on a scale from 0.5 to 5 in half stars."""
    rated = make_parsed(**kwargs)
    parsed = replace(rated, scale=RatingScale(0.5, 5, 0.5), report=replace(rated.report, scale="0.5 to 5"))
    return import_parsed(parsed=parsed, name=name, title=name.capitalize(), source_format="factory", is_synthetic=True)


def make_usage_version(*, name: str = "baskets", **kwargs: Any) -> DatasetVersion:
    """A version with usage data of 60 users and 40 items."""
    parsed = make_usage(**kwargs)
    return import_parsed(parsed=parsed, name=name, title=name.capitalize(), source_format="factory", is_synthetic=True)


def make_version(*, name: str = "small", is_synthetic: bool = True, **kwargs: Any) -> DatasetVersion:
    """A version with 60 users, 40 items and 15 ratings a user, unless told otherwise."""
    return import_parsed(
        parsed=make_parsed(**kwargs),
        name=name,
        title=name.capitalize(),
        source_format="factory",
        is_synthetic=is_synthetic,
    )
