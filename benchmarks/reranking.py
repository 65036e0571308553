"""Processor time of re-ranking one list, method by method, on a folder of MovieLens (ratings.csv, movies.csv).

    python benchmarks/reranking.py FOLDER [--algorithm puresvd:factors=50] [--people 300]

Prints, for one profile of each user, the median of the algorithm's own list of 20 items, and of what each re-ranker
adds to it.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import description
from scipy import sparse
from threadpoolctl import threadpool_limits

from recommenders import registry
from recommenders.data import ItemFeatures, Ratings, Scale
from recommenders.reranking import RERANKERS, Reranked

LENGTH = 20


def read(folder: Path) -> tuple[Ratings, ItemFeatures]:
    """Read ratings and genres."""
    with (folder / "movies.csv").open(newline="", encoding="utf-8") as file:
        genres = {row["movieId"]: row["genres"].split("|") for row in csv.DictReader(file)}
    with (folder / "ratings.csv").open(newline="", encoding="utf-8") as file:
        rows = [(row["userId"], row["movieId"], float(row["rating"])) for row in csv.DictReader(file)]
    item_of = {movie: at for at, movie in enumerate(genres)}
    user_of = {user: at for at, user in enumerate(dict.fromkeys(user for user, *_ in rows))}
    users, items, values = zip(*((user_of[user], item_of[movie], value) for user, movie, value in rows), strict=True)
    ratings = Ratings.from_triples(
        users, items, values, n_users=len(user_of), n_items=len(item_of), scale=Scale(0.5, 5, 0.5)
    )
    names = sorted({name for own in genres.values() for name in own})
    pairs = [(item_of[movie], names.index(name)) for movie, own in genres.items() for name in own]
    at, terms = np.array(pairs).T
    table = sparse.csr_array((np.ones(len(at)), (at, terms)), shape=(len(item_of), len(names)))
    return ratings, ItemFeatures(table, tuple(("genre", name) for name in names))


def milliseconds(model: Any, ratings: Ratings, users: list[int]) -> float:
    """The median processor time of a list, in ms."""
    times = []
    for number, user in enumerate(users):
        own = slice(ratings.user_items.indptr[user], ratings.user_items.indptr[user + 1])
        items, values = ratings.user_items.indices[own], ratings.user_items.data[own]
        before = time.process_time_ns()
        model.answer(items, values, ratings.scale, LENGTH)
        if number >= 10:  # the first ones warm caches and compiled code
            times.append((time.process_time_ns() - before) / 1e6)
    return float(np.median(times))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--algorithm", default="puresvd:factors=50")
    options.add_argument("--people", type=int, default=300)
    chosen = options.parse_args()
    ratings, features = read(chosen.folder)
    key, params = registry.parse(chosen.algorithm)
    users = list(range(min(chosen.people, ratings.n_users)))
    print(f"{ratings.n_users:,} users, {ratings.n_items:,} items, {ratings.n_ratings:,} ratings; {description(1)}")
    with threadpool_limits(1):
        rng = np.random.default_rng(1)
        base = registry.algorithm(key).fit(ratings, params, features=features, rng=rng)
        plain = milliseconds(base, ratings, users)
        print(f"{base.label(params):<40}{plain:>8.2f} ms")
        for method in RERANKERS:
            kind = registry.algorithm(f"{key}|{method}")
            assert issubclass(kind, Reranked)
            model = kind.on(base, registry.params_of(kind.key, params.as_dict()), features)
            added = milliseconds(model, ratings, users) - plain
            print(f"{kind.label(model.params):<40}{added:>+8.2f} ms")


if __name__ == "__main__":
    main()
