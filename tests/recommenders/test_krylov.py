from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from recommenders import singular, threads
from recommenders.singular import leading_right_vectors

pytestmark = pytest.mark.unit


def low_rank_and_noise(n_rows: int, n_columns: int, rank: int) -> sparse.csr_array:
    rng = np.random.default_rng(3)
    matrix = 0.05 * rng.standard_normal((n_rows, n_columns))
    for factor in range(rank):
        matrix += (rank + 1 - factor) * np.outer(rng.standard_normal(n_rows), rng.standard_normal(n_columns)) / 9
    return sparse.csr_array(np.where(rng.random(matrix.shape) < 0.4, matrix, 0.0))


@pytest.mark.kernels
def test_a_block_of_vectors_is_multiplied_at_once():
    """Rows 1 and 2 of four, the second of them empty; the others are left alone."""
    from recommenders.kernels.krylov import multiply

    indptr, columns = np.array([0, 1, 3, 3, 4]), np.array([0, 0, 2, 1], dtype=np.int32)
    vectors, out = np.arange(12.0).reshape(3, 4), np.full((4, 4), -1.0)
    multiply(1, 3, indptr, columns, np.array([9.0, 2.0, 0.5, 9.0]), vectors, out)
    assert out.tolist() == [[-1.0] * 4, [4.0, 6.5, 9.0, 11.5], [0.0] * 4, [-1.0] * 4]


@pytest.mark.parametrize("shape", [(700, 520), (90, 700)])
def test_agrees_with_dense_decomposition(shape):
    matrix = low_rank_and_noise(*shape, rank=6)
    vectors, values = leading_right_vectors(matrix, 6, np.random.default_rng(0))
    _, expected_values, expected = np.linalg.svd(matrix.toarray())
    np.testing.assert_allclose(values, expected_values[:6], rtol=1e-10)
    np.testing.assert_allclose(np.abs(vectors.T @ expected[:6].T), np.eye(6), rtol=0, atol=1e-9)


def test_same_start_same_bits_whatever_the_threads(monkeypatch):
    monkeypatch.setattr(singular, "SHARED_ENTRIES", 1)
    matrix = low_rank_and_noise(700, 520, rank=4)
    alone = leading_right_vectors(matrix, 4, np.random.default_rng(0))
    with threads.using(3):
        together = leading_right_vectors(matrix, 4, np.random.default_rng(0))
    assert [part.tobytes() for part in alone] == [part.tobytes() for part in together]


def test_a_rank_below_the_number_wanted_ends_with_nothing_left():
    rng = np.random.default_rng(5)
    matrix = sparse.csr_array(rng.standard_normal((500, 3)) @ rng.standard_normal((3, 600)))
    vectors, values = leading_right_vectors(matrix, 5, np.random.default_rng(0))
    np.testing.assert_allclose(matrix @ vectors[:, :3] @ vectors[:, :3].T, matrix.toarray(), rtol=0, atol=1e-9)
    assert (values[3:] < 1e-6 * values[0]).all()


def test_a_space_that_would_outgrow_half_the_columns_gives_nothing():
    matrix = sparse.csr_array(np.random.default_rng(1).standard_normal((120, 100)))
    assert leading_right_vectors(matrix, 20, np.random.default_rng(0)) is None


def test_the_next_look_is_when_what_is_left_should_be_small_enough():
    """From 1e-4 to 1e-8 in 40 vectors: another 40 to 1e-12; never before a twentieth more, nor after three tenths."""
    log = np.log(10.0)
    assert singular._next_look([(400, 8 * log)]) == 440
    assert singular._next_look([(400, 8 * log), (440, 4 * log)]) == 480
    assert singular._next_look([(400, 8 * log), (440, 0.1 * log)]) == 462
    assert singular._next_look([(400, 8 * log), (440, 7 * log)]) == 572
    assert singular._next_look([(400, 8 * log), (440, 9 * log)]) == 572
