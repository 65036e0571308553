"""Shares of pieces of work, and rows cut into blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from recommenders import registry
from recommenders.products import dense_gram
from recommenders.progress import blocks, no_progress, within
from recommenders.singular import right_singular_vectors
from recommenders.tempered import AspectParameters, learn

pytestmark = pytest.mark.unit

SMALL = {"aspect-content": {"classes": 2, "positive_from": 2.0}}


def test_piece_is_told_as_its_part_of_the_whole():
    told = []
    piece = within(lambda share, what: told.append((share, what)), 0.2, 0.6)
    for share in (-1.0, 0.0, 0.5, 1.0, 7.0):
        piece(share, "a")
    assert told == [(pytest.approx(share), "a") for share in (0.2, 0.2, 0.4, 0.6, 0.6)]


def test_pieces_within_pieces():
    told = []
    inner = within(within(lambda share, what: told.append(share), 0.5, 1.0), 0.5, 1.0)
    inner(0.0, "")
    inner(1.0, "")
    assert told == [0.75, 1.0]


def test_silence_is_nothing():
    assert no_progress(0.5, "half") is None


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 20))
def test_blocks_cover_every_row_once_within_the_limit(costs, limit):
    found = list(blocks(costs, limit))
    assert [row for start, stop, _ in found for row in range(start, stop)] == list(range(len(costs)))
    for start, stop, share in found:
        assert stop - start == 1 or sum(costs[start:stop]) <= limit
        assert share == pytest.approx(sum(costs[:start]) / sum(costs) if sum(costs) else start / len(costs))


@pytest.mark.parametrize("limit", [1, 7, 10**9])
def test_gram_has_the_same_bits_however_it_is_cut(monkeypatch, limit):
    rng = np.random.default_rng(3)
    rows = sparse.csr_array(sparse.random_array((30, 40), density=0.4, rng=rng, data_sampler=rng.standard_normal))
    whole = (rows @ rows.T).toarray()
    monkeypatch.setattr("recommenders.products.BLOCK_STEPS", limit)
    told = []
    cut = dense_gram(rows, lambda share, what: told.append(share))
    assert cut.tobytes() == whole.tobytes()
    assert cut.flags.f_contiguous
    assert len(told) == (30 if limit < 10 else 1)


def shares_of(work) -> list[float]:
    told: list[float] = []
    work(lambda share, what: told.append(share))
    return told


@pytest.mark.parametrize("shape", [(60, 40), (40, 60)])
def test_every_route_to_singular_vectors_is_told_and_lanczos_can_be_stopped(monkeypatch, shape):
    rng = np.random.default_rng(4)
    matrix = sparse.csr_array(sparse.random_array(shape, density=0.3, rng=rng))

    def find(progress):
        return right_singular_vectors(matrix, 3, np.random.default_rng(1), what="rows, columns", progress=progress)

    dense = shares_of(find)
    monkeypatch.setattr("recommenders.singular.LARGEST_GRAM", 10)
    monkeypatch.setattr("recommenders.singular.LANCZOS_SHARE", 0.5)
    lanczos = shares_of(find)
    for shares in (dense, lanczos):
        assert shares == sorted(shares)
        assert shares[0] >= 0.0
        assert shares[-1] < 1.0
    assert len(lanczos) > 1

    def stop(share: float, what: str) -> None:
        if share > 0.05:
            raise InterruptedError(what)

    with pytest.raises(InterruptedError, match="Growing the space"):
        find(stop)


def test_search_for_a_temperature_and_the_steps_after_it_are_told_in_order():
    rng = np.random.default_rng(6)
    counts = sparse.csr_array((rng.random((40, 30)) < 0.4).astype(float))
    params = AspectParameters(3, 30, 0.2, 0.9)
    shares = shares_of(lambda progress: learn(counts, params, np.random.default_rng(2), progress))
    assert shares == sorted(shares)
    assert shares[0] < 0.1
    assert 0.9 < shares[-1] < 1.0


def test_work_in_many_blocks_has_the_numbers_of_work_in_one(monkeypatch, make_ratings, make_features):
    """Every limit so low that each row, each user and each pair of items is a block of its own."""
    ratings, features = make_ratings(7, n_users=30, n_items=20), make_features(8, n_items=20)
    keys = ("corngr", "nncosngr", "itemitem", "asysvd", "ials", "ease", "puresvd", "aspect-content")

    def states() -> dict[str, bytes]:
        found = {}
        for key in keys:
            params = registry.params_of(key, {"factors": 3} if key in ("asysvd", "ials", "puresvd") else SMALL.get(key))
            model = registry.algorithm(key).fit(ratings, params, features=features, rng=np.random.default_rng(1))
            found |= {f"{key} {name}": array.tobytes() for name, array in model.state().items()}
        return found

    whole = states()
    monkeypatch.setattr("recommenders.layout.HALF_ITEMS", 0)
    monkeypatch.setattr("recommenders.products.REMEMBERED_ITEMS", 0)
    for place in (
        *("products.BLOCK_STEPS", "products.BLOCK_PAIRS", "similarity.BLOCK_STEPS", "similarity.BLOCK_PAIRS"),
        *("layout.CHUNK_RATINGS", "layout.BLOCK_WORDS", "asysvd.BLOCK_STEPS", "ials.BLOCK_STEPS"),
    ):
        monkeypatch.setattr(f"recommenders.{place}", 1)
    assert states() == whole
