"""Splits by time: what comes at or after a test time is hidden, of everyone or of each test user."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.errors import DataError
from evaluation.splitting.draws import check_share, draw_keys, stream_key
from evaluation.splitting.partition import HIDDEN, LEFT_OUT, TRAIN, Partition, partition_of
from evaluation.splitting.rows import RatingRows

LATER = "later ratings of users who are not tested"
TOO_FEW = "users with fewer than 2 ratings, who are not tested"
WANTED = "test users wanted beyond those there are"


def missing_users(wanted: int, found: int) -> dict[str, int]:
    """Say by how many a sample of test users is smaller than wanted."""
    return {WANTED: wanted - found} if wanted > found else {}


def temporal_exact(rows: RatingRows, *, test_users: int, seed: int) -> Iterator[Partition]:
    """For each of some users the world just before one of their actions; one partition, and one model, each.

    The action is drawn from the user's ratings. Every rating of anyone at or after its time is hidden; only the
    user's own are tested.

    Parameters
    ----------
    rows : RatingRows
        With times.
    test_users : int
        0: everyone.
    seed : int

    Yields
    ------
    Partition
        In ascending order of user; one at a time, as each holds two arrays of the dataset's size.

    Raises
    ------
    ParameterError
        The ratings have no times.

    References
    ----------
    Gunawardana & Shani (2009), JMLR 10:2935-2962, section 4.2.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((2, 3), dtype=np.float32)), times=[1, 2, 3, 4, 5, 6])
    >>> [(one.test_users.tolist(), len(one.hidden)) for one in temporal_exact(rows, test_users=1, seed=3)]
    [([1], 1)]
    """
    times = rows.when()
    chosen = rows.choose_users(rows.counts > 0, test_users, seed, "temporal-exact")
    starts = np.searchsorted(rows.users, chosen)
    for user, start in zip(chosen.tolist(), starts.tolist(), strict=True):
        own = np.arange(start, start + rows.counts[user])
        action = own[np.argmin(rows.words(own, seed, "temporal-exact"))]
        time = int(times[action])
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
    """One test time for all: everything at or after it is hidden.

    Parameters
    ----------
    rows : RatingRows
        With times.
    share : float
        The test time is that of the first of the last round(share · n) ratings; 0: the time of a rating drawn at
        random. Ratings of equal times stay together on the hidden side.
    test_users : int
        How many of the users with a later rating are tested; 0: all. Later ratings of the others are left out.
    seed : int

    Raises
    ------
    ParameterError, DataError
        The ratings have no times, a share out of range; there are no ratings.

    References
    ----------
    Gunawardana & Shani (2009), JMLR 10:2935-2962, section 4.2.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((2, 3), dtype=np.float32)), times=[1, 6, 3, 4, 5, 2])
    >>> temporal_global(rows, share=0.3, test_users=0, seed=1).hidden.tolist()
    [1, 4]
    """
    times = rows.when()
    share = check_share(share, "the latest ratings")
    places = np.flatnonzero(rows.is_open)
    if not len(places):
        raise DataError("There are no ratings to split.")
    if share == 0:
        time = int(times[places[np.argmin(rows.words(places, seed, "temporal-global"))]])
    else:
        latest = max(1, round(share * len(places)))
        time = int(np.partition(times[places], -latest)[-latest])
    is_later = times >= time
    is_eligible = np.zeros(rows.n_users, dtype=np.bool_)
    is_eligible[rows.users[is_later & rows.is_open]] = True
    chosen = rows.choose_users(is_eligible, test_users, seed, "temporal-global")
    is_tested = np.zeros(rows.n_users, dtype=np.bool_)
    is_tested[chosen] = True
    is_own = is_tested[rows.users]
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
    """A test time for each test user: their own ratings at or after it are hidden, everyone else's stay.

    The order within a user is kept, not that between users: a model may be trained on what others rated later.

    Parameters
    ----------
    rows : RatingRows
        With times.
    share : float
        Of a user's n ratings the last round(share · n), at least one, set the time; 0: the time of one of their
        ratings drawn at random. Ratings of equal times stay together on the hidden side.
    test_users : int
        0: everyone with 2 ratings or more.
    seed : int

    Raises
    ------
    ParameterError
        The ratings have no times, or a share out of range.

    References
    ----------
    Gunawardana & Shani (2009), JMLR 10:2935-2962, section 4.2.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((2, 3), dtype=np.float32)), times=[1, 6, 3, 4, 5, 2])
    >>> temporal_per_user(rows, share=0.4, test_users=0, seed=1).hidden.tolist()
    [1, 4]
    """
    times = rows.when()
    share = check_share(share, "the latest ratings of each user")
    chosen = rows.choose_users(rows.counts >= 2, test_users, seed, "temporal-per-user")
    is_tested = np.zeros(rows.n_users, dtype=np.bool_)
    is_tested[chosen] = True
    places = np.flatnonzero(is_tested[rows.users])
    ranks = rows.rank_within_users(places, times[places])
    sizes = rows.counts[chosen]
    if share == 0:
        words = draw_keys(stream_key(seed, "temporal-per-user"), chosen)
        first = (words % sizes.astype(np.uint64)).astype(np.int64)
    else:
        first = sizes - np.maximum(1, np.rint(share * sizes).astype(np.int64))
    cut = np.zeros(rows.n_users, dtype=np.int64)
    cut[chosen] = first
    is_cut = ranks == cut[rows.users[places]]
    test_times = np.zeros(rows.n_users, dtype=np.int64)
    test_times[rows.users[places[is_cut]]] = times[places[is_cut]]
    sides = np.full(len(rows), TRAIN, dtype=np.uint8)
    sides[places[times[places] >= test_times[rows.users[places]]]] = HIDDEN
    return partition_of(
        rows,
        sides,
        test_users=chosen,
        counted={TOO_FEW: int((rows.counts == 1).sum()), **missing_users(test_users, len(chosen))},
        is_by_time=True,
    )
