"""Entries that are held out, and the rest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from recommenders.holdout import draw_flags, split

pytestmark = pytest.mark.unit


def test_share_is_rounded_down_but_at_least_the_least() -> None:
    rng = np.random.default_rng(1)
    assert [int(draw_flags(9, share, rng).sum()) for share in (0.0, 0.1, 0.5)] == [0, 0, 4]
    assert int(draw_flags(9, 0.1, rng, least=1).sum()) == 1


def test_both_sides_are_the_whole() -> None:
    rng = np.random.default_rng(2)
    matrix = sparse.random_array((30, 20), density=0.3, format="csr", rng=rng)
    is_held = draw_flags(matrix.nnz, 0.4, rng)
    rest, held = split(matrix, is_held)
    assert (rest.nnz, held.nnz) == (matrix.nnz - is_held.sum(), is_held.sum())
    assert (rest + held != matrix).nnz == 0
    assert rest.indptr.dtype == matrix.indptr.dtype
    assert held.has_canonical_format
