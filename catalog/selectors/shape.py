"""How a version's ratings are spread: its density, its long tail, its values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from catalog.models import DatasetVersion
from catalog.selectors.ratings import ratings_of
from recommenders.data import Ratings

__all__ = ["Shape", "TailPoint", "shape_of"]

TAIL_POINTS = 100
MEAN_BINS = 16
SHAPES_KEPT = 32


@dataclass(frozen=True)
class TailPoint:
    """The most rated items, as a share of all, and the share of all ratings that they have (0 to 1)."""

    items_share: float
    ratings_share: float


@dataclass(frozen=True)
class Shape:
    """Numbers that a dataset's page shows.

    Parameters
    ----------
    density : float
        Ratings over user × item pairs, 0 to 1.
    mean_rating, ratings_per_user, ratings_per_rated_item : float
        Means.
    n_unrated : int
        Items without a rating.
    head_items : int
        The fewest items that together have a third of all ratings (the short head of Cremonesi et al. 2010).
    values : tuple of (value, count)
        Each rating of the scale and how often it was given, lowest first.
    tail : tuple of TailPoint
        The curve of the long tail, from (0, 0) to (1, 1).
    by_mean : tuple of (low, high, n_items, mean ratings an item)
        Rated items in bins of their mean rating: do well-liked items have more ratings?
    """

    density: float
    mean_rating: float
    ratings_per_user: float
    ratings_per_rated_item: float
    n_unrated: int
    head_items: int
    values: tuple[tuple[float, int], ...]
    tail: tuple[TailPoint, ...]
    by_mean: tuple[tuple[float, float, int, float], ...]

    @property
    def sparsity_percent(self) -> float:
        """User × item pairs without a rating, of 100."""
        return 100 * (1 - self.density)


def shape_of(version: DatasetVersion) -> Shape:
    """The version's shape, computed once a process."""
    return _shape(version.ratings_digest, version.pk)


@lru_cache(maxsize=SHAPES_KEPT)
def _shape(ratings_digest: str, version_id: int) -> Shape:
    ratings = ratings_of(DatasetVersion.objects.get(pk=version_id))
    counts = np.sort(ratings.item_counts)[::-1]
    cumulative = np.cumsum(counts)
    n_ratings = ratings.n_ratings
    n_rated = int((counts > 0).sum())
    at = np.unique(np.linspace(0, ratings.n_items, min(TAIL_POINTS, ratings.n_items) + 1).astype(np.int64))
    shares = np.concatenate(([0], cumulative))[at] / n_ratings
    return Shape(
        density=n_ratings / (ratings.n_users * ratings.n_items),
        mean_rating=float(ratings.user_items.data.mean(dtype=np.float64)),
        ratings_per_user=n_ratings / ratings.n_users,
        ratings_per_rated_item=n_ratings / n_rated,
        n_unrated=ratings.n_items - n_rated,
        head_items=int(np.searchsorted(cumulative, n_ratings / 3) + 1),
        values=_value_counts(ratings),
        tail=tuple(
            TailPoint(float(items) / ratings.n_items, float(share)) for items, share in zip(at, shares, strict=True)
        ),
        by_mean=_by_mean(ratings),
    )


def _value_counts(ratings: Ratings) -> tuple[tuple[float, int], ...]:
    scale = ratings.scale
    n_points = round(float(scale.codes(scale.high))) + 1
    counts = np.bincount(np.rint(scale.codes(ratings.user_items.data)).astype(np.int64), minlength=n_points)
    return tuple((round(scale.low + step * scale.step, 6), int(count)) for step, count in enumerate(counts))


def _by_mean(ratings: Ratings) -> tuple[tuple[float, float, int, float], ...]:
    counts = ratings.item_counts
    sums = np.bincount(ratings.user_items.indices, weights=ratings.user_items.data, minlength=ratings.n_items)
    is_rated = counts > 0
    means = sums[is_rated] / counts[is_rated]
    low, high = ratings.scale.low, ratings.scale.high
    if low == high:
        return ()
    edges = np.linspace(low, high, MEAN_BINS + 1)
    places = np.clip(np.searchsorted(edges, means, side="right") - 1, 0, MEAN_BINS - 1)
    n_items = np.bincount(places, minlength=MEAN_BINS)
    n_ratings = np.bincount(places, weights=counts[is_rated], minlength=MEAN_BINS)
    return tuple(
        (float(edges[place]), float(edges[place + 1]), int(n_items[place]), float(n_ratings[place] / n_items[place]))
        for place in range(MEAN_BINS)
        if n_items[place]
    )
