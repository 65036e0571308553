"""Shares of pieces of work, and rows cut into blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from recommenders.products import dense_gram
from recommenders.progress import blocks, silent, within

pytestmark = pytest.mark.unit


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
    assert silent(0.5, "half") is None


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
