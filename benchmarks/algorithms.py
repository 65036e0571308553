"""Fits, and lists for all users and for one unseen user, compared with peers and machine limits.

    python benchmarks/algorithms.py [--shapes w1,w2] [--repetitions 5] [--threads 2] [--out FILE]
    python benchmarks/algorithms.py --table [--shape w1]     time and peak memory of every algorithm's fit

Ours and the peer's run in turn; figures are medians. The data, the peers' environments and the table are kept under
`var/benchmarks` (or `PARALLAX_VAR`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from generator import SHAPES, cached, features
from machine import description, rates
from peers import CACHE, Peer
from table import Row, in_turn, write_rows
from threadpoolctl import threadpool_limits

from recommenders import registry
from recommenders.baseline import Baseline
from recommenders.data import Profiles, Ratings
from recommenders.kernels.asysvd import descend
from recommenders.kernels.ranking import best
from recommenders.threads import each, one_library_thread, using

PEOPLE = 400
BLOCK_SCORES = 1 << 19  # 4 MB for each thread, which stay in the processor's cache until they are ranked


def top_of_all(model: Any, profiles: Profiles, n: int) -> np.ndarray:
    """The n best items of every profile, shape (n_profiles, n), some profiles at a time on the threads allowed."""
    items, scores = np.empty((profiles.n_profiles, n), dtype=np.int64), np.empty((profiles.n_profiles, n))

    def block(first: int) -> None:
        rows = slice(first, first + step)
        part = Profiles(profiles.user_items[rows], profiles.scale)
        own = part.user_items.indptr.astype(np.int64), part.user_items.indices.astype(np.int32, copy=False)
        best(np.ascontiguousarray(model.score(part)), model.popularity, *own, items[rows], scores[rows])

    step = max(1, BLOCK_SCORES // max(1, profiles.n_items))
    with one_library_thread():  # the blocks share out the threads
        each(block, range(0, profiles.n_profiles, step))
    return items


def timed(work: Callable[[], object]) -> dict[str, float]:
    started, used = time.perf_counter(), time.process_time()
    work()
    return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - used}


def fit(data: Ratings, specification: str) -> Any:
    """A model of a specification, such as ``puresvd:factors=50``."""
    key, params = registry.parse(specification)
    algorithm = registry.algorithm(key)
    cast = features(data.n_items) if algorithm.needs_features else None
    return algorithm.fit(data, params, features=cast, rng=np.random.default_rng(1))


def time_fits(data: Ratings, *specifications: str) -> dict[str, float]:
    """Time fits on newly wrapped ratings; wrapping is excluded, because the peers' matrix exists before timing too."""
    ratings = Ratings(data.user_items, data.scale)
    return timed(lambda: [fit(ratings, specification) for specification in specifications])


def w1_rows(data: Ratings, folder: Path, threads: int, repetitions: int) -> Iterator[Row]:
    machine = rates(threads)
    pair_sums = machine.pair_sums(np.diff(data.user_items.indptr), data.n_items, 1, 2)
    profiles = Profiles(data.user_items, data.scale)
    with Peer("implicit", folder, threads) as peer:
        name = f"implicit {peer.versions['implicit']}"
        ours, theirs = in_turn(
            lambda: time_fits(data, "nncosngr:neighbourhood=item"),
            lambda: peer.do("cosine_fit"),
            repetitions,
        )
        yield Row(
            "item-kNN cosine fit, 200 neighbours, W1", ours, name, theirs, 0.30,
            pair_sums, 3, "an addition for each pair of a user's ratings, or dense rows multiplied",
        )  # fmt: skip
        model = fit(data, "puresvd:factors=50")
        ours, theirs = in_turn(
            lambda: timed(lambda: top_of_all(model, profiles, 10)), lambda: peer.do("factors_top"), repetitions
        )
        yield Row(
            "top 10 for all users, 50 factors, W1", ours, f"{name} ALS", theirs, 0.25,
            2 * data.n_users * data.n_items * 50 / machine.gemm, 4, "the matrix product",
        )  # fmt: skip
        model = fit(data, "nncosngr:neighbourhood=item")
        ours, theirs = in_turn(
            lambda: timed(lambda: top_of_all(model, profiles, 10)), lambda: peer.do("knn_top"), repetitions
        )
        additions = float(data.item_counts @ np.bincount(model.neighbour_items, minlength=data.n_items))
        yield Row(
            "top 10 for all users, kNN-200, W1", ours, f"{name} cosine", theirs, 0.65,
            additions / machine.scatter, 1.2, "an addition for each neighbour of each rating",
        )  # fmt: skip
        ours, theirs = in_turn(lambda: cold(model, folder), lambda: peer.do("cold"), repetitions)
        for part, goal in (("p50", 0.8), ("p99", 0.5)):
            yield Row(
                f"one unseen person, 5 ratings, top 5, kNN-200, {part}",
                {"seconds": ours[part]},
                f"{name} cosine",
                {"seconds": theirs[part]},
                goal,
            )
    with Peer("sklearn", folder, threads) as peer:
        n = data.n_items
        # Half of the reduction to three diagonals is products of matrices, half of a matrix with vectors.
        limit = pair_sums + 2 / 3 * n**3 * (1 / machine.gemm + 1 / machine.gemv)
        limit += 4 * n**2 * 300 / machine.gemm
        # The exact peer takes half a minute of two cores each time: once is enough for a ratio of a fifteenth.
        for task, goal, words, most in (
            ("randomized_pair", 0.35, f"scikit-learn {peer.versions['scikit-learn']} randomised", min(repetitions, 3)),
            ("svds_pair", 0.18, f"scipy {peer.versions['scipy']} svds", 1),
        ):
            ours, theirs = in_turn(
                lambda: time_fits(data, "puresvd:factors=50", "puresvd:factors=300"),
                lambda: peer.do(task),  # noqa: B023 (called at once)
                most,
            )
            yield Row(
                "PureSVD 50 and 300 together, W1, exact", ours, words, theirs, goal,
                limit, 1.6, "pair sums, reduction to three diagonals, 300 vectors back", most,
            )  # fmt: skip


