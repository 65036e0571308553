"""Splits by time: ratings from a test time on are hidden, for all users or for each test user.

References
----------
Gunawardana & Shani (2009), JMLR 10:2935-2962, section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.errors import DataError
from evaluation.splitting.draws import draw_keys, stream_key
from evaluation.splitting.partition import HIDDEN, LEFT_OUT, TRAIN, Partition, partition_of
from evaluation.splitting.rows import RatingRows

LATER = "later ratings of users who are not tested"
TOO_FEW = "users with fewer than 2 ratings, who are not tested"
SHORTFALL = "test users wanted beyond those there are"


def missing_users(requested: int, available: int) -> dict[str, int]:
    """Count by how many a sample of test users is smaller than requested."""
    return {SHORTFALL: requested - available} if requested > available else {}


def temporal_exact(rows: RatingRows, *, test_users: int, seed: int) -> Iterator[Partition]:
    """For each test user, train on all ratings before one of their actions; one partition and model per user.

    The action is drawn from the user's ratings. All ratings at or after its time are hidden; only the user's own are
    tested. `test_users` 0 tests everyone. Partitions come in ascending order of user, one at a time, because each has
    two arrays of the dataset's size. Raises ParameterError when the ratings have no times.
    """
    times = rows.when()
    chosen = rows.choose_users(rows.counts > 0, test_users, seed, "temporal-exact")
    starts = np.searchsorted(rows.users, chosen)
    for user, start in zip(chosen.tolist(), starts.tolist(), strict=True):
        own = np.arange(start, start + rows.counts[user])
        action = own[np.argmin(rows.words(own, seed, "temporal-exact"))]
        time = int(times[action])
        # Ratings of the same moment belong to the future: a model that knew them would know what happened together
        # with the tested action.
        is_later = times >= time
        sides = np.where(is_later, LEFT_OUT, TRAIN).astype(np.uint8)
        sides[own[is_later[own]]] = HIDDEN
        n_left = int((is_later & rows.is_open).sum()) - int(is_later[own].sum())
        yield partition_of(
            rows,
            sides,
            label=f"user {user} at time {time}",
            test_users=np.array([user]),
            left_out={LATER: n_left},
            counted=missing_users(test_users, len(chosen)),
            test_time=time,
            is_by_time=True,
        )


def temporal_global(rows: RatingRows, *, share: float, test_users: int, seed: int) -> Partition:
    """One test time for all users: all ratings from it on are hidden.

    `share`: the test time is that of the first of the last round(share · n) ratings; 0: the time of a rating drawn at
    random. Ratings of equal times stay together on the hidden side. `test_users`: how many of the users with a later
    rating are tested; 0: all. Later ratings of the others are left out. Raises ParameterError or DataError: the ratings
    have no times; there are no ratings.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((2, 3), dtype=np.float32)), times=[1, 6, 3, 4, 5, 2])
    >>> temporal_global(rows, share=0.3, test_users=0, seed=1).hidden.tolist()
    [1, 4]
    """
    times = rows.when()
    indexes = np.flatnonzero(rows.is_open)
    if not len(indexes):
        raise DataError("There are no ratings to split.")
    if share == 0:
        time = int(times[indexes[np.argmin(rows.words(indexes, seed, "temporal-global"))]])
    else:
        latest = max(1, round(share * len(indexes)))
        time = int(np.partition(times[indexes], -latest)[-latest])
    is_later = times >= time
    is_eligible = np.zeros(rows.n_users, dtype=np.bool_)
    is_eligible[rows.users[is_later & rows.is_open]] = True
    chosen = rows.choose_users(is_eligible, test_users, seed, "temporal-global")
    is_own = rows.is_of(chosen)
    sides = np.where(is_later, np.where(is_own, HIDDEN, LEFT_OUT), TRAIN).astype(np.uint8)
    return partition_of(
        rows,
        sides,
        label=f"at time {time}",
        test_users=chosen,
        left_out={LATER: int((is_later & ~is_own & rows.is_open).sum())},
        counted=missing_users(test_users, len(chosen)),
        test_time=time,
        is_by_time=True,
    )


def temporal_per_user(rows: RatingRows, *, share: float, test_users: int, seed: int) -> Partition:
    """A test time for each test user: their own ratings from it on are hidden, those of other users are not.

    Order is respected within users, not between them: a model may be trained on later ratings of other users. Raises
    ParameterError when the ratings have no times.

    `share`: of a user's n ratings the last round(share · n), at least one, set the time; 0: the time of one of their
    ratings drawn at random. Ratings of equal times stay together on the hidden side. `test_users`: 0: everyone with 2
    ratings or more.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((2, 3), dtype=np.float32)), times=[1, 6, 3, 4, 5, 2])
    >>> temporal_per_user(rows, share=0.4, test_users=0, seed=1).hidden.tolist()
    [1, 4]
    """
    times = rows.when()
    chosen = rows.choose_users(rows.counts >= 2, test_users, seed, "temporal-per-user")
    indexes = np.flatnonzero(rows.is_of(chosen))
    ranks = rows.rank_within_users(indexes, times[indexes])
    sizes = rows.counts[chosen]
    if share == 0:
        words = draw_keys(stream_key(seed, "temporal-per-user"), chosen)
        first = (words % sizes.astype(np.uint64)).astype(np.int64)
    else:
        first = sizes - np.maximum(1, np.rint(share * sizes).astype(np.int64))
    cut = np.zeros(rows.n_users, dtype=np.int64)
    cut[chosen] = first
    is_cut = ranks == cut[rows.users[indexes]]
    test_times = np.zeros(rows.n_users, dtype=np.int64)
    test_times[rows.users[indexes[is_cut]]] = times[indexes[is_cut]]
    sides = np.full(len(rows), TRAIN, dtype=np.uint8)
    sides[indexes[times[indexes] >= test_times[rows.users[indexes]]]] = HIDDEN
    return partition_of(
        rows,
        sides,
        test_users=chosen,
        counted={TOO_FEW: int((rows.counts == 1).sum()), **missing_users(test_users, len(chosen))},
        is_by_time=True,
    )
