"""What each split hides, by cases that are known beforehand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from core.errors import DataError
from evaluation.metrics.customer_curves import croc
from evaluation.splitting.cold_start import LOST, cold_start, observations
from evaluation.splitting.folds import k_fold
from evaluation.splitting.holdout import holdout, listed_probe, share_of_all, share_within_users
from evaluation.splitting.partition import COLD_ITEMS, COLD_USERS, with_development
from evaluation.splitting.per_user import all_but_n, given_n, leave_one_out, random_per_user
from evaluation.splitting.rows import RatingRows
from evaluation.splitting.temporal import LATER, SHORTFALL, TOO_FEW, temporal_exact, temporal_global, temporal_per_user

pytestmark = pytest.mark.unit
FULL = csr_array(np.ones((8, 10), dtype=np.float32))
# Users with 3, 1 and 2 ratings.
SMALL = csr_array(np.array([[5, 1, 2, 0], [4, 0, 0, 0], [0, 3, 0, 5]], dtype=np.float32))
SMALL_TIMES = [10, 30, 20, 5, 20, 40]


def small(times=SMALL_TIMES, reserved=()):
    return RatingRows.of(SMALL, times=times, reserved=reserved)


def test_share_within_users_hides_as_much_of_each():
    rows = RatingRows.of(FULL)
    assert np.bincount(rows.users[share_within_users(rows, share=0.3, seed=1).hidden]).tolist() == [3] * 8
    few = share_within_users(small(), share=0.3, seed=1)
    assert few.counted["users with too few ratings to hide one"] == 1  # the one with a single rating
    assert len(holdout(rows, share=0.0, within="user", seed=1).hidden) == 0
    assert len(holdout(rows, share=0.25, within="all", seed=1).hidden) == 20


def test_each_rating_is_hidden_as_often_as_another():
    rows = RatingRows.of(FULL)
    hidden = np.zeros(80)
    for seed in range(400):
        hidden[share_of_all(rows, share=0.2, seed=seed).hidden] += 1
    assert abs(hidden.mean() - 80) < 1e-9
    assert hidden.min() > 80 - 5 * 8
    assert hidden.max() < 80 + 5 * 8


def test_listed_pairs_are_hidden_and_the_others_counted():
    rows = small(reserved=[2])
    one = listed_probe(rows, np.array([0, 0, 0, 2, -1, 0]), np.array([1, 1, 3, 1, 0, -1]))
    assert one.hidden.tolist() == [1]
    assert {key: value for key, value in one.counted.items() if key.startswith("listed")} == {
        "listed pairs of users or items the dataset does not have": 2,
        "listed pairs that come again": 1,
        "listed pairs that are no rating": 1,
        "listed pairs of reserved users": 1,
    }
    with pytest.raises(DataError, match="be hidden"):
        listed_probe(rows, np.array([1]), np.array([3]))
    with pytest.raises(DataError, match="outside the dataset's 3 × 4"):
        listed_probe(rows, np.array([3]), np.array([0]))
    with pytest.raises(DataError, match="2 users and 1 items"):
        listed_probe(rows, np.array([0, 1]), np.array([0]))


def test_exact_time_hides_everything_of_everyone_from_an_action_on():
    for one in temporal_exact(small(), test_users=0, seed=4):
        (user,) = one.test_users
        times, users = np.array(SMALL_TIMES), np.array([0, 0, 0, 1, 2, 2])
        assert one.train.tolist() == np.flatnonzero(times < one.test_time).tolist()
        assert one.hidden.tolist() == np.flatnonzero((times >= one.test_time) & (users == user)).tolist()
        assert one.test_time in times[users == user]
        assert one.left_out[LATER] == ((times >= one.test_time) & (users != user)).sum()
        assert one.label == f"user {user} at time {one.test_time}"
    assert len(list(temporal_exact(small(), test_users=2, seed=4))) == 2
    assert next(temporal_exact(small(), test_users=9, seed=4)).counted[SHORTFALL] == 6


def test_global_time_keeps_equal_times_together():
    one = temporal_global(small(), share=0.5, test_users=0, seed=1)
    assert one.test_time == 20
    assert one.train.tolist() == [0, 3]
    assert one.hidden.tolist() == [1, 2, 4, 5]
    assert one.test_users.tolist() == [0, 2]
    tested = temporal_global(small(), share=0.5, test_users=1, seed=1)
    assert tested.left_out[LATER] == 2
    assert temporal_global(small(), share=0.0, test_users=0, seed=1).test_time in SMALL_TIMES
    with pytest.raises(DataError, match="no ratings"):
        temporal_global(small(reserved=[0, 1, 2]), share=0.5, test_users=0, seed=1)


def test_users_times_are_their_own():
    one = temporal_per_user(small(), share=0.3, test_users=0, seed=1)
    assert one.hidden.tolist() == [1, 5]  # the last of each user with two or more
    assert one.counted[TOO_FEW] == 1
    tied = temporal_per_user(small([10, 30, 30, 5, 7, 7]), share=0.3, test_users=0, seed=1)
    assert tied.hidden.tolist() == [1, 2, 4, 5]
    assert tied.counted[COLD_USERS] == 2
    drawn = {tuple(temporal_per_user(small(), share=0.0, test_users=0, seed=s).hidden.tolist()) for s in range(40)}
    assert len(drawn) == 6  # three times for one user, two for the other


def test_random_numbers_of_ratings_leave_something_known():
    rows = RatingRows.of(FULL)
    numbers = np.concatenate(
        [np.bincount(rows.users[random_per_user(rows, test_users=0, seed=seed).hidden]) for seed in range(200)]
    )
    assert set(numbers.tolist()) == set(range(1, 10))
    assert abs(numbers.mean() - 5) < 0.3
    assert random_per_user(small(), test_users=2000, seed=1).counted[SHORTFALL] == 1998


def test_given_n_and_all_but_n_are_exact():
    rows = small()
    one = given_n(rows, n=1, test_users=0, seed=1)
    assert np.bincount(rows.users[one.train]).tolist() == [1, 1, 1]
    assert one.counted["users with at most 1 ratings, who are not tested"] == 1
    other = all_but_n(rows, n=2, test_users=0, seed=1)
    assert np.bincount(rows.users[other.hidden], minlength=3).tolist() == [2, 0, 0]


def test_last_rating_is_left_out():
    one = leave_one_out(small(), which="last", test_users=0, seed=1)
    assert one.hidden.tolist() == [1, 5]
    tied = leave_one_out(small([10, 30, 30, 5, 7, 8]), which="last", test_users=0, seed=1)
    assert tied.counted["test users with several ratings at their last time"] == 1
    drawn = {
        leave_one_out(small([10, 30, 30, 5, 7, 8]), which="last", test_users=0, seed=s).hidden[0] for s in range(30)
    }
    assert drawn == {1, 2}
    anyone = {leave_one_out(small(None), which="random", test_users=0, seed=s).hidden[0] for s in range(60)}
    assert anyone == {0, 1, 2}


def test_folds_hide_everything_once():
    rows = RatingRows.of(FULL, reserved=[3])
    folds = list(k_fold(rows, k=4, over="ratings", hide=0.2, seed=1))
    together = np.sort(np.concatenate([fold.hidden for fold in folds]))
    assert together.tolist() == np.flatnonzero(rows.users != 3).tolist()
    assert max(len(fold.hidden) for fold in folds) - min(len(fold.hidden) for fold in folds) <= 1
    over_users = list(k_fold(rows, k=3, over="users", hide=0.3, seed=1))
    tested = np.concatenate([fold.test_users for fold in over_users])
    assert sorted(tested.tolist()) == [0, 1, 2, 4, 5, 6, 7]
    assert all(len(fold.hidden) == 3 * len(fold.test_users) for fold in over_users)
    singles = [
        fold.counted["users of the fold with 1 rating, who are not tested"]
        for fold in k_fold(small(), k=2, over="users", hide=0.5, seed=1)
    ]
    assert sum(singles) == 1
    with pytest.raises(DataError, match="3 users for 4 folds"):
        next(k_fold(small(), k=4, over="users", hide=0.5, seed=1))


def test_no_training_rating_touches_a_cold_item():
    rng = np.random.default_rng(1)
    user_items = csr_array(np.where(rng.random((20, 30)) < 0.3, 4.0, 0.0).astype(np.float32))
    rows = RatingRows.of(user_items)
    one = cold_start(rows, share=0.2, start="cold", seed=1)
    assert len(one.test_items) == 6
    assert not np.isin(rows.items[one.train], one.test_items).any()
    assert one.counted[COLD_ITEMS] == len(one.hidden) == np.isin(rows.items, one.test_items).sum()
    hot = cold_start(rows, share=0.6, start="hot", seed=1)
    assert hot.counted[COLD_ITEMS] == 0
    assert hot.test_items is None
    assert len(hot.hidden) + hot.left_out[LOST] == round(0.6 * len(rows))
    assert hot.left_out[LOST] > 0
    with pytest.raises(DataError, match="no ratings"):
        cold_start(RatingRows.of(csr_array((2, 2), dtype=np.float32)), share=0.2, start="cold", seed=1)


def test_grid_of_outcomes_gives_observations():
    values = np.array([[5, 0, 2, 4], [0, 3, 5, 0], [1, 4, 0, 5]], dtype=np.float32)
    rows = RatingRows.of(csr_array(values))
    cold = cold_start(rows, share=0.5, start="cold", seed=3)
    users, items, is_rated = observations(rows, cold, threshold=None)
    assert len(users) == len(cold.test_users) * 2
    assert is_rated.tolist() == (values[users, items] > 0).tolist()
    users, items, is_liked = observations(rows, cold, threshold=4)
    assert is_liked.tolist() == (values[users, items] >= 4).tolist()
    # All have the same n(p), so random recommendation runs along the diagonal (theorem 1).
    found = croc(users, np.zeros(len(users)), is_liked)
    assert found.random.x == pytest.approx(found.random.y)


def test_a_hot_start_ranks_what_was_not_rated_in_training(monkeypatch):
    values = np.array([[5, 0, 2, 4], [0, 3, 5, 0], [1, 4, 0, 5]], dtype=np.float32)
    rows = RatingRows.of(csr_array(values))
    hot = cold_start(rows, share=0.4, start="hot", seed=3)
    found_users, found_items, is_good = observations(rows, hot, threshold=None)
    is_trained = np.zeros(values.shape, dtype=bool)
    is_trained[rows.users[hot.train], rows.items[hot.train]] = True
    users, items = np.nonzero(~is_trained[hot.test_users])
    assert found_users.tolist() == hot.test_users[users].tolist()
    assert found_items.tolist() == items.tolist()
    is_hidden = np.zeros(values.shape, dtype=bool)
    is_hidden[rows.users[hot.hidden], rows.items[hot.hidden]] = True
    assert is_good.tolist() == is_hidden[found_users, found_items].tolist()
    assert is_good.sum() == len(hot.hidden)
    *_, is_liked = observations(rows, hot, threshold=4)
    assert is_liked.tolist() == (is_good & (values[found_users, found_items] >= 4)).tolist()
    monkeypatch.setattr("evaluation.splitting.cold_start.MAX_OBSERVATIONS", 3)
    with pytest.raises(DataError, match="more pairs"):
        observations(rows, hot, threshold=None)


def test_development_and_evaluation_share_no_user():
    inner = all_but_n(RatingRows.of(FULL), n=1, test_users=0, seed=1)
    one = with_development(inner, development=0.25, seed=1)
    assert len(one.development_users) == one.counted["test users for development"] == 2
    assert np.isin(one.development_users, one.test_users).all()
    assert one.test_users.tolist() == list(range(8))
    assert one.hidden.tolist() == inner.hidden.tolist()
    assert len(inner.development_users) == 0
    with pytest.raises(DataError, match="may be empty"):
        with_development(inner, development=0.01, seed=1)
    nobody = given_n(RatingRows.of(FULL), n=10, test_users=0, seed=1)
    with pytest.raises(DataError, match="Of 0 test users"):
        with_development(nobody, development=0.5, seed=1)


def test_rows_that_cannot_be_are_refused():
    with pytest.raises(DataError, match="2 times for 6 ratings"):
        small([1, 2])
    with pytest.raises(DataError, match="outside 0 to 2"):
        small(reserved=[3])
    assert RatingRows.of(csr_array((2, 2), dtype=np.float32), times=[]).times is not None