def w2_rows(data: Ratings, folder: Path, threads: int, repetitions: int) -> Iterator[Row]:
    machine = rates(threads)
    pair_sums = machine.pair_sums(np.diff(data.user_items.indptr), data.n_items, 2, 4)
    with Peer("sklearn", folder, threads) as peer:
        ours, theirs = in_turn(
            lambda: time_fits(data, "puresvd:factors=50"), lambda: peer.do("randomized"), repetitions
        )
        words = f"scikit-learn {peer.versions['scikit-learn']} randomised"
        yield Row("PureSVD 50, W2, exact", ours, words, theirs, 1.1)
    with Peer("surprise", folder, threads) as peer:
        words, most = f"Surprise {peer.versions['scikit-surprise']}", min(repetitions, 3)
        ours, theirs = in_turn(lambda: time_fits(data, "corngr"), lambda: peer.do("pearson_fit"), most)
        yield Row(
            "CorNgr fit, W2", ours, f"{words} pearson_baseline", theirs, 0.02,
            pair_sums, 2.5, "two additions for each pair of a user's ratings, or dense rows multiplied", most,
        )  # fmt: skip
        ours = median_of(lambda: epoch(data), repetitions)
        theirs = peer.do("svdpp_epoch")
        yield Row(
            "AsySVD, 50 factors, one epoch, W2 (peer once)", ours, f"{words} SVD++", theirs, 0.001,
            data.n_ratings * 50 * 9 / machine.axpy, 2.5, "nine multiply-adds for each rating and factor",
        )  # fmt: skip


def median_of(work: Callable[[], dict[str, float]], repetitions: int) -> dict[str, float]:
    runs = [work() for _ in range(repetitions)]
    return {key: float(np.median([run[key] for run in runs])) for key in runs[0]}


def epoch(data: Ratings) -> dict[str, float]:
    """Seconds of one pass of the descent over all ratings: what both libraries repeat."""
    rng = np.random.default_rng(1)
    residuals = Baseline.fit(data, reg_item=25.0, reg_user=10.0).residuals(data.user_items)
    factors = [rng.normal(0.0, 0.04, (data.n_items, 50)), *(np.zeros((data.n_items, 50)) for _ in range(2))]
    side = data.user_items.indptr.astype(np.int64), data.user_items.indices.astype(np.int32), residuals
    return timed(lambda: descend(rng.permutation(data.n_users), *side, *factors, 0.01, 0.02))


def cold(model: Any, folder: Path) -> dict[str, float]:
    """Profile to list for people one after the other, the first ones to warm up left out."""
    times = []
    for items in np.load(folder / "people.npy"):
        started = time.perf_counter()
        model.answer(items, [5, 4, 3, 4, 5], model.scale, 5)
        times.append(time.perf_counter() - started)
    return {"p50": float(np.percentile(times[20:], 50)), "p99": float(np.percentile(times[20:], 99))}


