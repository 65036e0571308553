"""The stored ratings as rows, with times and reserved users: the input of every split."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError, ParameterError
from evaluation.splitting.draws import draw_keys, smallest, stream_key

Indexes = NDArray[np.int64]
AT_ONCE = 1 << 20  # ratings processed at a time; bounds memory without affecting results


@dataclass(frozen=True, eq=False)
class RatingRows:
    """Ratings as parallel arrays, in the row-major order of the matrix they come from."""

    # `users`, `items`: shape (n_ratings,); by user, then item; no pair twice.
    users: NDArray[np.int32]
    items: NDArray[np.int32]
    values: NDArray[np.float32]  # shape (n_ratings,)
    n_users: int
    n_items: int
    # Shape (n_ratings,), or None; seconds since 1970, in any fixed unit; None where the dataset has none.
    times: NDArray[np.int64] | None = None
    # Shape (n_reserved,); users excluded from the run; their ratings are on neither side of any split.
    reserved: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))

    @classmethod
    def of(cls, user_items: Any, *, times: ArrayLike | None = None, reserved: ArrayLike = ()) -> RatingRows:
        """Build rows from a matrix of ratings.

        Raises DataError for times of another number than the ratings; an unknown reserved user.

        `user_items`: csr_array, shape (n_users, n_items); sorted indices, no duplicates; as
        `recommenders.data.Ratings.user_items`. `times`: int array, shape (n_ratings,); in the order of the stored
        entries, as `catalog.selectors.ratings.timestamps_of` gives them; an empty array where there are ratings means
        that there are no times. `reserved`: from `reserve`.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> rows = RatingRows.of(csr_array([[5.0, 0.0], [3.0, 4.0]]), reserved=[0])
        >>> rows.users.tolist(), rows.is_open.tolist()
        ([0, 1, 1], [False, True, True])
        """
        n_users, n_items = user_items.shape
        n_ratings = len(user_items.indices)
        stamps: NDArray[np.int64] | None = None
        if times is not None and (len(np.asarray(times)) or not n_ratings):
            stamps = np.asarray(times, dtype=np.int64)
            if len(stamps) != n_ratings:
                raise DataError(f"There are {len(stamps)} times for {n_ratings} ratings: one of each is needed.")
        reserved_users = np.unique(np.asarray(reserved, dtype=np.int32))
        if len(reserved_users) and (reserved_users[0] < 0 or reserved_users[-1] >= n_users):
            raise DataError(f"A reserved user is outside 0 to {n_users - 1}.")
        return cls(
            users=np.repeat(np.arange(n_users, dtype=np.int32), np.diff(user_items.indptr)),
            items=np.asarray(user_items.indices).astype(np.int32, copy=False),
            values=np.asarray(user_items.data, dtype=np.float32),
            n_users=n_users,
            n_items=n_items,
            times=stamps,
            reserved=reserved_users,
        )

    def __len__(self) -> int:
        return len(self.users)

    @cached_property
    def is_open(self) -> NDArray[np.bool_]:
        """Whether each rating belongs to an unreserved user, shape (n_ratings,)."""
        return ~self.is_of(self.reserved)

    def is_of(self, users: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether each rating belongs to one of `users`, shape (n_ratings,)."""
        is_chosen = np.zeros(self.n_users, dtype=np.bool_)
        is_chosen[users] = True
        return is_chosen[self.users]

    @cached_property
    def counts(self) -> Indexes:
        """Ratings of each user that take part, shape (n_users,)."""
        return np.bincount(self.users[self.is_open], minlength=self.n_users)

    def when(self) -> NDArray[np.int64]:
        """The times. Raises ParameterError when the dataset has none."""
        if self.times is None:
            raise ParameterError(
                "This split needs the times of the ratings, and the dataset has none. Import it with times, or choose "
                "a split that draws at random."
            )
        return self.times

    def words(self, indexes: Indexes, seed: int, purpose: str) -> NDArray[np.uint64]:
        """Return a random word per rating that depends only on (seed, purpose, user, item)."""
        key = stream_key(seed, purpose)
        words = np.empty(len(indexes), dtype=np.uint64)
        for start in range(0, len(indexes), AT_ONCE):
            block = indexes[start : start + AT_ONCE]
            words[start : start + AT_ONCE] = draw_keys(key, self.users[block], self.items[block])
        return words

    def rank_within_users(self, indexes: Indexes, *keys: NDArray[Any]) -> Indexes:
        """Number the ratings at `indexes` within each user from 0, in the order of `keys` (the first is primary).

        `indexes`: int64 array, shape (n_indexes,); ascending, so that a user's ratings are adjacent. `*keys`: arrays,
        shape (n_indexes,).
        """
        of = self.users[indexes]
        # numpy's last key is the primary one.
        order = np.lexsort((*reversed(keys), of))
        ranks = np.empty(len(indexes), dtype=np.int64)
        ranks[order] = np.arange(len(indexes)) - np.searchsorted(of, of)
        return ranks

    def choose_users(self, is_eligible: NDArray[np.bool_], n: int, seed: int, purpose: str) -> NDArray[np.int32]:
        """Draw `n` of the eligible users, or all if n is 0 or not smaller than their number; ascending."""
        users = np.flatnonzero(is_eligible).astype(np.int32)
        if n == 0 or n >= len(users):
            return users
        return users[smallest(draw_keys(stream_key(seed, f"{purpose}:users"), users), n)]


def reserve(n_users: int, share: float, seed: int) -> NDArray[np.int32]:
    """Choose round(share · n_users) users at random, who are excluded before any split, so that no model of the run
    sees them; halves round to even. Returns an int32 array, shape (n_reserved,): user indices, ascending.

    Examples
    --------
    >>> len(reserve(100, 0.15, seed=1))
    15
    """
    words = draw_keys(stream_key(seed, "reserve"), np.arange(n_users))
    return np.flatnonzero(smallest(words, round(share * n_users))).astype(np.int32)
