"""Rating matrices for benchmarks: long-tail popularity, latent taste, any size, the same for the same seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recommenders.data import Ratings, Scale


@dataclass(frozen=True)
class Shape:
    """Users, items and the number of ratings aimed at (duplicates drawn are dropped, so a little fewer come out)."""

    name: str
    n_users: int
    n_items: int
    n_ratings: int


W1 = Shape("W1, the paper's scale", 49_969, 2_137, 7_700_000)
W2 = Shape("W2, the shape of MovieLens 1M", 6_040, 3_706, 1_000_000)
SMALL = Shape("small", 600, 1_000, 60_000)
SHAPES = {"w1": W1, "w2": W2, "small": SMALL}
FACTORS = 8


def ratings(shape: Shape, *, seed: int = 1) -> Ratings:
    """Draw who rated what by a long tail over items, and how by a low-rank taste plus noise, in whole 1..5."""
    rng = np.random.default_rng(seed)
    popularity = 1.0 / (np.arange(shape.n_items) + 20.0)
    activity = rng.lognormal(0.0, 1.0, shape.n_users)
    users = rng.choice(shape.n_users, size=int(shape.n_ratings * 1.5), p=activity / activity.sum())
    items = rng.choice(shape.n_items, size=len(users), p=popularity / popularity.sum())
    pairs = np.unique(users * np.int64(shape.n_items) + items)
    if len(pairs) > shape.n_ratings:
        pairs = np.sort(rng.choice(pairs, size=shape.n_ratings, replace=False))
    users, items = np.divmod(pairs, shape.n_items)
    of_user = rng.normal(size=(shape.n_users, FACTORS)).astype(np.float32)
    of_item = rng.normal(size=(shape.n_items, FACTORS)).astype(np.float32)
    taste = np.einsum("ij,ij->i", of_user[users], of_item[items]) / np.sqrt(FACTORS)
    values = np.clip(np.rint(3.6 + 0.9 * taste + rng.normal(0.0, 0.6, len(taste))), 1, 5)
    return Ratings.from_triples(users, items, values, shape.n_users, shape.n_items, Scale(1, 5, 1))
