"""One unseen person, five ratings, the top five: what a participant waits for, algorithm by algorithm.

    python benchmarks/serving.py [--shape small|w2|w1] [--people 300]

Prints the time of the fit, the median and 99th percentile of scoring and ranking one profile, and the model's size.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from generator import SHAPES, ratings
from machine import description
from table import Row, write_rows
from threadpoolctl import threadpool_limits

from recommenders import registry

ALGORITHMS = "toppop,corngr,nncosngr,asysvd,puresvd:factors=50,puresvd:factors=300"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--shape", choices=sorted(SHAPES), default="w2")
    options.add_argument("--people", type=int, default=300)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--rows", type=Path, help="leave the rows here for the table of all benchmarks")
    chosen = options.parse_args()
    shape = SHAPES[chosen.shape]
    data = ratings(shape)
    print(
        f"{shape.name}: {data.n_users:,} users, {data.n_items:,} items, {data.n_ratings:,} ratings; "
        f"{description(chosen.threads)}"
    )
    rng = np.random.default_rng(7)
    people = [rng.choice(data.n_items, size=5, replace=False) for _ in range(chosen.people)]
    print(f"{'algorithm':<12}{'fit s':>8}{'p50 ms':>9}{'p99 ms':>9}{'model MB':>10}")
    rows = []
    with threadpool_limits(chosen.threads):
        for key, params in map(registry.parse, registry.specifications(ALGORITHMS)):
            kind = registry.algorithm(key)
            started = time.perf_counter()
            model = kind.fit(data, params, features=None, rng=np.random.default_rng(1))
            fitted = time.perf_counter() - started
            times = []
            for number, items in enumerate(people):
                before = time.perf_counter()
                model.answer(items, [5, 4, 3, 4, 5], data.scale, 5)
                if number >= 10:  # the first ones warm caches and compiled code
                    times.append(1000 * (time.perf_counter() - before))
            for part in (50, 99):
                words = f"{kind.label(params)}, one unseen person, 5 ratings, top 5, {chosen.shape.upper()}, p{part}"
                rows.append(Row(words, {"seconds": float(np.percentile(times, part)) / 1000}))
            size = sum(array.nbytes for array in model.state().values()) / 1e6
            print(
                f"{kind.label(params):<12}{fitted:>8.2f}{np.percentile(times, 50):>9.3f}"
                f"{np.percentile(times, 99):>9.3f}{size:>10.1f}"
            )
    write_rows(chosen.rows, f"one unseen person by algorithm: {description(chosen.threads)}", rows, chosen.people - 10)


if __name__ == "__main__":
    main()
