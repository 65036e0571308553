"""Coverage, exposure, novelty, popularity, diversity, serendipity and overlap of lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csr_array

from evaluation.metrics.beyond_accuracy import (
    calibration,
    catalogue_coverage,
    diversity,
    exposure,
    genre_distribution,
    genre_shares,
    gini,
    novelty,
    overlap,
    popularity_lift,
    recommendation_popularity,
    serendipity,
)
from evaluation.metrics.ranks import Ranks

pytestmark = pytest.mark.unit
LISTS = np.array([[0, 1, 2], [0, 3, -1], [0, -1, -1]])


def test_exposure_and_coverage_count_the_first_n():
    assert exposure(LISTS, 6, 3).tolist() == [3, 1, 1, 1, 0, 0]
    assert exposure(LISTS, 6, 1).tolist() == [3, 0, 0, 0, 0, 0]
    assert catalogue_coverage(LISTS, 6, 3) == 4 / 6
    assert catalogue_coverage(np.empty((0, 3), dtype=int), 0, 3) is None


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any))
def test_gini_is_the_mean_difference_of_exposures(counts):
    array = np.array(counts)
    differences = np.abs(array[:, None] - array[None, :]).mean()
    assert gini(array) == pytest.approx(differences / (2 * array.mean()))


def test_gini_without_exposure_has_no_value():
    assert gini(np.zeros(3, dtype=int)) is None
    assert gini(np.zeros(0, dtype=int)) is None


def test_novelty_is_mean_self_information():
    values = novelty(LISTS, np.array([8, 4, 2, 1, 0]), 8, 3)
    assert values.tolist() == [(0 + 1 + 2) / 3, 1.5, 0.0]
    unrated = novelty(np.array([[4, 0], [4, -1]]), np.array([4, 4, 4, 4, 0]), 8, 2)
    assert unrated[0] == 1.0
    assert np.isnan(unrated[1])


def test_recommendation_popularity_is_the_mean_count_of_ratings():
    counts = np.array([8, 4, 2, 1, 0])
    assert recommendation_popularity(LISTS, counts, 3).tolist() == [14 / 3, 4.5, 8.0]
    assert recommendation_popularity(LISTS, counts, 1).tolist() == [8.0, 8.0, 8.0]
    # An item without ratings counts as 0, and an empty slot does not count.
    assert np.array_equal(
        recommendation_popularity(np.array([[4, 1], [4, -1], [-1, -1]]), counts, 2), [2.0, 0.0, np.nan], equal_nan=True
    )


def test_popularity_lift_is_relative_to_the_profile():
    lifts = popularity_lift(np.array([3.0, 2.0, 0.0, 1.0, np.nan]), np.array([2.0, 2.0, 4.0, 0.0, 1.0]))
    assert np.array_equal(lifts, [0.5, 0.0, -1.0, np.nan, np.nan], equal_nan=True)


def test_genre_distributions_give_each_item_the_same_weight():
    genres = np.array([[2, 0, 1], [0, 1, 0], [0, 0, 0]])
    assert genre_shares(csr_array(genres)).toarray().tolist() == [[0.5, 0, 0.5], [0, 1, 0], [0, 0, 0]]
    owned = csr_array(np.array([[5.0, 1.0, 3.0], [0, 0, 4.0]]))
    assert np.array_equal(
        genre_distribution(owned, csr_array(genres)), [[0.25, 0.5, 0.25], [np.nan] * 3], equal_nan=True
    )


def test_calibration_is_the_divergence_of_equation():
    rng = np.random.default_rng(3)
    genres = rng.integers(0, 2, (9, 4))
    genres[0] = 0
    owned = (rng.random((5, 9)) < 0.5).astype(float)
    lists = np.array([rng.permutation(9)[:4] for _ in range(5)])
    lists[1] = [0, -1, -1, -1]  # an item without a genre alone
    lists[2] = -1
    owned[3] = 0
    shares = genres / np.maximum(genres.sum(axis=1, keepdims=True), 1)
    expected = []
    for items, profile in zip(lists, owned, strict=True):
        p, q = (
            sum((shares[item] for item in some if genres[item].any()), np.zeros(4))
            for some in (np.flatnonzero(profile), [item for item in items[:3] if item >= 0])
        )
        if not (p.any() and q.any()):
            expected.append(np.nan)
            continue
        p, q = p / p.sum(), q / q.sum()
        blurred = 0.99 * q + 0.01 * p
        expected.append(sum(a * np.log(a / b) for a, b in zip(p, blurred, strict=True) if a))
    profiles = genre_distribution(csr_array(owned), csr_array(genres))
    found = calibration(lists, profiles, csr_array(genres), 3)
    assert np.isnan(expected).tolist() == [False, True, True, True, False]
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)
    # The genres of the profile themselves are calibrated; none of them is as far away as can be.
    two = csr_array(np.array([[1, 0], [0, 1]]))
    ends = calibration(np.array([[0], [1]]), np.array([[1.0, 0.0], [1.0, 0.0]]), two, 1)
    assert ends == pytest.approx([0.0, -np.log(0.01)])


def test_diversity_is_one_less_the_mean_cosine():
    rng = np.random.default_rng(2)
    terms = rng.integers(0, 3, (9, 5)).astype(float)
    terms[4] = 0.0  # without features: left out
    lists = np.argsort(rng.random((6, 9)), axis=1)[:, :5]
    lists[3, 2:] = -1
    found = diversity(lists, sparse.csr_array(terms), 4)
    for row, value in zip(lists[:, :4], found, strict=True):
        own = [terms[item] / np.linalg.norm(terms[item]) for item in row if item >= 0 and terms[item].any()]
        cosines = [own[i] @ own[j] for i in range(len(own)) for j in range(i)]
        assert np.isnan(value) if not cosines else value == pytest.approx(1 - np.mean(cosines))


def test_serendipity_is_what_a_primitive_recommender_does_not_list():
    # User 0 likes items at ranks 1, 3 and 4 of the list, user 1 nothing, user 2 an item that is not in the list.
    ranks = Ranks.of([0, 0, 0, 2], [1, 3, 4, 0], n_listed=[5, 5, 5])
    primitive = np.array([2, 3, 0, 4])
    expected = {1: [1.0, np.nan, 0.0], 2: [0.0, np.nan, 0.0], 3: [0.0, np.nan, 0.0], 4: [0.25, np.nan, 0.0]}
    for n, values in expected.items():
        assert np.array_equal(serendipity(ranks, primitive, n), values, equal_nan=True)


def test_overlap_is_what_two_lists_share():
    assert overlap(LISTS, LISTS, 3)[0] == 1.0
    assert overlap(LISTS, np.array([[1, 2, 3], [3, 0, -1], [-1, -1, -1]]), 3) == pytest.approx([2 / 3, 2 / 3, 0])
    assert np.isnan(overlap(np.array([[-1]]), np.array([[-1]]), 1))[0]
    # Item 0 alone is a list, and an empty list shares nothing with it.
    assert overlap(np.array([[-1], [0]]), np.array([[0], [-1]]), 1).tolist() == [0.0, 0.0]
