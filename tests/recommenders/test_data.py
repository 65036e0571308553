from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.errors import DataError
from recommenders.data import ItemFeatures, Profiles, Ratings, Scale

pytestmark = pytest.mark.unit
FIVE = Scale(1, 5, 1)


def test_triples_come_back_sorted():
    ratings = Ratings.from_triples([1, 0, 1], [2, 1, 0], [3, 4, 5], 3, 4, scale=FIVE)
    users, items, values = ratings.triples()
    assert (users.tolist(), items.tolist(), values.tolist()) == ([0, 1, 1], [1, 0, 2], [4, 5, 3])
    assert (ratings.n_users, ratings.n_items, ratings.n_ratings) == (3, 4, 3)
    assert ratings.item_counts.tolist() == [1, 1, 1, 0]
    assert ratings.item_counts.dtype == np.int64


def test_ratings_cannot_be_written_to():
    given = sparse.csr_array(np.array([[4.0, 0.0], [0.0, 5.0]], dtype=np.float32))
    ratings = Ratings(given, FIVE)
    with pytest.raises(ValueError, match="read-only"):
        ratings.user_items.data[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        ratings.item_counts[0] = 7
    given.data[0] = 3.0  # the giver's own array stays theirs
    assert given.data.flags.writeable


def test_memory_mapped_parts_are_not_copied(tmp_path):
    given = sparse.csr_array(np.array([[4.0, 0.0], [0.0, 5.0]], dtype=np.float32))
    np.save(tmp_path / "data.npy", given.data)
    mapped = np.load(tmp_path / "data.npy", mmap_mode="r")
    ratings = Ratings(sparse.csr_array((mapped, given.indices, given.indptr), shape=given.shape), FIVE)
    assert np.shares_memory(ratings.user_items.data, mapped)


def test_unsorted_rows_are_sorted_without_touching_the_original():
    given = sparse.csr_array((np.array([2.0, 1.0], dtype=np.float32), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    assert Ratings(given, FIVE).user_items.indices.tolist() == [0, 1]
    assert given.indices.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("users", "items", "values", "complaint"),
    [
        ([0, 0], [1, 1], [3, 4], "Item 1 is rated twice by user 0"),
        ([0, 2], [1, 1], [3, 4], "no user number 2: they run from 0 to 1"),
        ([0, 1], [-1, 1], [3, 4], "no item number -1"),
        ([0, 1], [0], [3, 4], "got 2, 1, 2"),
        ([0.5, 1], [0, 1], [3, 4], "whole numbers"),
        ([[0, 1]], [0, 1], [3, 4], "one-dimensional"),
        ([0, 1], [0, 1], [3, 6], "rating 6 of user 1, item 1, is not a point of the scale from 1 to 5"),
        ([0, 1], [0, 1], [2.5, 3], "rating 2.5 of user 0, item 0, is not a point"),
        ([0, 1], [0, 1], [3, float("nan")], "rating nan of user 1"),
    ],
)
def test_triples_that_cannot_be_used_are_refused(users, items, values, complaint):
    with pytest.raises(DataError, match=complaint):
        Ratings.from_triples(users, items, values, 2, 2, scale=FIVE)


def test_matrix_that_cannot_be_used_is_refused():
    with pytest.raises(DataError, match="got ndarray"):
        Ratings(np.ones((2, 2)), FIVE)
    twice = sparse.csr_array((np.array([2.0, 1.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    with pytest.raises(DataError, match="entry twice"):
        Ratings(twice, FIVE)
    stored_zero = sparse.csr_array((np.array([0.0]), np.array([1]), np.array([0, 1])), shape=(1, 2))
    with pytest.raises(DataError, match="user 0, item 1"):
        Ratings(stored_zero, FIVE)


def test_refused_rating_is_found_behind_users_without_any():
    with pytest.raises(DataError, match="user 3, item 0"):
        Ratings(sparse.csr_array(np.array([[0.0], [0.0], [0.0], [9.0]])), FIVE)


def test_profile_of_one_person():
    profile = Profiles.single([3, 0], [5, 2], n_items=4, scale=FIVE)
    assert profile.user_items.toarray().tolist() == [[2.0, 0.0, 0.0, 5.0]]
    assert (profile.n_profiles, profile.n_items) == (1, 4)
    assert Profiles.single([], [], n_items=4, scale=FIVE).user_items.nnz == 0


@pytest.mark.parametrize(
    ("items", "ratings", "complaint"),
    [
        ([0, 0], [3, 4], "Item 0 is rated twice"),
        ([4], [3], "no item number 4: they run from 0 to 3"),
        ([0, 1], [3], "got 2 and 1"),
        ([0], [7], "rating 7 of profile 0, item 0, is outside the scale from 1 to 5"),
    ],
)
def test_profile_that_cannot_be_used_is_refused(items, ratings, complaint):
    with pytest.raises(DataError, match=complaint):
        Profiles.single(items, ratings, n_items=4, scale=FIVE)


def test_profiles_of_users_keep_their_order():
    ratings = Ratings.from_triples([0, 1, 2], [0, 1, 2], [1, 2, 3], 3, 3, scale=FIVE)
    assert Profiles.of(ratings, [2, 0]).user_items.toarray().tolist() == [[0, 0, 3], [1, 0, 0]]
    with pytest.raises(DataError, match="no user number 3"):
        Profiles.of(ratings, [3])


def test_profiles_on_another_scale_may_lie_between_its_points():
    profile = Profiles.single([0, 1], [2, 5], n_items=2, scale=FIVE)
    assert profile.on(Scale(0.5, 5, 0.5)).user_items.toarray().tolist() == [[1.625, 5.0]]
    assert profile.on(Scale(1, 5, 1)) is profile


def test_features_know_their_kinds():
    features = ItemFeatures(
        sparse.csr_array(np.array([[1.0, 0.0, 2.0]])), (("tag", "slow"), ("genre", "Drama"), ("tag", "sad"))
    )
    assert features.kinds == ("genre", "tag")
    assert features.n_items == 1


@pytest.mark.parametrize(
    ("matrix", "terms", "complaint"),
    [
        ([[1.0, 1.0]], [("tag", "a")], "2 columns of features need as many terms; got 1"),
        ([[1.0, 1.0]], [("tag", "a"), ("tag", "a")], "same kind and value"),
        ([[1.0, -1.0]], [("tag", "a"), ("tag", "b")], "count -1 of item 0, term 1, is not a positive number"),
        ([[np.inf, 1.0]], [("tag", "a"), ("tag", "b")], "count inf of item 0"),
    ],
)
def test_features_that_cannot_be_used_are_refused(matrix, terms, complaint):
    with pytest.raises(DataError, match=complaint):
        ItemFeatures(sparse.csr_array(np.array(matrix)), tuple(terms))


@pytest.mark.parametrize(
    ("counts", "complaint"),
    [
        ([1, 2, 3], "2 ratings need as many counts of observations; got 3"),
        ([1, 0], "at least 1"),
        ([1, 1.5], "whole numbers"),
    ],
)
def test_counts_that_cannot_be_are_refused(counts, complaint):
    matrix = sparse.csr_array(np.array([[4.0, 0.0], [0.0, 5.0]], dtype=np.float32))
    assert Ratings(matrix, FIVE, np.array([1, 7])).counts.tolist() == [1, 7]
    with pytest.raises(DataError, match=complaint):
        Ratings(matrix, FIVE, np.array(counts))


def test_counts_need_ratings_in_order():
    data = (np.array([4.0, 5.0], dtype=np.float32), np.array([1, 0]), np.array([0, 2]))
    with pytest.raises(DataError, match="in order"):
        Ratings(sparse.csr_array(data, shape=(1, 2)), FIVE, np.array([1, 1]))
