"""Leaks that were planted are found, each by its name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from core.errors import DataError
from evaluation.splitting.leakage import find_leaks, refuse_leaks
from evaluation.splitting.registry import partitions
from evaluation.splitting.rows import RatingRows
from tests.factories.evaluation import written_split

pytestmark = pytest.mark.unit
RATINGS = csr_array(np.ones((6, 10), dtype=np.float32))
TIMES = np.tile(np.arange(10), 6)
ROWS = RatingRows.of(RATINGS, times=TIMES, reserved=[5])


def clean(text: str):
    one = next(partitions(written_split(text), ROWS, seed=2))
    assert find_leaks(ROWS, one) == ()
    return one


def kinds(rows, one) -> set[str]:
    return {leak.kind for leak in find_leaks(rows, one)}


def moved(one, place):
    """A rating that was left out or hidden, now also in training."""
    return replace(one, train=np.sort(np.append(one.train, place)))


def test_hidden_row_in_training_is_found():
    one = clean("holdout")
    leaks = find_leaks(ROWS, moved(one, one.hidden[3]))
    assert {leak.kind for leak in leaks} == {"two-sides", "uncounted"}
    place = one.hidden[3]
    assert f"rating {place}, of" in leaks[0].message
    with pytest.raises(DataError, match="1 ratings"):
        refuse_leaks(ROWS, moved(one, place))


def test_future_row_in_training_is_found():
    one = clean("temporal-global:share=.3,test_users=2")
    later = np.flatnonzero((one.test_time <= TIMES) & ~np.isin(ROWS.users, [*one.test_users, 5]))[0]
    assert kinds(ROWS, moved(one, later)) == {"future", "uncounted"}
    with pytest.raises(DataError, match=r"time 7"):
        refuse_leaks(ROWS, moved(one, later))


def test_future_row_of_the_test_user_is_found():
    one = clean("temporal-per-user:share=.3")
    last = one.hidden[one.hidden < 10][-1]
    # The user's last rating comes back to training; the one before it stays hidden.
    swapped = replace(one, train=np.sort(np.append(one.train, last)), hidden=one.hidden[one.hidden != last])
    assert kinds(ROWS, swapped) == {"future"}
    assert "to predict" in find_leaks(ROWS, swapped)[0].message


def test_test_users_row_among_the_reserved_is_found():
    one = clean("leave-one-out")
    of_reserved = np.flatnonzero(ROWS.users == 5)[0]
    assert "reserved-user" in kinds(ROWS, moved(one, of_reserved))
    with_reserved = replace(one, test_users=np.append(one.test_users, 5))
    (leak,) = find_leaks(ROWS, with_reserved)
    assert (leak.kind, leak.count) == ("reserved-user", 1)
    assert "user 5" in leak.message


def test_pair_that_comes_twice_is_found():
    # Two ratings of one pair, one of them hidden: no place is on two sides.
    twice = RatingRows(
        users=np.array([0, 0, 0], dtype=np.int32),
        items=np.array([1, 1, 2], dtype=np.int32),
        values=np.ones(3, dtype=np.float32),
        n_users=1,
        n_items=3,
    )
    one = clean("holdout")
    doubled = replace(
        one, n_ratings=3, train=np.array([1, 2]), hidden=np.array([0]), test_users=np.array([0]), left_out={}
    )
    assert kinds(twice, doubled) == {"duplicate-pair"}


def test_cold_items_profiles_and_untested_users_are_looked_after():
    cold = clean("cold-start-items:share=.2")
    swapped = replace(cold, train=np.sort(np.append(cold.train, cold.hidden[0])), hidden=cold.hidden[1:])
    assert kinds(ROWS, swapped) == {"cold-item"}
    fold = clean("k-fold:k=2,over=users")
    swapped = replace(fold, train=np.sort(np.append(fold.train, fold.profile[0])), profile=fold.profile[1:])
    assert kinds(ROWS, swapped) == {"profile-user"}
    one = clean("given-n")
    assert kinds(ROWS, replace(one, test_users=one.test_users[1:])) == {"untested-user"}


def test_ratings_nobody_accounts_for_are_found():
    one = clean("holdout")
    (leak,) = find_leaks(ROWS, replace(one, left_out={}))
    assert (leak.kind, leak.count) == ("uncounted", 10)
    untimed = replace(ROWS, times=None)
    assert find_leaks(untimed, clean("temporal-global")) == ()
    refuse_leaks(ROWS, one)
