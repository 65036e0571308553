"""Where relevant items stand in lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import DataError, ParameterError
from evaluation.metrics import ranks as ranks_module
from evaluation.metrics.ranks import Ranks, check_ns, find_ranks

pytestmark = pytest.mark.unit


def drawn(rng: np.random.Generator, n_users: int, n_items: int, depth: int):
    """Lists of different lengths, and relevant pairs in a random order."""
    lists = np.argsort(rng.random((n_users, n_items)), axis=1)[:, :depth].astype(np.int32)
    lengths = rng.integers(0, lists.shape[1] + 1, n_users)
    lists[np.arange(lists.shape[1]) >= lengths[:, None]] = -1
    pairs = np.flatnonzero(rng.random(n_users * n_items) < 0.3)
    pairs = rng.permutation(pairs)
    return lists, pairs // n_items, pairs % n_items


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 6), st.integers(1, 60), st.integers(1, 60), st.integers(0, 10**6))
def test_ranks_are_the_places_in_the_lists(n_users, n_items, depth, seed):
    lists, users, items = drawn(np.random.default_rng(seed), n_users, n_items, depth)
    gains = np.arange(1.0, len(users) + 1)
    found = find_ranks(lists, users, items, gains)
    expected = {
        (int(user), gain): (lists[user].tolist().index(item) + 1 if item in lists[user] else 0)
        for user, item, gain in zip(users, items, gains, strict=True)
    }
    given_ranks = {
        (int(user), gain): rank for user, gain, rank in zip(found.users, found.gains, found.ranks.tolist(), strict=True)
    }
    assert given_ranks == expected
    assert found.n_listed.tolist() == (lists >= 0).sum(axis=1).tolist()
    # Long lists are searched by keys; the two ways agree.
    ordered = np.argsort(users, kind="stable")
    searched = ranks_module._searched(lists, users[ordered], items[ordered])
    assert searched.tolist() == found.ranks.tolist()


def test_comparing_in_blocks_changes_nothing(monkeypatch):
    lists, users, items = drawn(np.random.default_rng(5), 9, 30, 12)
    whole = find_ranks(lists, users, items)
    monkeypatch.setattr(ranks_module, "CELLS", 20)
    assert find_ranks(lists, users, items).ranks.tolist() == whole.ranks.tolist()


def test_without_lists_or_pairs_nothing_is_found():
    nothing = np.empty(0, dtype=np.int64)
    assert find_ranks(np.empty((2, 0), dtype=np.int64), np.array([0]), np.array([3])).ranks.tolist() == [0]
    assert find_ranks(np.full((2, 40), -1), np.array([1]), np.array([3])).ranks.tolist() == [0]
    assert find_ranks(np.array([[1, 2]]), nothing, nothing).n_relevant.tolist() == [0]


@pytest.mark.parametrize(
    ("lists", "users", "items", "message"),
    [
        ([1, 2], [0], [1], "one row a user"),
        ([[1, 2]], [0, 0], [1], "2 users and 1 items"),
        ([[1, 2]], [1], [1], "outside 0 to 0"),
        ([[1, 1]], [0], [1], "user 0 holds an item twice"),
        ([[3, 4, -1], [-1, 2, -1]], [0], [1], "goes on after a -1"),
        ([[3, 4, 3, -1]], [0], [1], "holds an item twice"),
        ([[1, 2]], [0, 0], [1, 1], "comes twice"),
    ],
)
def test_lists_and_pairs_that_cannot_be_are_refused(lists, users, items, message):
    with pytest.raises(DataError, match=message):
        find_ranks(np.array(lists), np.array(users), np.array(items))


@pytest.mark.parametrize(
    ("arrays", "sizes", "message"),
    [
        (([0], [1, 2], [1.0]), {"n_listed": [5]}, "1 users, 2 ranks and 1 gains"),
        (([1, 0], [1, 1], [1, 1]), {"n_listed": [5, 5]}, "ascend"),
        (([2], [1], [1]), {"n_listed": [5, 5]}, "between 0 and 1"),
        (([0], [-1], [1]), {"n_listed": [5]}, "below 0"),
        (([0], [6], [1]), {"n_listed": [5]}, "beyond the end"),
        (([0], [1], [0]), {"n_listed": [5]}, "positive number"),
        (([0], [1], [np.inf]), {"n_listed": [5]}, "positive number"),
        (([0], [1], [1]), {"n_listed": [5], "n_candidates": [9, 9]}, "2 numbers of candidates for 1 users"),
        (([0], [1], [1]), {"n_listed": [5], "n_candidates": [4]}, "fewer candidates"),
    ],
)
def test_ranks_that_cannot_be_are_refused(arrays, sizes, message):
    with pytest.raises(DataError, match=message):
        Ranks.of(*arrays, **sizes)


@pytest.mark.parametrize("ns", [[], [0], [3, -1]])
def test_list_lengths_have_to_be_positive(ns):
    with pytest.raises(ParameterError, match="at least 1"):
        check_ns(ns)
