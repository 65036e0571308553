"""One cut of the ratings: what is trained on, what is hidden, what is neither, and what there is to say of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from core.errors import DataError
from evaluation.splitting.probe import Split
from evaluation.splitting.rows import Places, RatingRows

COLD_USERS = "hidden ratings of users without training ratings"
COLD_ITEMS = "hidden ratings of items without training ratings"
RESERVED = "ratings of reserved users"
TRAIN, HIDDEN, PROFILE, LEFT_OUT = 0, 1, 2, 3


def _no_users() -> NDArray[np.int32]:
    return np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Partition:
    """One training side and one hidden side, as places among the stored ratings.

    Every rating is in exactly one of `train`, `hidden` and `profile`, or counted in `left_out`.

    Parameters
    ----------
    label : str
        Which of the split's partitions it is ("fold 2 of 5"); empty where there is one only.
    n_ratings : int
        Of the dataset.
    train, hidden : int64 array
        Places, ascending.
    profile : int64 array
        Ratings that no model is trained on and that are known when their user is scored (folds over users); empty
        for the other splits, whose test users are scored as profiles from their training side.
    test_users : int32 array
        Users whose hidden ratings are tested, ascending.
    left_out : mapping
        Ratings on no side, by reason; they add up to what is missing from `n_ratings`.
    counted : mapping
        What else a report says, in words, with counts: such ratings and users stay where they are.
    development_users : int32 array
        The test users on whom an algorithm is chosen (dev-eval); empty otherwise.
    test_items : int32 array or None
        The items recommended from, where not the whole catalogue (cold start).
    test_time : int or None
        The one time at and after which everything is hidden.
    is_by_time : bool
        Whether no known rating of a test user is later than a hidden one of theirs; true wherever there is a test
        time.
    """

    label: str
    n_ratings: int
    train: Places
    hidden: Places
    profile: Places
    test_users: NDArray[np.int32]
    left_out: Mapping[str, int]
    counted: Mapping[str, int]
    development_users: NDArray[np.int32] = field(default_factory=_no_users)
    test_items: NDArray[np.int32] | None = None
    test_time: int | None = None
    is_by_time: bool = False

    @property
    def evaluation_users(self) -> NDArray[np.int32]:
        """The test users on whom significance is tested: all that are not for development."""
        return np.setdiff1d(self.test_users, self.development_users)

    def split(self, user_items: Any) -> Split:
        """The same cut as matrices, for what reads a `Split`.

        Parameters
        ----------
        user_items : csr_array, shape (n_users, n_items)
            The matrix the rows were made of.

        Raises
        ------
        DataError
            Another number of ratings.
        """
        rows = self._rows_of(user_items)
        is_hidden = np.zeros(self.n_ratings, dtype=np.bool_)
        is_hidden[self.hidden] = True
        return Split(
            train=part_of(user_items, self.train),
            is_hidden=is_hidden,
            hidden_users=rows.users[self.hidden],
            hidden_items=rows.items[self.hidden],
            hidden_values=rows.values[self.hidden],
            left_out={**self.left_out, **self.counted},
        )

    def profiles(self, user_items: Any) -> Any:
        """The ratings known when users are scored: the training side, and `profile` where there is one.

        Returns
        -------
        csr_array, shape (n_users, n_items)
        """
        self._rows_of(user_items)
        return part_of(user_items, np.union1d(self.train, self.profile))

    def _rows_of(self, user_items: Any) -> RatingRows:
        rows = RatingRows.of(user_items)
        if len(rows) != self.n_ratings:
            raise DataError(f"The split is one of {self.n_ratings:,} ratings, but the matrix has {len(rows):,}.")
        return rows


def part_of(user_items: Any, places: Places) -> Any:
    """The matrix with the ratings at some places only; every index keeps its meaning.

    Parameters
    ----------
    user_items : csr_array, shape (n_users, n_items)
    places : int64 array
        Ascending.

    Examples
    --------
    >>> part_of(csr_array([[5.0, 1.0], [3.0, 0.0]]), np.array([1, 2])).toarray().tolist()
    [[0.0, 1.0], [3.0, 0.0]]
    """
    indptr = np.searchsorted(places, user_items.indptr).astype(user_items.indptr.dtype)
    data = np.asarray(user_items.data, dtype=np.float32)[places]
    return csr_array((data, user_items.indices[places], indptr), shape=user_items.shape)


def partition_of(
    rows: RatingRows,
    sides: NDArray[np.uint8],
    *,
    label: str = "",
    test_users: NDArray[np.integer[Any]] | None = None,
    left_out: Mapping[str, int] | None = None,
    counted: Mapping[str, int] | None = None,
    test_items: NDArray[np.int32] | None = None,
    test_time: int | None = None,
    is_by_time: bool = False,
) -> Partition:
    """Make a partition from the side of each rating; reserved users' ratings are taken out, everything is counted.

    Parameters
    ----------
    rows : RatingRows
    sides : uint8 array, shape (n_ratings,)
        TRAIN, HIDDEN, PROFILE or LEFT_OUT; what it says of reserved users' ratings does not matter.
    label, test_items, test_time, is_by_time
        As in `Partition`.
    test_users : int array, optional
        By default everyone who has a hidden rating.
    left_out : mapping, optional
        Reasons for LEFT_OUT, with counts.
    counted : mapping, optional

    Examples
    --------
    >>> rows = RatingRows.of(csr_array([[5.0, 1.0], [3.0, 0.0]]))
    >>> made = partition_of(rows, np.array([TRAIN, HIDDEN, HIDDEN], dtype=np.uint8))
    >>> made.train.tolist(), made.hidden.tolist(), made.counted[COLD_USERS], made.counted[COLD_ITEMS]
    ([0], [1, 2], 1, 1)
    """
    sides = np.where(rows.is_open, sides, LEFT_OUT)
    train, hidden, profile = (np.flatnonzero(sides == side) for side in (TRAIN, HIDDEN, PROFILE))
    is_known = np.zeros(rows.n_users, dtype=np.bool_)
    is_known[rows.users[train]] = is_known[rows.users[profile]] = True
    is_trained = np.zeros(rows.n_items, dtype=np.bool_)
    is_trained[rows.items[train]] = True
    tested = np.unique(rows.users[hidden]) if test_users is None else np.asarray(test_users, dtype=np.int32)
    n_reserved = int((~rows.is_open).sum())
    return Partition(
        label=label,
        n_ratings=len(rows),
        train=train,
        hidden=hidden,
        profile=profile,
        test_users=tested,
        left_out={**({RESERVED: n_reserved} if n_reserved else {}), **(left_out or {})},
        counted={
            COLD_USERS: int((~is_known[rows.users[hidden]]).sum()),
            COLD_ITEMS: int((~is_trained[rows.items[hidden]]).sum()),
            **(counted or {}),
        },
        test_items=test_items,
        test_time=test_time,
        is_by_time=is_by_time,
    )
