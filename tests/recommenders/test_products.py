from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.errors import DataError
from recommenders import layout, products, threads
from recommenders.data import Ratings, Scale
from recommenders.products import binary_gram, common_raters, gram, rating_codes

pytestmark = pytest.mark.unit


def test_gram_is_the_product(make_ratings):
    ratings = make_ratings(3, 40, 300, scale=Scale(0.5, 5, 0.5))
    matrix = ratings.user_items.toarray().astype(np.float64)
    with threads.using(2):
        assert gram(ratings).tolist() == (matrix.T @ matrix).tolist()


def test_gram_is_nothing_where_codes_are_not_exact_or_items_too_many(make_ratings, monkeypatch):
    stars = make_ratings(3, 10, 6)
    thirds = Ratings(stars.user_items * np.float32(1 / 3), Scale(1 / 6, 5 / 3, 1 / 6))
    assert rating_codes(thirds) is None
    assert gram(thirds) is None
    monkeypatch.setattr(products, "REMEMBERED_ITEMS", 5)
    assert gram(stars) is None


def test_a_scale_whose_lowest_point_is_no_multiple_of_its_step_has_no_codes():
    ratings = Ratings.from_triples([0], [0], [1.5], 1, 1, scale=Scale(1.5, 4.5, 1))
    assert rating_codes(ratings) is None


def test_a_scale_without_steps_has_no_codes():
    ratings = Ratings.from_triples([0], [0], [1.37], 1, 1, scale=Scale(1, 5, 0))
    assert rating_codes(ratings) is None
    assert gram(ratings) is None


@pytest.mark.kernels
@pytest.mark.parametrize(("half", "busy"), [(0, 1000), (6000, 1000), (6000, 1)])
def test_common_raters_are_counted(make_ratings, monkeypatch, half, busy):
    monkeypatch.setattr(layout, "HALF_ITEMS", half)
    monkeypatch.setattr(layout, "FEWEST_BUSY", busy)
    user_items = make_ratings(5, 30, 20).user_items
    rated = (user_items.toarray() > 0).astype(int)
    expected = rated.T @ rated
    assert binary_gram(user_items).tolist() == expected.tolist()
    indptr, items, common = common_raters(user_items)
    found = sparse.csr_array((common, items, indptr), shape=(20, 20)).toarray()
    assert found.tolist() == (expected - np.diag(expected.diagonal())).tolist()


def test_more_ratings_than_places_can_count_are_refused(make_ratings, monkeypatch):
    monkeypatch.setattr(layout, "MOST_RATINGS", 20)
    with pytest.raises(DataError, match=r"20 ratings; .* 3\d"):
        binary_gram(make_ratings(5, 10, 8).user_items)


def test_the_words_of_ratings_that_have_none_are_asked_for_again(make_ratings):
    """What cannot be made is no product: nothing is held, and nothing given."""
    thirds = Ratings(make_ratings(3, 10, 6).user_items * np.float32(1 / 3), Scale(1 / 6, 5 / 3, 1 / 6))
    assert products.packed_dots(thirds) is None
    assert products.packed_dots(thirds) is None


def test_rows_out_of_order_are_put_in_order():
    jumbled = sparse.csr_array((np.ones(2), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    assert binary_gram(jumbled).tolist() == [[1, 1], [1, 1]]


def test_no_items_have_no_pairs():
    assert binary_gram(sparse.csr_array((0, 0))).shape == (0, 0)
