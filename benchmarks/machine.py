"""Measured peak rates of the machine, from which the limits in the tables are computed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numba
import numpy as np
from threadpoolctl import threadpool_info

from recommenders.threads import each, numeric_threads


def seconds(work: Callable[[], object], repetitions: int = 3) -> float:
    """The shortest of some repetitions: a rate of the machine, not of what else runs on it."""
    times = []
    for _ in range(repetitions):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


@numba.njit(nogil=True)
def _scatter(columns, row, times):
    for _ in range(times):
        for t in range(np.uint64(columns.shape[0])):
            row[columns[t]] += np.uint64(3)


@numba.njit(nogil=True)
def _axpy(vectors, out, times):
    for _ in range(times):
        for i in range(vectors.shape[0]):
            for f in range(out.shape[0]):
                out[f] += 0.5 * vectors[i, f]


@dataclass(frozen=True)
class Rates:
    """Rates of the threads together: operations, or bytes, in a second."""

    gemm: float  # floating-point operations of a float64 matrix product
    single: float  # the same of a float32 product
    gemv: float  # the same of a matrix times a vector, which memory limits
    scatter: float  # additions to columns of a row that is in the first cache
    axpy: float  # multiply-adds of vectors of 50 that are in the second cache

    def __str__(self) -> str:
        return (
            f"matrix product {self.gemm / 1e9:.0f} GF/s ({self.single / 1e9:.0f} in float32), "
            f"matrix times vector {self.gemv / 1e9:.1f} GF/s, "
            f"scattered additions {self.scatter / 1e9:.2f} G/s, multiply-adds of 50 {self.axpy / 1e9:.1f} G/s"
        )

    def pair_sums(self, per_user: np.ndarray, n_items: int, additions: int, products: int) -> float:
        """Seconds for the sums of all pairs of items: each user's pair by pair, or as a dense row, what is less.

        `per_user` are numbers of ratings; a pair takes so many `additions`, a dense row so many `products` of half a
        matrix.
        """
        by_pairs = additions * per_user.astype(float) ** 2 / 2 / self.scatter
        return float(np.minimum(by_pairs, products * float(n_items) ** 2 / self.single).sum())


@cache
def rates(n_threads: int) -> Rates:
    """Measure; `n_threads` must be those in force."""
    assert n_threads == numeric_threads()
    rng = np.random.default_rng(0)
    a = rng.random((1500, 1500))
    half = a.astype(np.float32)
    large, vector = rng.random((4000, 4000)), rng.random(4000)
    # As in a user's ratings, no column repeats nearby, so that additions need not wait for each other.
    runs = [np.sort(rng.choice(2000, size=128, replace=False)) for _ in range(128)]
    columns = np.concatenate(runs).astype(np.uint32)
    vectors = rng.random((2000, 50))
    rows, outs = np.zeros((n_threads, 2000), dtype=np.uint64), np.zeros((n_threads, 50))
    _scatter(columns, rows[0], 1)
    _axpy(vectors, outs[0], 1)
    every = range(n_threads)
    return Rates(
        gemm=2 * 1500**3 / seconds(lambda: a @ a),
        single=2 * 1500**3 / seconds(lambda: half @ half),
        gemv=2 * 4000**2 / seconds(lambda: large @ vector),
        scatter=n_threads
        * 200
        * columns.size
        / seconds(lambda: each(lambda n: _scatter(columns, rows[n], 200), every)),
        axpy=n_threads * 200 * vectors.size / seconds(lambda: each(lambda n: _axpy(vectors, outs[n], 200), every)),
    )


def description(n_threads: int) -> str:
    """Libraries and processor type, as they decide what these figures mean."""
    blas = next((pool for pool in threadpool_info() if pool["user_api"] == "blas"), {})
    return (
        f"numpy {np.__version__}, numba {numba.__version__}, {blas.get('internal_api')} {blas.get('version')} for "
        f"{blas.get('architecture')}, {n_threads} numeric thread(s)"
    )
