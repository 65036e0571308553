"""Splits of each test user's ratings by number, whatever the time: random numbers, given n, all but n, one out; and of
users who are strangers to the models, as participants are: none of their ratings is trained on.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.splitting.draws import draw_keys, stream_key
from evaluation.splitting.partition import HIDDEN, PROFILE, TRAIN, Partition, partition_of
from evaluation.splitting.rows import Indexes, RatingRows
from evaluation.splitting.temporal import TOO_FEW, missing_users


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
    # The remainder of a 64-bit word: numbers of ratings are so small beside it that its bias cannot be seen.
    n_hidden = 1 + (words % (rows.counts[chosen] - 1).astype(np.uint64)).astype(np.int64)
    counted = {TOO_FEW: int((rows.counts == 1).sum())}
    return _hide(rows, chosen, n_hidden, n_requested=test_users, counted=counted, purpose="random-per-user", seed=seed)


def given_n(rows: RatingRows, *, n: int, test_users: int, seed: int) -> Partition:
    """Know `n` ratings of each test user, drawn at random, and hide the others.

    Users with at most n ratings are not tested; theirs stay in training. Source: Breese, Heckerman & Kadie (1998), UAI,
    section 3.2. Deviation: what is known of test users is trained on too.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((2, 9), dtype=np.float32)))
    >>> np.bincount(rows.users[given_n(rows, n=5, test_users=0, seed=1).train]).tolist()
    [5, 5]
    """
    return _by_number(rows, rows.counts - n, n=n, test_users=test_users, purpose="given-n", seed=seed)


def all_but_n(rows: RatingRows, *, n: int, test_users: int, seed: int) -> Partition:
    """Hide `n` ratings of each test user, drawn at random, and know the others.

    Users with at most n ratings are not tested; theirs stay in training. Source: Breese, Heckerman & Kadie (1998), UAI,
    section 3.2.
    """
    return _by_number(rows, np.full(rows.n_users, n), n=n, test_users=test_users, purpose="all-but-n", seed=seed)


def _by_number(rows: RatingRows, n_hidden: Indexes, *, n: int, test_users: int, purpose: str, seed: int) -> Partition:
    chosen = rows.choose_users(rows.counts > n, test_users, seed, purpose)
    few = f"users with at most {n} ratings, who are not tested"
    counted = {few: int(((rows.counts > 0) & (rows.counts <= n)).sum())}
    return _hide(rows, chosen, n_hidden[chosen], n_requested=test_users, counted=counted, purpose=purpose, seed=seed)


def leave_one_out(rows: RatingRows, *, which: Literal["last", "random"], test_users: int, seed: int) -> Partition:
    """Hide one rating of each test user: the last, or one drawn at random.

    Of several last ratings of the same time one is drawn; such users are counted. `test_users` 0 tests everyone with 2
    ratings or more. Raises ParameterError for "last" without times.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((2, 3), dtype=np.float32)), times=[1, 6, 3, 4, 5, 2])
    >>> leave_one_out(rows, which="last", test_users=0, seed=1).hidden.tolist()
    [1, 4]
    """
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
    n_hidden, is_last = np.ones(len(chosen), dtype=np.int64), which == "last"
    return _hide(
        rows,
        chosen,
        n_hidden,
        n_requested=test_users,
        counted=counted,
        purpose="leave-one-out",
        seed=seed,
        is_last=is_last,
    )


def strangers(
    rows: RatingRows, *, share: float, given: int, hidden: int, seed: int, given_share: float = 0.0
) -> Partition:
    """Hold out a share of the users whole; their profiles have `given` ratings, drawn at random, the others are hidden.

    With `given` 0, `hidden` ratings of each test user are hidden instead and the others are their profile; with
    `given_share`, the profile is that share of each test user's ratings, rounded, and at least one rating is on either
    side. Eligible are users with a rating for both sides; the others stay in training. Raises DataError where the share
    is no test user or leaves no training user. Sources: Breese, Heckerman & Kadie (1998), UAI, section 3.2 (given n,
    all but one); strong generalisation: Marlin (2004), master's thesis, University of Toronto, section 3.3; with a
    share of 80% given: Liang, Krishnan, Hoffman & Jebara (2018), WWW, doi:10.1145/3178876.3186150.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((10, 9), dtype=np.float32)))
    >>> partition = strangers(rows, share=0.2, given=5, hidden=0, seed=1)
    >>> len(partition.test_users), len(partition.profile), len(partition.hidden), len(partition.train)
    (2, 10, 8, 72)
    """
    least = given + hidden or 1
    few = f"{least} rating{'s' if least > 1 else ''}"
    is_eligible = rows.counts > least
    n_eligible = int(is_eligible.sum())
    n = round(share * n_eligible)
    if n < 1 or n >= int((rows.counts > 0).sum()):
        raise DataError(
            f"A share of {share:g} of {n_eligible:,} users with more than {few} is {n:,} test users. It must "
            "be at least one, and leave a user to train on: choose another share, or fewer given ratings."
        )
    chosen = rows.choose_users(is_eligible, n, seed, "strangers")
    indexes = np.flatnonzero(rows.is_of(chosen))
    ranks = rows.rank_within_users(indexes, rows.words(indexes, seed, "strangers"))
    if given_share:
        counts = rows.counts[rows.users[indexes]]
        is_profile = ranks < np.clip(np.rint(given_share * counts), 1, counts - 1)
    else:
        is_profile = ranks < given if given else ranks >= hidden
    sides = np.full(len(rows), TRAIN, dtype=np.uint8)
    sides[indexes] = np.where(is_profile, PROFILE, HIDDEN)
    return partition_of(
        rows,
        sides,
        test_users=chosen,
        counted={
            f"users with at most {few}, who are not tested": int(((rows.counts > 0) & (rows.counts <= least)).sum())
        },
    )