def arrays(name: str) -> tuple[Ratings, Path]:
    """A set of ratings, and the folder that the peers read it from."""
    folder = CACHE / name
    data = cached(SHAPES[name], folder)
    people = [np.random.default_rng(n).choice(data.n_items, size=5, replace=False) for n in range(PEOPLE)]
    np.save(folder / "people.npy", np.sort(people).astype(np.int32))
    return data, folder


def compare(shapes: list[str], threads: int, repetitions: int, out: Path, rows_to: Path | None) -> None:
    lines = [f"# Fits, lists and unseen people\n\n{description(threads)}.", ""]
    with threadpool_limits(threads), using(threads):
        for module in ("neighbours", "similarities", "krylov", "ranking"):
            import_module(f"recommenders.kernels.{module}")
        lines += [
            f"The machine: {rates(threads)}. Medians of n repetitions, ours and the peer's in turn.",
            "",
            Row.HEAD,
        ]
        print("\n".join(lines), flush=True)
        rows = []
        for name in shapes:
            data, folder = arrays(name)
            for row in {"w1": w1_rows, "w2": w2_rows}[name](data, folder, threads, repetitions):
                rows.append(row)
                lines.append(row.text(repetitions))
                print(lines[-1], flush=True)
        words = f"fits, lists and one unseen user: {description(threads)}; {rates(threads)}"
    write_rows(rows_to, words, rows, repetitions)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n")


ONE = """
import json, resource, sys, time
sys.path[:0] = {paths!r}
from algorithms import *
with threadpool_limits({threads}), using({threads}):
    data, _ = arrays({shape!r})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter(), time.process_time()
    model = fit(data, {algorithm!r})
    ended = time.perf_counter(), time.process_time()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
size = sum(array.nbytes for array in model.state().values())
print(json.dumps([ended[0] - started[0], ended[1] - started[1], peak / 1024, (peak - before) / 1024, size / 2**20]))
"""


def measure(shape: str, algorithms: list[str], threads: int, out: Path) -> None:
    """Fit each algorithm in a process of its own and print its time, peak memory and size."""
    lines = [f"# Every algorithm's fit on {SHAPES[shape].name}\n\n{description(threads)}; compiling included.", ""]
    lines += ["| algorithm | seconds | CPU s | peak MB | above the data MB | model MB |", "|---|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    paths = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
    for algorithm in algorithms:
        program = ONE.format(paths=paths, threads=threads, shape=shape, algorithm=algorithm)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        if done.returncode:
            message = done.stderr.strip().splitlines()[-1:] or [f"ended by signal {-done.returncode}"]
            line = f"| {algorithm} | {message[0]} | | | | |"
        else:
            wall, cpu, peak, above, size = json.loads(done.stdout.splitlines()[-1])
            line = f"| {algorithm} | {wall:.2f} | {cpu:.2f} | {peak:,.0f} | {above:,.0f} | {size:,.1f} |"
        lines.append(line)
        print(line, flush=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n")


STUDY = "toppop,corngr,nncosngr,asysvd,puresvd:factors=50,puresvd:factors=300,lsa"
OTHERS = (
    "userknn-pearson,userknn-cosine,itemitem,expected-utility,popularity-likes,random,ease,ials,aspect,"
    "aspect-content,naive-bayes,lpca"
)
BOUNDED = (
    "toppop,corngr:neighbourhood=item,nncosngr:neighbourhood=item,asysvd:epochs=5,puresvd:factors=50,"
    "puresvd:factors=300,lsa"
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--shapes", default="w2,w1")
    options.add_argument("--repetitions", type=int, default=5)
    options.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    options.add_argument("--out", type=Path)
    options.add_argument("--rows", type=Path, help="leave the rows here for the table of all benchmarks")
    options.add_argument("--table", action="store_true", help="time and memory of every algorithm's fit instead")
    options.add_argument("--shape", choices=sorted(SHAPES), default="w1", help="data of --table")
    options.add_argument("--algorithms", help="of --table; all of them if left out")
    chosen = options.parse_args()
    if chosen.table:
        usual = BOUNDED if SHAPES[chosen.shape].n_items > 20_000 else f"{STUDY},{OTHERS}"
        names = (chosen.algorithms or usual).split(",")
        measure(chosen.shape, names, chosen.threads, chosen.out or CACHE / f"fits-{chosen.shape}.md")
    else:
        out = chosen.out or CACHE / "algorithms.md"
        compare(chosen.shapes.split(","), chosen.threads, chosen.repetitions, out, chosen.rows)


if __name__ == "__main__":
    main()
