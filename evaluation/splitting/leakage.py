"""Detection of leakage: hidden ratings that reach the training side of a partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.splitting.partition import Partition
from evaluation.splitting.rows import AT_ONCE, RatingRows


@dataclass(frozen=True, slots=True)
class Leak:
    """A way in which hidden ratings are known."""

    # "two-sides", "duplicate-pair", "future", "reserved-user", "cold-item", "profile-user", "untested-user" or
    # "uncounted".
    kind: str
    count: int  # number of ratings (or pairs)
    message: str  # a sentence that names the first of them


def find_leaks(rows: RatingRows, partition: Partition) -> tuple[Leak, ...]:
    """Find every known kind of leakage of hidden ratings into a model.

    Returns an empty tuple where there is none. Looked for: a rating on two sides; a pair of user and item that comes as
    two ratings, one of them hidden and one known; a training rating at or after the partition's test time, or (where it
    splits by time) a known rating of a test user later than one of theirs that is hidden; a reserved user's rating, or
    a reserved test user; a training rating of a cold item; a training rating of a user with a profile of their own; a
    hidden rating of a user who is not tested; ratings on no side that nothing accounts for.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from scipy.sparse import csr_array
    >>> from evaluation.splitting.holdout import share_of_all
    >>> rows = RatingRows.of(csr_array(np.ones((4, 5), dtype=np.float32)))
    >>> partition = share_of_all(rows, share=0.2, seed=1)
    >>> find_leaks(rows, partition)
    ()
    >>> leaky = replace(partition, train=np.arange(20))
    >>> [leak.kind for leak in find_leaks(rows, leaky)]
    ['two-sides', 'uncounted']
    """
    leaks: list[Leak] = []

    def report(kind: str, indexes: NDArray[np.integer], description: str) -> None:
        if len(indexes):
            first = int(indexes[0])
            example = f"the first is rating {first}, of user {rows.users[first]} and item {rows.items[first]}"
            leaks.append(Leak(kind, len(indexes), f"{len(indexes):,} {description}; {example}."))

    in_train, in_profile, in_hidden = (
        _marked(len(rows), side) for side in (partition.train, partition.profile, partition.hidden)
    )
    is_known = in_train | in_profile
    hidden = np.flatnonzero(in_hidden)
    is_tested = _marked(rows.n_users, partition.test_users)
    is_reserved = _marked(rows.n_users, rows.reserved)

    report("two-sides", np.flatnonzero((is_known & in_hidden) | (in_train & in_profile)), "ratings are on two sides")
    report("duplicate-pair", _doubled(rows, is_known, in_hidden), "known ratings have the pair of a hidden one")
    report("future", _later(rows, partition, is_known), "known ratings are later than what they are to predict")
    of_reserved = np.flatnonzero(is_reserved[rows.users] & (is_known | in_hidden))
    report("reserved-user", of_reserved, "ratings of reserved users are on a side")
    reserved_tests = np.intersect1d(partition.test_users, rows.reserved)
    if len(reserved_tests):
        message = f"{len(reserved_tests):,} test users are reserved; the first is user {reserved_tests[0]}."
        leaks.append(Leak("reserved-user", len(reserved_tests), message))

    if partition.test_items is not None:
        is_cold = _marked(rows.n_items, partition.test_items)
        report("cold-item", partition.train[is_cold[rows.items[partition.train]]], "training ratings touch cold items")
    if len(partition.profile):
        has_profile = _marked(rows.n_users, rows.users[partition.profile])
        is_trained = has_profile[rows.users[partition.train]]
        report("profile-user", partition.train[is_trained], "training ratings are of users scored by a profile")
    report("untested-user", hidden[~is_tested[rows.users[hidden]]], "hidden ratings are of users who are not tested")

    n_placed = sum(map(len, (partition.train, partition.profile, partition.hidden))) + sum(partition.left_out.values())
    if n_placed != len(rows):
        message = f"{n_placed:,} ratings are on a side or left out, but there are {len(rows):,}."
        leaks.append(Leak("uncounted", abs(n_placed - len(rows)), message))
    return tuple(leaks)


def refuse_leaks(rows: RatingRows, partition: Partition) -> None:
    """Raise an error if a partition leaks. Raises DataError with a sentence for each leak."""
    leaks = find_leaks(rows, partition)
    if leaks:
        where = f" ({partition.label})" if partition.label else ""
        raise DataError(f"The split{where} leaks: {' '.join(leak.message for leak in leaks)}")


def _marked(n: int, numbers: NDArray[np.integer]) -> NDArray[np.bool_]:
    marks = np.zeros(n, dtype=np.bool_)
    marks[numbers] = True
    return marks


def _doubled(rows: RatingRows, is_known: NDArray[np.bool_], in_hidden: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Known ratings whose pair also occurs as a hidden rating."""
    if not any(_is_unordered(rows, start) for start in range(0, len(rows), AT_ONCE)):  # every pair occurs once
        return np.empty(0, dtype=np.int64)
    keys = rows.users.astype(np.int64) * rows.n_items + rows.items
    only_known = np.flatnonzero(is_known & ~in_hidden)
    return only_known[np.isin(keys[only_known], keys[in_hidden])]


def _is_unordered(rows: RatingRows, start: int) -> bool:
    """Whether the pairs of the block at `start`, and the first after it, are not ascending."""
    some = slice(start, start + AT_ONCE + 1)
    keys = rows.users[some].astype(np.int64) * rows.n_items + rows.items[some]
    return not (np.diff(keys) > 0).all()


def _later(rows: RatingRows, partition: Partition, is_known: NDArray[np.bool_]) -> NDArray[np.int64]:
    if rows.times is None or not partition.is_by_time:
        return np.empty(0, dtype=np.int64)
    known = np.flatnonzero(is_known)
    earliest = np.full(rows.n_users, np.iinfo(np.int64).max)
    np.minimum.at(earliest, rows.users[partition.hidden], rows.times[partition.hidden])
    # Later, not as late as: ratings of one moment may lie on both sides where a split takes numbers of ratings.
    is_late = rows.times[known] > earliest[rows.users[known]]
    if partition.test_time is not None:
        is_late |= rows.times[known] >= partition.test_time
    late: NDArray[np.int64] = known[is_late]
    return late
