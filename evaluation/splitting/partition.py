"""A partition of the ratings into training, hidden and profile ratings, with counts of everything else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.splitting.draws import draw_keys, smallest, stream_key
from evaluation.splitting.rows import Indexes, RatingRows
from recommenders.holdout import part_of

COLD_USERS = "hidden ratings of users without training ratings"
COLD_ITEMS = "hidden ratings of items without training ratings"
RESERVED = "ratings of reserved users"
TRAIN, HIDDEN, PROFILE, LEFT_OUT = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class Partition:
    """A training side and a hidden side, as indexes of the stored ratings.

    Every rating is in exactly one of `train`, `hidden` and `profile`, or counted in `left_out`.
    """

    label: str  # which of the split's partitions it is ("fold 2 of 5"); empty if there is only one
    n_ratings: int  # in the dataset
    # `train`, `hidden`: ascending.
    train: Indexes
    hidden: Indexes
    # Ratings that are not used for training but as the profile of their user (folds over users); empty for the other
    # splits, whose test users are scored by their training ratings.
    profile: Indexes
    test_users: NDArray[np.int32]  # users whose hidden ratings are tested, ascending
    left_out: Mapping[str, int]  # ratings on no side by reason; with the sides they add up to `n_ratings`
    counted: Mapping[str, int]  # further counts for reports, by description; these ratings and users are not excluded
    # The test users used to choose an algorithm (dev-eval); empty otherwise.
    development_users: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    test_items: NDArray[np.int32] | None = None  # the candidate items, if not the whole catalogue (cold start)
    test_time: int | None = None  # the time from which all ratings are hidden
    # Whether no known rating of a test user is later than one of their hidden ratings; true with a test time.
    is_by_time: bool = False

    def profiles(self, user_items: Any) -> Any:
        """Return the ratings known when users are scored: training and profile ratings. Returns a csr_array, shape
        (n_users, n_items).
        """
        if user_items.nnz != self.n_ratings:
            raise DataError(f"The split has {self.n_ratings:,} ratings, but the matrix has {user_items.nnz:,}.")
        return part_of(user_items, np.union1d(self.train, self.profile))


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
    """Build a partition from the side of each rating, excluding reserved users and counting everything.

    `sides`: uint8 array, shape (n_ratings,); TRAIN, HIDDEN, PROFILE or LEFT_OUT; ignored for ratings of reserved users.
    `test_users`: by default all users with a hidden rating. `left_out`: reasons for LEFT_OUT, with counts.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array([[5.0, 1.0], [3.0, 0.0]]))
    >>> partition = partition_of(rows, np.array([TRAIN, HIDDEN, HIDDEN], dtype=np.uint8))
    >>> partition.train.tolist(), partition.hidden.tolist(), *map(partition.counted.get, (COLD_USERS, COLD_ITEMS))
    ([0], [1, 2], 1, 1)
    """
    # Here and not in each split, so that none can forget it.
    sides = np.where(rows.is_open, sides, LEFT_OUT)
    train, hidden, profile = (np.flatnonzero(sides == side) for side in (TRAIN, HIDDEN, PROFILE))
    is_known = np.zeros(rows.n_users, dtype=np.bool_)
    # Cold users are those without anything to score them by, whether it is trained on or not.
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


def with_development(partition: Partition, *, development: float, seed: int) -> Partition:
    """Return the partition with round(development · n) of its n test users drawn for development.

    An algorithm is chosen on one group and tested on the other. Raises DataError where one of the two would be empty.
    Source: Gunawardana & Shani (2009), JMLR 10:2935-2962, section 4.3.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.splitting.per_user import all_but_n
    >>> inner = all_but_n(RatingRows.of(csr_array(np.ones((10, 4), dtype=np.float32))), n=1, test_users=0, seed=1)
    >>> made = with_development(inner, development=0.3, seed=1)
    >>> made.development_users.shape, made.test_users.shape
    ((3,), (10,))
    """
    users = partition.test_users
    words = draw_keys(stream_key(seed, "dev-eval"), users) if len(users) else np.empty(0, dtype=np.uint64)
    is_for_development = smallest(words, round(development * len(users)))
    n_development = int(is_for_development.sum())
    if n_development in (0, len(users)):
        raise DataError(
            f"Of {len(users)} test users, {n_development} would be for development and {len(users) - n_development} "
            "for evaluation; neither group may be empty. Test more users, or choose another share."
        )
    counted = {**partition.counted, "test users for development": n_development}
    return replace(partition, development_users=users[is_for_development], counted=counted)
