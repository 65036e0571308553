"""Which users and items are selected, and how many ratings link them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.errors import DataError

Mask = NDArray[np.bool_]


class Counts(NamedTuple):
    """Size of a selection."""

    users: int
    items: int
    ratings: int

    def __str__(self) -> str:
        return f"{self.users:,} users, {self.items:,} items and {self.ratings:,} ratings"


class Incidence:
    """Ratings as a matrix of ones, users × items, of which masks select users and items.

    The index arrays are not copied. Counts are products of the matrix with the masks, so no step copies the ratings.
    """

    def __init__(self, indptr: NDArray[Any], indices: NDArray[Any], n_items: int) -> None:
        self.users: Mask = np.ones(len(indptr) - 1, dtype=np.bool_)
        self.items: Mask = np.ones(n_items, dtype=np.bool_)
        self.ratings: Mask | None = None  # entries of the matrix that count; None: all
        self._matrix = sparse.csr_array(
            (np.ones(len(indices), dtype=np.int32), indices, indptr), shape=(len(self.users), n_items), copy=False
        )

    def keep_ratings(self, is_kept: Mask) -> None:
        """Count only these entries of the matrix from now on."""
        self.ratings = is_kept
        self._matrix.data[:] = is_kept

    def user_counts(self) -> NDArray[np.int32]:
        """Ratings of selected items by each user, 0 for users that are not selected."""
        return np.asarray((self._matrix @ self.items.astype(np.int32)) * self.users)

    def item_counts(self) -> NDArray[np.int32]:
        """Ratings by selected users of each item, 0 for items that are not selected."""
        return np.asarray((self._matrix.T @ self.users.astype(np.int32)) * self.items)

    def drop_unrated(self) -> None:
        """Deselect users and items without a rating."""
        self.users &= self.user_counts() > 0
        self.items &= self.item_counts() > 0

    def keep_core(self, k: int) -> None:
        """Deselect users and items with fewer than `k` ratings until none is left: the k-core, which is unique.

        Raises DataError for a `k` below 1.

        References
        ----------
        Seidman (1983), Network structure and minimum degree, Social Networks 5(3):269-287,
        doi:10.1016/0378-8733(83)90028-X, on the bipartite graph of users and items.
        """
        if k < 1:
            raise DataError(f"The k of a k-core must be at least 1; got {k}.")
        while True:
            self.items &= self.item_counts() >= k
            is_kept = self.user_counts() >= k
            if np.array_equal(is_kept, self.users):
                return
            self.users &= is_kept

    def counts(self) -> Counts:
        """How many users, items and ratings are selected."""
        n_ratings = int(self.user_counts().sum(dtype=np.int64))
        return Counts(int(self.users.sum()), int(self.items.sum()), n_ratings)
