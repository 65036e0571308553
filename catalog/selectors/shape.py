"""The distribution of a version's ratings: density, long tail and values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from catalog.models import DatasetVersion
from catalog.selectors.ratings import ratings_of
from recommenders.data import Ratings

TAIL_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # of all items, the most rated first
FEWEST_BINS, MOST_BINS = 8, 16
SHAPES_KEPT = 32


@dataclass(frozen=True, eq=False)
class Shape:
    """Numbers that a dataset's page shows."""

    density: float  # ratings over user × item pairs, 0 to 1
    # `mean_rating`, `ratings_per_user`: means.
    mean_rating: float
    ratings_per_user: float
    n_unrated: int  # items without a rating
    half_items: int  # the fewest items that together have half of all ratings
    # (value, count); each rating of the scale and how often it was given, lowest first.
    values: tuple[tuple[float, int], ...]
    counts: NDArray[np.int64]  # shape (n_items,); ratings of each item, most rated first
    # (items, their share of all, the share of the ratings that they have); of the most rated items, shares 0 to 1.
    tail: tuple[tuple[int, float, float], ...]
    # (lowest mean, highest mean, items, ratings per item); do well-liked items have more ratings? Each bin is without
    # its upper end, the last one apart; bins without an item are left out.
    by_mean: tuple[tuple[float, float, int, float], ...]

    @property
    def sparsity_percent(self) -> float:
        """User × item pairs without a rating, of 100."""
        return 100 * (1 - self.density)


def value_counts(version: DatasetVersion) -> tuple[tuple[float, int], ...]:
    """Each rating of the scale and how often it was given, lowest first; counted once a process."""
    return _value_counts(version.ratings_digest, version.pk)


def shape_of(version: DatasetVersion) -> Shape:
    """The version's shape, computed once a process."""
    return _shape(version.ratings_digest, version.pk)


@lru_cache(maxsize=SHAPES_KEPT)
def _shape(ratings_digest: str, version_id: int) -> Shape:
    ratings = ratings_of(DatasetVersion.objects.get(pk=version_id))
    counts = np.sort(ratings.item_counts)[::-1]
    cumulative = np.cumsum(counts)
    n_ratings, n_items = ratings.n_ratings, ratings.n_items
    heads = sorted({math.ceil(share * n_items) for share in TAIL_SHARES})
    return Shape(
        density=n_ratings / (ratings.n_users * n_items),
        mean_rating=float(ratings.user_items.data.mean(dtype=np.float64)),
        ratings_per_user=n_ratings / ratings.n_users,
        n_unrated=int((counts == 0).sum()),
        half_items=int(np.searchsorted(cumulative, n_ratings / 2) + 1),
        values=_value_counts(ratings_digest, version_id),
        counts=counts,
        tail=tuple((head, head / n_items, float(cumulative[head - 1] / n_ratings)) for head in heads),
        by_mean=_by_mean(ratings),
    )


@lru_cache(maxsize=SHAPES_KEPT)
def _value_counts(ratings_digest: str, version_id: int) -> tuple[tuple[float, int], ...]:
    ratings = ratings_of(DatasetVersion.objects.get(pk=version_id))
    scale = ratings.scale
    n_points = round(float(scale.codes(scale.high))) + 1
    counts = np.bincount(np.rint(scale.codes(ratings.user_items.data)).astype(np.int64), minlength=n_points)
    return tuple((round(scale.low + step * scale.resolution, 6), int(count)) for step, count in enumerate(counts))


def _by_mean(ratings: Ratings) -> tuple[tuple[float, float, int, float], ...]:
    low, high = ratings.scale.low, ratings.scale.high
    if low == high:
        return ()
    n_bins = round((high - low) / ratings.scale.resolution)
    while n_bins < FEWEST_BINS:
        n_bins *= 2
    while n_bins > MOST_BINS:
        n_bins = -(-n_bins // 2)
    counts = ratings.item_counts
    is_rated = counts > 0
    sums = np.bincount(ratings.user_items.indices, weights=ratings.user_items.data, minlength=ratings.n_items)
    edges = np.linspace(low, high, n_bins + 1)
    bins = np.searchsorted(edges, sums[is_rated] / counts[is_rated], side="right") - 1
    bins = np.clip(bins, 0, n_bins - 1)
    n_items = np.bincount(bins, minlength=n_bins)
    n_ratings = np.bincount(bins, weights=counts[is_rated], minlength=n_bins)
    return tuple(
        (float(edges[at]), float(edges[at + 1]), int(n_items[at]), float(n_ratings[at] / n_items[at]))
        for at in np.flatnonzero(n_items)
    )
