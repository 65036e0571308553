from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from core.errors import DataError, ParameterError
from recommenders import ranking
from recommenders.data import Profiles, Scale
from recommenders.popularity import TopPop
from recommenders.ranking import top_n
from tests.factories.lists import lists_of

pytestmark = [pytest.mark.unit, pytest.mark.kernels]


def test_equal_scores_go_by_popularity_then_by_item():
    best = top_n(np.full(5, 1.0), np.array([2, 7, 2, 7, 9]), [], n=5)
    assert best.items.tolist() == [4, 1, 3, 0, 2]
    assert not best.is_filled.any()


def test_items_without_score_fill_up_by_popularity_and_say_so():
    scores = np.array([-np.inf, 0.5, -np.inf, -np.inf])
    best = top_n(scores, np.array([1, 0, 3, 3]), [3], n=4)
    assert best.items.tolist() == [1, 2, 0]
    assert best.is_filled.tolist() == [False, True, True]
    assert best.scores.tolist() == [0.5, -np.inf, -np.inf]
    assert best.items.dtype == np.int64


def test_excluded_items_never_come():
    assert top_n(np.array([9.0, 1.0, 2.0]), np.ones(3, dtype=np.int64), [0, 2], n=3).items.tolist() == [1]


few_scores = st.lists(
    st.tuples(st.sampled_from([-np.inf, 0.0, 1.0, 2.5]), st.integers(0, 3), st.booleans()), max_size=30
)


@given(few_scores, st.integers(1, 35))
def test_list_is_the_head_of_the_full_order(rows, n):
    scores = np.array([row[0] for row in rows])
    popularity = np.array([row[1] for row in rows], dtype=np.int64)
    exclude = [item for item, row in enumerate(rows) if row[2]]
    expected = sorted(
        (item for item in range(len(rows)) if item not in exclude),
        key=lambda item: (-scores[item], -popularity[item], item),
    )
    assert top_n(scores, popularity, exclude, n).items.tolist() == expected[:n]


def test_inputs_that_cannot_be_ranked_are_refused():
    popularity = np.ones(2, dtype=np.int64)
    with pytest.raises(ParameterError, match="n is 0"):
        top_n(np.zeros(2), popularity, [], n=0)
    with pytest.raises(DataError, match="item 1 is"):
        top_n(np.array([0.0, np.nan]), popularity, [], n=1)
    with pytest.raises(DataError, match="the same items"):
        top_n(np.zeros(3), popularity, [], n=1)


def test_batch_leaves_out_each_profiles_own_items():
    scores = np.tile(np.array([3.0, 2.0, 1.0]), (3, 1))
    rows = Profiles.single([0], [5], 3, Scale(1, 5, 1)).user_items.toarray()
    profiles = Profiles(
        type(Profiles.single([], [], 3, Scale(1, 5, 1)).user_items)(np.vstack([rows, 0 * rows, rows[:, ::-1]])),
        Scale(1, 5, 1),
    )
    lists = lists_of(scores, np.ones(3, dtype=np.int64), profiles, n=2)
    assert [one.items.tolist() for one in lists] == [[1, 2], [0, 1], [0, 1]]


def test_scanned_and_sorted_lists_are_the_same(monkeypatch):
    rng = np.random.default_rng(2)
    scores = np.where(rng.random((20, 30)) < 0.2, -np.inf, rng.integers(0, 4, (20, 30)).astype(float))
    popularity = rng.integers(0, 3, 30)
    profiles = Profiles(sparse.csr_array(rng.random((20, 30)) < 0.2).astype(np.float32), Scale(1, 5, 1))
    scanned = lists_of(scores, popularity, profiles, 28)
    monkeypatch.setattr(ranking, "LONGEST_SCANNED", 0)
    by_sorting = lists_of(scores, popularity, profiles, 28)
    for one, other in zip(scanned, by_sorting, strict=True):
        assert one.items.tolist() == other.items.tolist()
        assert one.scores.tolist() == other.scores.tolist()
        assert one.is_filled.tolist() == other.is_filled.tolist()


@pytest.mark.parametrize("rising", [False, True])
def test_long_rows_are_the_same_looked_at_together_or_one_by_one(monkeypatch, rising):
    """Falling scores leave nothing to find after the first few, rising ones put every item on the list."""
    rng = np.random.default_rng(3)
    scores = np.sort(rng.integers(0, 40, (6, 300)), axis=1).astype(float)[:, :: 1 if rising else -1].copy()
    scores[:, 290] = [50.0, -np.inf, 50.0, 39.0, 0.0, 50.0]  # the last to be looked at may be the best
    popularity = rng.integers(0, 3, 300)
    profiles = Profiles(sparse.csr_array(rng.random((6, 300)) < 0.1).astype(np.float32), Scale(1, 5, 1))
    scanned = lists_of(scores, popularity, profiles, 7)
    monkeypatch.setattr(ranking, "LONGEST_SCANNED", 0)
    by_sorting = lists_of(scores, popularity, profiles, 7)
    for one, other in zip(scanned, by_sorting, strict=True):
        assert one.items.tolist() == other.items.tolist()
        assert one.scores.tolist() == other.scores.tolist()


def test_what_is_no_number_is_found_far_down_a_row():
    scores = np.linspace(9.0, 1.0, 200)
    scores[170] = np.nan
    with pytest.raises(DataError, match="item 170 is"):
        top_n(scores, np.ones(200, dtype=np.int64), [], 3)


@pytest.mark.parametrize("longest", [0, 100])
def test_a_score_that_is_no_number_and_items_that_are_none_are_refused(monkeypatch, longest):
    monkeypatch.setattr(ranking, "LONGEST_SCANNED", longest)
    scores, popularity = np.array([1.0, np.nan, 2.0]), np.ones(3, dtype=np.int64)
    with pytest.raises(DataError, match="item 1 is"):
        top_n(scores, popularity, [], 2)
    assert top_n(scores, popularity, [1], 2).items.tolist() == [2, 0]
    with pytest.raises(DataError, match="0 to 2; got 1, 3"):
        top_n(scores, popularity, [1, 3], 2)


@pytest.mark.parametrize("n", [0, -1])
def test_lists_without_a_place_are_refused(make_ratings, n):
    ratings = make_ratings(3, 5, 6)
    model = TopPop.fit(ratings, rng=np.random.default_rng(0))
    profiles = Profiles(ratings.user_items, ratings.scale)
    with pytest.raises(ParameterError, match="one place"):
        top_n(model.score(profiles)[0], model.popularity, [], n)
