"""A split whose test users are strangers to the models, as participants are: none of their ratings is trained on."""

from __future__ import annotations

import numpy as np

from core.errors import DataError
from evaluation.splitting.partition import HIDDEN, PROFILE, TRAIN, Partition, partition_of
from evaluation.splitting.rows import RatingRows


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
