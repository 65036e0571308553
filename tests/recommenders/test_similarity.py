from __future__ import annotations

import numpy as np
import pytest

from recommenders import similarity
from recommenders.data import Ratings, Scale
from recommenders.similarity import Neighbours, cosine_neighbours, pearson_neighbours

pytestmark = pytest.mark.unit


def dense(neighbours: Neighbours, n_items: int) -> np.ndarray:
    matrix = np.zeros((n_items, n_items))
    for i in range(n_items):
        row = slice(neighbours.indptr[i], neighbours.indptr[i + 1])
        matrix[i, neighbours.items[row]] = neighbours.similarities[row]
    return matrix


def codes(ratings: Ratings) -> np.ndarray:
    return np.rint(ratings.scale.codes(ratings.user_items.data))


def cosine_reference(matrix: np.ndarray, shrinkage: float) -> np.ndarray:
    n_items = matrix.shape[1]
    result = np.zeros((n_items, n_items))
    for i in range(n_items):
        for j in range(n_items):
            common = int(((matrix[:, i] > 0) & (matrix[:, j] > 0)).sum())
            if i != j and common:
                norm = np.linalg.norm(matrix[:, i]) * np.linalg.norm(matrix[:, j])
                result[i, j] = common / (common + shrinkage) * (matrix[:, i] @ matrix[:, j]) / norm
    return result


def pearson_reference(matrix: np.ndarray, rated: np.ndarray, shrinkage: float) -> np.ndarray:
    n_items = matrix.shape[1]
    result = np.zeros((n_items, n_items))
    for i in range(n_items):
        for j in range(n_items):
            both = rated[:, i] & rated[:, j]
            x, y = matrix[both, i], matrix[both, j]
            if i != j and both.sum() > 1 and np.ptp(x) > 1e-9 and np.ptp(y) > 1e-9:
                shrunk = both.sum() / (both.sum() + shrinkage) * np.corrcoef(x, y)[0, 1]
                result[i, j] = max(shrunk, 0.0)
    return result


@pytest.mark.parametrize("seed", range(4))
def test_cosine_agrees_with_loops(make_ratings, seed):
    ratings = make_ratings(seed, 20, 12, density=0.4)
    found = dense(cosine_neighbours(ratings, shrinkage=7.0), 12)
    expected = cosine_reference(ratings.user_items.toarray().astype(float), 7.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_pearson_agrees_with_loops(make_ratings, seed):
    ratings = make_ratings(seed, 20, 12, density=0.4)
    matrix = ratings.user_items.toarray().astype(float)
    found = dense(pearson_neighbours(ratings, codes(ratings), shrinkage=7.0), 12)
    np.testing.assert_allclose(found, pearson_reference(matrix, matrix > 0, 7.0), rtol=0, atol=1e-9)


def test_pearson_of_other_values_agrees_with_loops(make_ratings):
    ratings = make_ratings(4, 20, 12, density=0.5)
    values = np.random.default_rng(4).normal(size=ratings.n_ratings)
    users, items, _ = ratings.triples()
    matrix = np.zeros((20, 12))
    matrix[users, items] = values
    rated = ratings.user_items.toarray() > 0
    found = dense(pearson_neighbours(ratings, values, shrinkage=0.0), 12)
    np.testing.assert_allclose(found, pearson_reference(matrix, rated, 0.0), rtol=0, atol=1e-9)


def test_pearson_does_not_depend_on_the_scale(make_ratings):
    stars = make_ratings(5, 20, 12, scale=Scale(0.5, 5, 0.5))
    points = Ratings(stars.user_items * np.float32(2), Scale(1, 10, 1))
    first = pearson_neighbours(stars, codes(stars), shrinkage=3.0)
    second = pearson_neighbours(points, codes(points), shrinkage=3.0)
    assert first.similarities.tobytes() == second.similarities.tobytes()
    assert first.items.tobytes() == second.items.tobytes()


def test_cosine_does_not_depend_on_the_unit_of_ratings(make_ratings):
    once = make_ratings(6, 20, 12)
    thrice = Ratings(once.user_items * np.float32(3), Scale(1.5, 15, 1.5))
    np.testing.assert_allclose(
        dense(cosine_neighbours(thrice, shrinkage=3.0), 12),
        dense(cosine_neighbours(once, shrinkage=3.0), 12),
        rtol=0,
        atol=1e-12,
    )


def test_constant_common_ratings_make_no_neighbours():
    """Items 0 and 1 share two raters who agree on item 1; items 0 and 2 share one rater only."""
    users, items, values = [0, 1, 0, 1, 0], [0, 0, 1, 1, 2], [1, 5, 3, 3, 4]
    ratings = Ratings.from_triples(users, items, values, 2, 3, Scale(1, 5, 1))
    assert pearson_neighbours(ratings, codes(ratings), shrinkage=0.0).items.size == 0


@pytest.mark.parametrize("block", [1, 40, 2_000_000])
def test_rows_fall_and_blocks_do_not_matter(make_ratings, monkeypatch, block):
    ratings = make_ratings(7, 30, 15)
    whole = cosine_neighbours(ratings, shrinkage=5.0)
    monkeypatch.setattr(similarity, "BLOCK_PAIRS", block)
    blocked = cosine_neighbours(ratings, shrinkage=5.0)
    for name in ("indptr", "items", "similarities"):
        assert getattr(blocked, name).tobytes() == getattr(whole, name).tobytes()
    for i in range(15):
        row = slice(blocked.indptr[i], blocked.indptr[i + 1])
        pairs = list(zip(-blocked.similarities[row], blocked.items[row], strict=True))
        assert pairs == sorted(pairs)


def test_truncation_keeps_the_most_similar(make_ratings):
    ratings = make_ratings(8, 30, 15)
    whole, kept = (cosine_neighbours(ratings, shrinkage=5.0, keep=keep) for keep in (None, 3))
    for i in range(15):
        first, n_kept = whole.indptr[i], kept.indptr[i + 1] - kept.indptr[i]
        assert n_kept == min(3, whole.indptr[i + 1] - first)
        row = kept.items[kept.indptr[i] : kept.indptr[i + 1]]
        assert row.tolist() == whole.items[first : first + n_kept].tolist()


def test_similarities_that_float32_cannot_tell_apart_are_still_sorted():
    bounds = np.array([0, 4, 6])
    items = np.array([3, 1, 0, 2, 5, 4], dtype=np.int32)
    close = 0.5 + np.array([1e-12, 3e-12, 2e-12, 3e-12])
    values = np.concatenate([close, [0.25, 0.25]])
    assert len(set(close.astype(np.float32))) == 1
    similarity._sort_rows(bounds, items, values, n_items=6)
    assert items.tolist() == [1, 2, 0, 3, 4, 5]
    assert values.tolist() == [*sorted(close, reverse=True), 0.25, 0.25]
