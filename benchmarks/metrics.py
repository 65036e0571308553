"""Precision, recall, nDCG and MAP at 10 over all users, computed from lists, compared with pytrec_eval.

    python benchmarks/metrics.py [--shape small|w2|w1] [--rounds 5]

Building the input is counted on both sides; the values have to agree to 1e-9. The two take turns, and medians are
printed, of wall clock and of processor time (one thread each), with the machine's limit: sorting the keys
user · n + item of the relevant pairs once and searching those of all lists in them once. pytrec_eval runs in an
environment of its own, made on first use (`benchmarks/peers.py`).
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# This folder has a module of the name of a package, which has to be found first.
sys.path.append(sys.path.pop(0))

import numpy as np
from generator import SHAPES, cached
from machine import description
from peers import CACHE, environment
from table import Row, write_rows

from evaluation.metrics.list_values import overall
from evaluation.metrics.ranks import Ranks
from evaluation.metrics.registry import metric

HERE = Path(__file__).resolve().parent
NAMES = ("precision@10", "recall@10", "ndcg@10", "ap@10")
N_TEST = 69_039  # five-star test ratings of the paper's scale; a share of the ratings for other shapes
DEPTH = 10


def task(shape_name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Lists of ten of every user, by a long tail, and relevant pairs: five-star ratings, as many as the paper has."""
    data = cached(SHAPES[shape_name], CACHE / shape_name)
    users, items, values = data.triples()
    rng = np.random.default_rng(11)
    liked = np.flatnonzero(values == 5)
    chosen = np.sort(rng.choice(liked, size=min(N_TEST, len(liked) // 5), replace=False))
    weight = np.log(data.item_counts + 1.0)
    lists = np.empty((data.n_users, DEPTH), dtype=np.int32)
    for start in range(0, data.n_users, 2_000):
        block = weight + 0.5 * rng.gumbel(size=(min(2_000, data.n_users - start), data.n_items))
        best = np.argpartition(-block, DEPTH, axis=1)[:, :DEPTH]
        order = np.argsort(-np.take_along_axis(block, best, axis=1), axis=1)
        lists[start : start + len(block)] = np.take_along_axis(best, order, axis=1)
    return lists, users[chosen].astype(np.int32), items[chosen].astype(np.int32), data.n_items


def clocks() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])


def ours(lists: np.ndarray, users: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, dict[str, float]]:
    started = clocks()
    pairs, columns = np.divmod(np.flatnonzero(lists[users] == items[:, None]), DEPTH)
    found_at = np.zeros(len(users), dtype=np.int64)
    found_at[pairs] = columns + 1
    ranks = Ranks.of(users, found_at, n_listed=np.full(len(lists), DEPTH))
    means = {name: float(overall(metric(name), ranks).value or 0.0) for name in NAMES}
    return clocks() - started, means


def limit(lists: np.ndarray, users: np.ndarray, items: np.ndarray, n_items: int) -> np.ndarray:
    started = clocks()
    keys = np.sort(users.astype(np.int64) * n_items + items)
    wanted = np.arange(len(lists), dtype=np.int64)[:, None] * n_items + lists
    np.searchsorted(keys, wanted.ravel())
    return clocks() - started


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--shape", choices=sorted(SHAPES), default="w1")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--rows", type=Path, help="leave the rows here for the table of all benchmarks")
    chosen = options.parse_args()
    lists, users, items, n_items = task(chosen.shape)
    python = environment("pytrec_eval")
    seconds: dict[str, list[np.ndarray]] = {"ours": [], "peer": [], "limit": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "task.npz"
        np.savez(path, lists=lists, users=users, items=items)
        with subprocess.Popen(
            [python, HERE / "peers" / "pytrec_eval_values.py", path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as peer:
            assert peer.stdin is not None
            assert peer.stdout is not None
            peer_version = json.loads(peer.stdout.readline())["version"]
            ours(lists, users, items)  # the first round warms caches
            for _ in range(chosen.rounds):
                took, means = ours(lists, users, items)
                seconds["ours"].append(took)
                peer.stdin.write("\n")
                peer.stdin.flush()
                answer = json.loads(peer.stdout.readline())
                seconds["peer"].append(np.array(answer["seconds"]))
                seconds["limit"].append(limit(lists, users, items, n_items))
                apart = max(abs(means[name] - answer["means"][name]) for name in NAMES)
                if apart > 1e-9:
                    sys.exit(f"The values differ by {apart:.1e}: {means} and {answer['means']}")
            peer.stdin.close()
    median = {who: np.median(values, axis=0) for who, values in seconds.items()}
    print(
        f"{SHAPES[chosen.shape].name}: {len(lists):,} lists of {DEPTH}, {len(users):,} relevant pairs; "
        f"Python {platform.python_version()}, numpy {np.__version__}, pytrec-eval-terrier {peer_version}; "
        f"1 thread each, median of {chosen.rounds}"
    )
    print("  ".join(f"{name} {value:.6f}" for name, value in means.items()) + f"  (agree to {apart:.0e})")
    print(f"{'':<11}{'ours ms':>9}{'peer ms':>9}{'limit ms':>10}{'ours/peer':>11}{'ours/limit':>12}")
    for index, clock in enumerate(("wall clock", "processor")):
        mine, theirs, least = (median[who][index] for who in ("ours", "peer", "limit"))
        print(
            f"{clock:<11}{1e3 * mine:>9.1f}{1e3 * theirs:>9.1f}{1e3 * least:>10.1f}"
            f"{mine / theirs:>11.4f}{mine / least:>12.2f}"
        )
    mine, theirs, least = (dict(zip(("seconds", "cpu"), map(float, median[who]), strict=True)) for who in median)
    row = Row(
        f"precision, recall, nDCG, MAP at 10 of all users, {chosen.shape.upper()}",
        *(mine, f"pytrec-eval-terrier {peer_version}", theirs, 0.06),
        *(least["seconds"], 4, "sorting the relevant pairs once and searching for those of the lists"),
    )
    write_rows(chosen.rows, f"metrics: {description(1)}", [row], chosen.rounds)


if __name__ == "__main__":
    main()
