from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.errors import ParameterError
from recommenders import singular
from recommenders.singular import right_singular_vectors

pytestmark = pytest.mark.unit


def projector(vectors: np.ndarray) -> np.ndarray:
    return vectors @ vectors.T


@pytest.mark.parametrize("route", ["gram", "lanczos"])
@pytest.mark.parametrize("shape", [(300, 120), (120, 300)])
def test_every_route_agrees_with_dense_decomposition(monkeypatch, shape, route):
    if route == "lanczos":
        monkeypatch.setattr(singular, "LARGEST_GRAM", 5)
        monkeypatch.setattr(singular, "_leading_eigenpairs", None)
    matrix = sparse.random_array(shape, density=0.5, rng=np.random.default_rng(1))
    matrix += 2 * np.outer(*(np.arange(1, n + 1) % 7 for n in shape)) + np.outer(*(np.arange(n) % 5 for n in shape))
    matrix += 3 * np.outer(*(np.arange(n) % 3 for n in shape)) + 2 * np.outer(*(np.arange(n) % 11 < 4 for n in shape))
    matrix = sparse.csr_array(matrix)
    expected = np.linalg.svd(matrix.toarray())[2][:4].T
    found = right_singular_vectors(sparse.csr_array(matrix), 4, np.random.default_rng(0), what="rows, columns")
    np.testing.assert_allclose(np.abs(found.T @ expected), np.eye(4), rtol=0, atol=1e-9)
    assert found.flags.c_contiguous


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_many_factors_of_a_large_matrix_take_the_dense_route(monkeypatch, shape):
    monkeypatch.setattr(singular, "LARGEST_GRAM", 5)
    monkeypatch.setattr(singular, "leading_right_vectors", None)
    matrix = sparse.csr_array(np.random.default_rng(2).random(shape))
    found = right_singular_vectors(matrix, 12, np.random.default_rng(0), what="rows, columns")
    np.testing.assert_allclose(found.T @ found, np.eye(12), rtol=0, atol=1e-10)


@pytest.mark.parametrize("shape", [(9, 6), (6, 9)])
def test_vectors_beyond_the_rank_are_nothing(shape):
    rng = np.random.default_rng(3)
    matrix = rng.random((shape[0], 2)) @ rng.random((2, shape[1]))
    found = right_singular_vectors(sparse.csr_array(matrix), 5, np.random.default_rng(0), what="rows, columns")
    np.testing.assert_allclose(matrix @ projector(found), matrix, rtol=0, atol=1e-12)
    assert not found[:, 2:].any()


def test_nothing_at_all_gives_nothing():
    found = right_singular_vectors(sparse.csr_array((3, 4)), 2, np.random.default_rng(0), what="rows, columns")
    assert found.tolist() == [[0.0, 0.0]] * 4


def test_small_singular_values_seen_from_the_other_side_stay_orthogonal():
    rng = np.random.default_rng(4)
    left, right = np.linalg.qr(rng.normal(size=(8, 8)))[0], np.linalg.qr(rng.normal(size=(40, 8)))[0]
    matrix = left * np.logspace(0, -5, 8) @ right.T
    found = right_singular_vectors(sparse.csr_array(matrix), 8, np.random.default_rng(0), what="rows, columns")
    np.testing.assert_allclose(found.T @ found, np.eye(8), rtol=0, atol=1e-12)
    np.testing.assert_allclose(matrix @ projector(found), matrix, rtol=0, atol=1e-9)


def test_sign_is_that_of_the_first_of_the_largest_entries():
    vectors = np.array([[0.1, -0.7], [-0.7, 0.7], [0.7, 0.1]])
    assert singular._signs(vectors).tolist() == [-1.0, -1.0]
    assert singular._signs(-vectors).tolist() == [1.0, 1.0]
    # Equal up to rounding: the first decides, whichever way the last bit fell.
    assert singular._signs(np.array([[0.7], [-0.7 - 1e-16]])).tolist() == [1.0]


def test_too_many_factors_are_refused():
    with pytest.raises(ParameterError, match=r"4 factors .* = 3\."):
        right_singular_vectors(sparse.csr_array((3, 5)), 4, np.random.default_rng(0), what="users, items")


def test_the_leading_vectors_are_the_same_bits_whatever_their_number():
    matrix = sparse.csr_array(np.random.default_rng(6).random((40, 30)))
    few = right_singular_vectors(matrix.copy(), 5, np.random.default_rng(0), what="users, items")
    many = right_singular_vectors(matrix, 20, np.random.default_rng(0), what="users, items")
    again = right_singular_vectors(matrix, 5, np.random.default_rng(0), what="users, items")
    assert few.tobytes() == again.tobytes() == np.ascontiguousarray(many[:, :5]).tobytes()


def test_a_given_gram_matrix_is_used():
    matrix = sparse.csr_array(np.diag([1.0, 2.0, 3.0]))
    found = right_singular_vectors(
        matrix, 1, np.random.default_rng(0), what="users, items", gram=lambda progress: np.diag([9.0, 4.0, 1.0])
    )
    assert np.abs(found.round(12)).tolist() == [[1.0], [0.0], [0.0]]


def test_where_lanczos_gives_up_the_dense_route_answers(monkeypatch):
    monkeypatch.setattr(singular, "LARGEST_GRAM", 5)
    monkeypatch.setattr(singular, "LANCZOS_SHARE", 1.0)
    matrix = sparse.csr_array(np.random.default_rng(7).random((30, 25)))
    found = right_singular_vectors(matrix, 10, np.random.default_rng(0), what="users, items")
    expected = np.linalg.svd(matrix.toarray())[2][:10].T
    np.testing.assert_allclose(np.abs(found.T @ expected), np.eye(10), rtol=0, atol=1e-9)
