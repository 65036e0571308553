from __future__ import annotations

import numpy as np
import pytest

from recommenders import layout, products, similarity, threads
from recommenders.data import Ratings, Scale
from recommenders.similarity import Neighbours, cosine_neighbours, pearson_neighbours

pytestmark = [pytest.mark.unit, pytest.mark.kernels]


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
    ratings = Ratings.from_triples(users, items, values, 2, 3, scale=Scale(1, 5, 1))
    assert pearson_neighbours(ratings, codes(ratings), shrinkage=0.0).items.size == 0


def half_steps(make_ratings, seed):
    return make_ratings(seed, 30, 15, scale=Scale(0.5, 5, 0.5))


def bits(found: Neighbours) -> list[bytes]:
    return [getattr(found, name).tobytes() for name in ("indptr", "items", "similarities")]


def both_kinds(ratings: Ratings, keep: int | None = None) -> list[bytes]:
    return bits(cosine_neighbours(ratings, shrinkage=5.0, keep=keep)) + bits(
        pearson_neighbours(ratings, codes(ratings), shrinkage=5.0, keep=keep)
    )


@pytest.mark.parametrize("keep", [None, 3])
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize(("half", "remembered", "block"), [(6000, 2800, 1 << 24), (6000, 0, 40), (0, 0, 1), (0, 0, 40)])
def test_rows_fall_and_routes_and_threads_do_not_matter(
    make_ratings, monkeypatch, keep, n_threads, half, remembered, block
):
    ratings = half_steps(make_ratings, 7)
    whole = both_kinds(ratings, keep)
    monkeypatch.setattr(layout, "HALF_ITEMS", half)
    monkeypatch.setattr(products, "REMEMBERED_ITEMS", remembered)
    monkeypatch.setattr(layout, "BLOCK_WORDS", block)
    monkeypatch.setattr(layout, "CHUNK_RATINGS", 20)
    with threads.using(n_threads):
        assert both_kinds(ratings, keep) == whole
    found = cosine_neighbours(ratings, shrinkage=5.0, keep=keep)
    for i in range(15):
        row = slice(found.indptr[i], found.indptr[i + 1])
        pairs = list(zip(-found.similarities[row], found.items[row], strict=True))
        assert pairs == sorted(pairs)


@pytest.mark.parametrize("share", [0.0, 0.45, 1.0])
@pytest.mark.parametrize("at_once", [7, 64])
def test_the_busiest_users_as_dense_rows_give_the_same_bits(make_ratings, monkeypatch, share, at_once):
    """None of the users, some, and all of them, in several products and in one."""
    for ratings in (half_steps(make_ratings, 11), make_ratings(12, 40, 18, density=0.4, scale=Scale(1, 5, 1))):
        by_pairs = both_kinds(ratings)
        monkeypatch.setattr(layout, "FEWEST_BUSY", 1)
        monkeypatch.setattr(layout, "FEWEST_AT_ONCE", 1)
        monkeypatch.setattr(layout, "BUSY_SHARE", share)
        monkeypatch.setattr(layout, "DENSE_NUMBERS", at_once * ratings.n_items)
        monkeypatch.setattr(layout, "PRODUCT_ROWS", 4)
        lengths = np.diff(ratings.user_items.indptr)
        found = layout.Layout.of(ratings.user_items, 1000)
        assert found.busy.tolist() == np.flatnonzero(lengths > share * ratings.n_items).tolist()
        assert found.starts[-1, -1] == lengths[lengths <= share * ratings.n_items].sum()
        assert found.at_once == at_once
        anew = Ratings(ratings.user_items, ratings.scale)
        for n_threads in (1, 2):
            with threads.using(n_threads):
                assert both_kinds(anew) == by_pairs
        monkeypatch.undo()


def test_sums_that_float32_would_round_are_left_to_whole_numbers(make_ratings, monkeypatch):
    """Two users' 40 * 40 make 3,200, less than 2 ** 12; 13 users' 39 and 39 * 39, one above the other, 16.6 million."""
    points = make_ratings(13, 30, 12, scale=Scale(1, 40, 1))
    by_pairs = both_kinds(points)
    monkeypatch.setattr(layout, "FEWEST_BUSY", 1)
    monkeypatch.setattr(layout, "FEWEST_AT_ONCE", 1)
    monkeypatch.setattr(layout, "BUSY_SHARE", 0.0)
    seen = []
    of = layout.Layout.of
    monkeypatch.setattr(layout.Layout, "of", lambda *given: seen.append(of(*given)) or seen[-1])
    for bits, at_once in ((10, [0, 0]), (12, [2, 0]), (24, [10485, 13])):
        monkeypatch.setattr(products, "MOST_SINGLE", 1 << bits)
        seen.clear()
        assert both_kinds(Ratings(points.user_items, points.scale)) == by_pairs
        assert [one.at_once for one in seen] == at_once
        assert [one.busy.size > 0 for one in seen] == [n > 0 for n in at_once]


@pytest.mark.parametrize("keep", [None, 3])
def test_numbers_that_are_not_whole_or_too_large_are_added_up_in_floats(make_ratings, monkeypatch, keep):
    ratings = half_steps(make_ratings, 9)
    exact = both_kinds(ratings, keep)
    monkeypatch.setattr(products, "WORD_BITS", 8)
    monkeypatch.setattr(similarity, "BLOCK_PAIRS", 40)
    assert both_kinds(ratings, keep) == exact
    monkeypatch.setattr("recommenders.products.PACKED_BITS", 6)
    assert both_kinds(ratings, keep) == exact
    thirds = Ratings(ratings.user_items * np.float32(2 / 3), Scale(1 / 3, 10 / 3, 1 / 3))
    np.testing.assert_allclose(
        dense(cosine_neighbours(thirds, shrinkage=5.0), 15), dense(cosine_neighbours(ratings, shrinkage=5.0), 15)
    )


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
    similarity.sort_rows(bounds, items, values, n_items=6)
    assert items.tolist() == [1, 2, 0, 3, 4, 5]
    assert values.tolist() == [*sorted(close, reverse=True), 0.25, 0.25]


def test_negative_similarities_are_sorted_after_all_others():
    bounds = np.array([0, 5])
    items = np.arange(5, dtype=np.int32)
    values = np.array([-0.5, 0.25, -0.5 - 1e-12, 1.0, -1e-6])
    similarity.sort_rows(bounds, items, values, n_items=5)
    assert items.tolist() == [3, 1, 4, 0, 2]
    assert values.tolist() == [1.0, 0.25, -1e-6, -0.5, -0.5 - 1e-12]


def test_pairs_that_float32_holds_for_equal_are_put_in_the_order_of_float64():
    from recommenders.kernels.similarities import unpack_rows

    close = np.array([[0.5, 0.5 + 1e-12, 0.5, 0.25]])
    rounded = np.uint32(0xFFFFFFFF) - close[0].astype(np.float32).view(np.uint32)
    keys = np.sort((rounded.astype(np.uint64) << np.uint64(32)) | np.arange(4, dtype=np.uint64))
    items, values = np.empty(4, dtype=np.int32), np.empty(4)
    unpack_rows(close, np.array([0, 4]), keys, items, values)
    assert items.tolist() == [1, 0, 2, 3]
    assert values.tolist() == close[0][[1, 0, 2, 3]].tolist()
