"""Rating matrices for benchmarks: long-tail popularity, latent taste, any size, the same for the same seed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from recommenders.data import ItemFeatures, Ratings, Scale


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
LARGE = Shape("large, the shape of MovieLens 25M", 162_000, 59_000, 25_000_000)
SHAPES = {"w1": W1, "w2": W2, "small": SMALL, "25m": LARGE}
FACTORS = 8
# Users that are drawn together: bounds the memory of drawing, not of the result.
BLOCK_USERS = 5_000
# Up to so many items every one of them is drawn for; beyond, draws are repeated until nearly enough are different.
SMALL_CATALOGUE = 6_000


def ratings(shape: Shape, *, seed: int = 1) -> Ratings:
    """Draw who rated what by a long tail over items, and how by a low-rank taste plus noise, in whole 1..5."""
    rng = np.random.default_rng(seed)
    popularity = np.cumsum(1.0 / (np.arange(shape.n_items) + 20.0))
    popularity /= popularity[-1]
    activity = rng.lognormal(0.0, 1.0, shape.n_users)
    most = 0.6 * shape.n_items
    wanted = _whole(np.minimum(activity * shape.n_ratings / activity.sum(), most), shape.n_ratings, most)
    of_user = rng.normal(size=(shape.n_users, FACTORS)).astype(np.float32)
    of_item = rng.normal(size=(shape.n_items, FACTORS)).astype(np.float32)
    items, values = [], []
    for first in range(0, shape.n_users, BLOCK_USERS):
        block = np.arange(first, min(first + BLOCK_USERS, shape.n_users))
        pairs = _draw(rng, popularity, wanted[block])
        users, chosen = block[0] + pairs // shape.n_items, pairs % shape.n_items
        taste = np.einsum("ij,ij->i", of_user[users], of_item[chosen]) / np.sqrt(FACTORS)
        noise = rng.normal(0.0, 0.6, len(taste))
        items.append(chosen.astype(np.int32))
        values.append(np.clip(np.rint(3.6 + 0.9 * taste + noise), 1, 5).astype(np.float32))
        wanted[block] = np.bincount(users - block[0], minlength=len(block))
    indptr = np.concatenate(([0], np.cumsum(wanted)))
    matrix = sparse.csr_array(
        (np.concatenate(values), np.concatenate(items), indptr), shape=(shape.n_users, shape.n_items)
    )
    return Ratings(matrix, Scale(1, 5, 1))


def features(n_items: int, *, seed: int = 2, a_item: int = 20) -> ItemFeatures:
    """Draw who acts in what: so many people an item, out of twice as many as there are items, by a long tail."""
    rng = np.random.default_rng(seed)
    n_people = 2 * n_items
    fame = np.cumsum(1.0 / (np.arange(n_people) + 20.0))
    people = np.minimum(np.searchsorted(fame / fame[-1], rng.random((n_items, a_item))), n_people - 1)
    pairs = np.unique(np.arange(n_items)[:, np.newaxis] * np.int64(n_people) + people)
    cast = sparse.csr_array((np.ones(pairs.size), np.divmod(pairs, n_people)), shape=(n_items, n_people))
    return ItemFeatures(cast, tuple(("cast", f"person {number}") for number in range(n_people)))


def _whole(shares: np.ndarray, total: int, most: float) -> np.ndarray:
    """Whole numbers of ratings, what the cap took from the busiest given to the others."""
    for _ in range(20):
        shares = np.minimum(shares * total / shares.sum(), most)
    return np.maximum(np.rint(shares), 1).astype(np.int64)


def _draw(rng: np.random.Generator, popularity: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Draw for each row as many different items as are wanted, by popularity; return row * n_items + item, sorted."""
    n_items = len(popularity)
    if n_items <= SMALL_CATALOGUE:
        # The items that come in first when each takes an exponential time with its popularity as the rate.
        times = rng.standard_exponential((len(wanted), n_items), dtype=np.float32)
        times /= np.diff(popularity, prepend=0.0).astype(np.float32)
        last = np.take_along_axis(np.sort(times, axis=1), wanted[:, np.newaxis] - 1, axis=1)
        return np.flatnonzero(times <= last)
    pairs = np.empty(0, dtype=np.int64)
    missing = wanted
    while missing.sum() > 0.02 * wanted.sum():
        rows = np.repeat(np.arange(len(wanted)), missing)
        items = np.minimum(np.searchsorted(popularity, rng.random(len(rows))), n_items - 1)
        pairs = np.union1d(pairs, rows * np.int64(n_items) + items)
        missing = wanted - np.bincount(pairs // n_items, minlength=len(wanted))
    return pairs


def cached(shape: Shape, folder: Path) -> Ratings:
    """The ratings of seed 1, drawn once and kept as plain arrays."""
    names = ("data", "indices", "indptr", "shape")
    if not (folder / "shape.npy").exists():
        folder.mkdir(parents=True, exist_ok=True)
        matrix = ratings(shape).user_items
        for name in names:
            np.save(folder / f"{name}.npy", getattr(matrix, name))
    data, indices, indptr, size = (np.load(folder / f"{name}.npy") for name in names)
    return Ratings(sparse.csr_array((data, indices, indptr), shape=tuple(size)), Scale(1, 5, 1))
