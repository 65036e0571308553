"""What a split cuts: the stored ratings one by one, with their times, and who takes no part."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError, ParameterError
from evaluation.splitting.draws import draw_keys, smallest, stream_key
from evaluation.splitting.probe import check_csr

Places = NDArray[np.int64]
AT_ONCE = 1 << 20  # ratings gone through at a time: bounds memory, changes nothing


@dataclass(frozen=True, eq=False)
class RatingRows:
    """Ratings as parallel arrays, in the row-major order of the matrix they come from.

    Parameters
    ----------
    users, items : int32 array, shape (n_ratings,)
        By user, then item; no pair twice.
    values : float32 array, shape (n_ratings,)
    n_users, n_items : int
    times : int64 array, shape (n_ratings,), or None
        Seconds since 1970, in any fixed unit; None where the dataset has none.
    reserved : int32 array, shape (n_reserved,)
        Users who take no part; their ratings are on neither side of any split.
    """

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    n_users: int
    n_items: int
    times: NDArray[np.int64] | None = None
    reserved: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))

    @classmethod
    def of(cls, user_items: Any, *, times: ArrayLike | None = None, reserved: ArrayLike = ()) -> RatingRows:
        """Rows of a matrix of ratings.

        Parameters
        ----------
        user_items : csr_array, shape (n_users, n_items)
            Sorted indices, no duplicates; as `recommenders.data.Ratings.user_items`.
        times : int array, shape (n_ratings,), optional
            In the order of the stored entries, as `catalog.selectors.ratings.timestamps_of` gives them; an empty
            array where there are ratings means that there are no times.
        reserved : int array, optional
            From `evaluation.splitting.reserve.reserve`.

        Raises
        ------
        DataError
            Unsorted or duplicate indices; times of another number than the ratings; an unknown reserved user.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> rows = RatingRows.of(csr_array([[5.0, 0.0], [3.0, 4.0]]), reserved=[0])
        >>> rows.users.tolist(), rows.is_open.tolist()
        ([0, 1, 1], [False, True, True])
        """
        check_csr(user_items)
        n_users, n_items = user_items.shape
        n_ratings = len(user_items.indices)
        at: NDArray[np.int64] | None = None
        if times is not None and (len(np.asarray(times)) or not n_ratings):
            at = np.asarray(times, dtype=np.int64)
            if len(at) != n_ratings:
                raise DataError(f"There are {len(at)} times for {n_ratings} ratings: one of each is needed.")
        gone = np.unique(np.asarray(reserved, dtype=np.int32))
        if len(gone) and (gone[0] < 0 or gone[-1] >= n_users):
            raise DataError(f"A reserved user is outside 0 to {n_users - 1}.")
        return cls(
            users=np.repeat(np.arange(n_users, dtype=np.int32), np.diff(user_items.indptr)),
            items=np.asarray(user_items.indices).astype(np.int32, copy=False),
            values=np.asarray(user_items.data, dtype=np.float32),
            n_users=n_users,
            n_items=n_items,
            times=at,
            reserved=gone,
        )

    def __len__(self) -> int:
        return len(self.users)

    @cached_property
    def is_open(self) -> NDArray[np.bool_]:
        """Which ratings take part, shape (n_ratings,)."""
        is_reserved = np.zeros(self.n_users, dtype=np.bool_)
        is_reserved[self.reserved] = True
        return ~is_reserved[self.users]

    @cached_property
    def counts(self) -> Places:
        """Ratings of each user that take part, shape (n_users,)."""
        return np.bincount(self.users[self.is_open], minlength=self.n_users)

    def when(self) -> NDArray[np.int64]:
        """The times.

        Raises
        ------
        ParameterError
            The dataset has none.
        """
        if self.times is None:
            raise ParameterError(
                "This split needs the times of the ratings, and the dataset has none. Import it with times, or choose "
                "a split that draws at random."
            )
        return self.times

    def words(self, places: Places, seed: int, purpose: str) -> NDArray[np.uint64]:
        """A random word for each of some ratings that depends on (seed, purpose, user, item) alone."""
        key = stream_key(seed, purpose)
        drawn = np.empty(len(places), dtype=np.uint64)
        for start in range(0, len(places), AT_ONCE):
            some = places[start : start + AT_ONCE]
            drawn[start : start + AT_ONCE] = draw_keys(key, self.users[some], self.items[some])
        return drawn

    def rank_within_users(self, places: Places, *keys: NDArray[Any]) -> Places:
        """Number the given ratings of each user from 0 in the order of `keys`, the first of them first.

        Parameters
        ----------
        places : int64 array, shape (n_places,)
            Ascending, so that a user's ratings stand together.
        *keys : arrays, shape (n_places,)
        """
        of = self.users[places]
        order = np.lexsort((*reversed(keys), of))
        ranks = np.empty(len(places), dtype=np.int64)
        ranks[order] = np.arange(len(places)) - np.searchsorted(of, of)
        return ranks

    def choose_users(self, is_eligible: NDArray[np.bool_], n: int, seed: int, purpose: str) -> NDArray[np.int32]:
        """Draw `n` of the eligible users, or all of them where n is 0 or there are no more; ascending."""
        users = np.flatnonzero(is_eligible).astype(np.int32)
        if n == 0 or n >= len(users):
            return users
        return users[smallest(draw_keys(stream_key(seed, f"{purpose}:users"), users), n)]
