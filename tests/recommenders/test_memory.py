"""The estimates of memory, against what the kernel says a fit really took."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recommenders import memory, registry
from recommenders.base import Algorithm

ROOT = Path(__file__).resolve().parents[2]
MB = 1024 * 1024
# (users, items, share rated): more people than items, and more items than people.
SIZES = {"tall": (5000, 1800, 0.1), "wide": (1500, 4200, 0.08)}
OPTIONS: dict[str, dict[str, object]] = {
    "puresvd": {"factors": 40},
    "lsa": {"factors": 40},
    "ials": {"factors": 20, "epochs": 1},
    "asysvd": {"factors": 40, "epochs": 2},
    "lpca": {"factors": 1, "iterations": 1},
    "aspect": {"classes": 10, "iterations": 3},
    "aspect-content": {"classes": 10, "iterations": 3, "fold_iterations": 2},
    "implicit-als": {"factors": 20, "epochs": 2},
    "implicit-bpr": {"factors": 20, "epochs": 2},
}
# What is not worth estimating: a few imports, the libraries' own buffers, pages that are not given back.
SLACK = 12 * MB

MEASURE = """
import gc, json, os, sys
import numpy as np
from pathlib import Path
from scipy import sparse
from recommenders import registry
from recommenders.data import ItemFeatures, Ratings, Scale

def data(n_users, n_items, share, seed=1):
    rng = np.random.default_rng(seed)
    liked = np.exp(rng.normal(0, 1.0, n_items))
    chance = np.clip(share * liked / liked.mean(), 0, 0.9)
    rows = [np.flatnonzero(rng.random(n_items) < chance).astype(np.int32) for _ in range(n_users)]
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    items = np.concatenate(rows)
    values = rng.integers(1, 6, len(items)).astype(np.float32)
    ratings = Ratings(sparse.csr_array((values, items, indptr), shape=(n_users, n_items)), Scale(1, 5, 1))
    terms = sparse.random_array((n_items, 1200), density=0.01, rng=rng, data_sampler=lambda size: np.ones(size))
    features = ItemFeatures(sparse.csr_array(terms), tuple(("cast", str(one)) for one in range(1200)))
    return ratings, features

def peak(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024

key, options, size = json.loads(sys.argv[1])
found = registry.algorithm(key)
small = data(60, 50, 0.5)
least = {name: 2 for name in ("factors", "classes") if name in options}
found.fit(small[0], registry.params_of(key, options | least), features=small[1], rng=np.random.default_rng(1))
ratings, features = data(*size)
gc.collect()
Path("/proc/self/clear_refs").write_text("5")
before = peak("VmRSS")
found.fit(ratings, registry.params_of(key, options), features=features, rng=np.random.default_rng(1))
print(peak("VmHWM") - before, ratings.n_ratings, features.item_terms.nnz)
"""


def measured(key: str, size: tuple[int, int, float]) -> tuple[int, int, int]:
    import json

    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, json.dumps([key, OPTIONS.get(key, {}), size])],
        cwd=ROOT,
        env={**os.environ, **threads, "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_MMAP_THRESHOLD_": "65536"},
        capture_output=True,
        text=True,
        check=True,
    )
    taken, n_ratings, n_counts = (int(word) for word in done.stdout.split())
    return taken, n_ratings, n_counts


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the kernel tells no peak of memory")
@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("key", registry.keys())
def test_estimate_is_between_nine_tenths_and_three_times_the_measured_peak(key, shape):
    n_users, n_items, _ = SIZES[shape]
    taken, n_ratings, n_counts = measured(key, SIZES[shape])
    params = registry.params_of(key, OPTIONS.get(key, {}))
    estimate = registry.algorithm(key).fit_bytes(
        n_users, n_items, n_ratings, params, n_terms=1200, n_item_terms=n_counts
    )
    assert estimate >= 0.9 * taken - SLACK, f"{estimate / MB:.0f} MB estimated, {taken / MB:.0f} MB taken"
    assert estimate <= 3 * taken + SLACK, f"{estimate / MB:.0f} MB estimated, {taken / MB:.0f} MB taken"


@pytest.mark.unit
def test_pairs_are_none_without_overlap_and_at_most_all():
    assert memory.co_rated_pairs(1_000_000, 1000, 1000) < 0.01 * 1000**2
    assert memory.co_rated_pairs(1000, 100, 100_000) <= 100**2
    assert memory.co_rated_pairs(600, 9700, 100_000, at_least=2) < memory.co_rated_pairs(600, 9700, 100_000)


@pytest.mark.unit
def test_pairs_of_movielens_small_are_about_as_many_as_there_are():
    """610 people, 9,742 films, 100,836 ratings: 26 million ordered pairs of films have a common rater."""
    assert 0.7 < memory.co_rated_pairs(610, 9742, 100_836) / 26e6 < 1.3


@pytest.mark.unit
def test_bounded_neighbours_take_less():
    found = registry.algorithm("nncosngr")
    whole = found.fit_bytes(160_000, 59_000, 25_000_000, found.Params())
    bounded = found.fit_bytes(160_000, 59_000, 25_000_000, found.Params(neighbourhood="item"))
    assert bounded < 3 * 1024 * MB < whole


@pytest.mark.unit
def test_algorithm_that_says_nothing_is_taken_to_copy_the_ratings_twice():
    assert Algorithm.fit_bytes(10, 20, 1000, None) == 48 * 1000 + 16 * 30


@pytest.mark.unit
def test_block_lanczos_takes_less_than_the_dense_eigenproblem():
    """Beyond 2,500 of both the Gram matrix is never made, unless a large share of all vectors is wanted."""
    few, many = (memory.singular_bytes(160_000, 20_000, 25_000_000, factors) for factors in (50, 5_000))
    assert few < 2 * 1024 * MB < 16 * 20_000**2 < many
