"""Splits of each test user's ratings by number, whatever the time: random numbers, given n, all but n, one out."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import ParameterError
from evaluation.splitting.draws import draw_keys, stream_key
from evaluation.splitting.partition import HIDDEN, TRAIN, Partition, partition_of
from evaluation.splitting.rows import Indexes, RatingRows
from evaluation.splitting.temporal import TOO_FEW, missing_users


def _check_n(n: int, what: str) -> None:
    if n < 1:
        raise ParameterError(f"The number of {what} ratings is {n}: it must be at least 1.")


def _hide(
    rows: RatingRows,
    chosen: NDArray[np.int32],
    n_hidden: Indexes,
    *,
    n_requested: int,
    counted: dict[str, int],
    purpose: str,
    seed: int,
    is_last: bool = False,
) -> Partition:
    """Hide the first `n_hidden` ratings of each chosen user, in random order or from the latest on."""
    of_user = np.zeros(rows.n_users, dtype=np.int64)
    of_user[chosen] = n_hidden
    indexes = np.flatnonzero((of_user > 0)[rows.users])
    words = rows.words(indexes, seed, purpose)
    keys = (-rows.when()[indexes], words) if is_last else (words,)
    ranks = rows.rank_within_users(indexes, *keys)
    sides = np.full(len(rows), TRAIN, dtype=np.uint8)
    sides[indexes[ranks < of_user[rows.users[indexes]]]] = HIDDEN
    counted = {**counted, **missing_users(n_requested, len(chosen))}
    return partition_of(rows, sides, test_users=chosen, counted=counted, is_by_time=is_last)


def random_per_user(rows: RatingRows, *, test_users: int, seed: int) -> Partition:
    """Hide a random number of each test user's ratings, drawn at random.

    Of n ratings 1 to n - 1 are hidden, each number as likely, so that something is known and something hidden.
    `test_users` 0 tests everyone with 2 ratings or more. The source's experiments have 2,000. Source: Gunawardana &
    Shani (2009), JMLR 10:2935-2962, sections 4.2 and 6.
    """
    chosen = rows.choose_users(rows.counts >= 2, test_users, seed, "random-per-user")
    words = draw_keys(stream_key(seed, "random-per-user:numbers"), chosen)
    n_hidden = 1 + (words % (rows.counts[chosen] - 1).astype(np.uint64)).astype(np.int64)
    counted = {TOO_FEW: int((rows.counts == 1).sum())}
    return _hide(rows, chosen, n_hidden, n_requested=test_users, counted=counted, purpose="random-per-user", seed=seed)


def given_n(rows: RatingRows, *, n: int, test_users: int, seed: int) -> Partition:
    """Know `n` ratings of each test user, drawn at random, and hide the others.

    Users with at most n ratings are not tested; theirs stay in training. Raises ParameterError for `n` below 1. Source:
    Breese, Heckerman & Kadie (1998), UAI, section 3.2. Deviation: what is known of test users is trained on too.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((2, 9), dtype=np.float32)))
    >>> np.bincount(rows.users[given_n(rows, n=5, test_users=0, seed=1).train]).tolist()
    [5, 5]
    """
    _check_n(n, "known")
    chosen = rows.choose_users(rows.counts > n, test_users, seed, "given-n")
    few = f"users with at most {n} ratings, who are not tested"
    counted = {few: int(((rows.counts > 0) & (rows.counts <= n)).sum())}
    return _hide(
        rows, chosen, rows.counts[chosen] - n, n_requested=test_users, counted=counted, purpose="given-n", seed=seed
    )


def all_but_n(rows: RatingRows, *, n: int, test_users: int, seed: int) -> Partition:
    """Hide `n` ratings of each test user, drawn at random, and know the others.

    Users with at most n ratings are not tested; theirs stay in training. Raises ParameterError for `n` below 1. Source:
    Breese, Heckerman & Kadie (1998), UAI, section 3.2.
    """
    _check_n(n, "hidden")
    chosen = rows.choose_users(rows.counts > n, test_users, seed, "all-but-n")
    few = f"users with at most {n} ratings, who are not tested"
    counted = {few: int(((rows.counts > 0) & (rows.counts <= n)).sum())}
    return _hide(
        rows, chosen, np.full(len(chosen), n), n_requested=test_users, counted=counted, purpose="all-but-n", seed=seed
    )


def leave_one_out(rows: RatingRows, *, which: Literal["last", "random"], test_users: int, seed: int) -> Partition:
    """Hide one rating of each test user: the last, or one drawn at random.

    Of several last ratings of the same time one is drawn; such users are counted. `test_users` 0 tests everyone with 2
    ratings or more. Raises ParameterError for another `which`, and for "last" without times.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((2, 3), dtype=np.float32)), times=[1, 6, 3, 4, 5, 2])
    >>> leave_one_out(rows, which="last", test_users=0, seed=1).hidden.tolist()
    [1, 4]
    """
    if which not in ("last", "random"):
        raise ParameterError(f"The rating left out can be the 'last' or a 'random' one, not {which!r}.")
    chosen = rows.choose_users(rows.counts >= 2, test_users, seed, "leave-one-out")
    counted = {TOO_FEW: int((rows.counts == 1).sum())}
    if which == "last":
        times = rows.when()
        indexes = np.flatnonzero(rows.is_of(chosen))
        latest = np.full(rows.n_users, np.iinfo(np.int64).min)
        np.maximum.at(latest, rows.users[indexes], times[indexes])
        n_latest = np.bincount(
            rows.users[indexes][times[indexes] == latest[rows.users[indexes]]], minlength=rows.n_users
        )
        counted["test users with several ratings at their last time"] = int((n_latest > 1).sum())
    single = np.ones(len(chosen), dtype=np.int64)
    return _hide(
        rows,
        chosen,
        single,
        n_requested=test_users,
        counted=counted,
        purpose="leave-one-out",
        seed=seed,
        is_last=which == "last",
    )
