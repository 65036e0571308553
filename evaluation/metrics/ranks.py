"""Ranks of the relevant items in each user's list: the input of every list metric."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ranks:
    """The rank of each relevant item in its user's list.

    Raises DataError for arrays of different lengths, users out of order or range, a rank below 0 or beyond the list, a
    gain that is not a positive number, fewer candidates than listed or relevant items.

    Examples
    --------
    >>> Ranks.of([0, 0, 2], [1, 4, 0], n_listed=[5, 5, 5]).n_relevant.tolist()
    [2, 0, 1]
    """

    users: Ints  # shape (n_relevant,); ascending, in 0 to n_users - 1
    ranks: Ints  # shape (n_relevant,); 1 for the top of the list, 0 for an item that is not in the list
    gains: Floats  # shape (n_relevant,); relevance or utility, > 0, finite
    n_listed: Ints  # shape (n_users,); items in each list
    # Shape (n_users,), or None; items that could have been listed, including relevant ones; only the false-positive
    # rate needs it.
    n_candidates: Ints | None = None

    def __post_init__(self) -> None:
        if not len(self.users) == len(self.ranks) == len(self.gains):
            raise DataError(
                f"There are {len(self.users)} users, {len(self.ranks)} ranks and {len(self.gains)} gains: give one "
                "of each for every relevant item."
            )
        if len(self.users):
            if (np.diff(self.users) < 0).any() or self.users[0] < 0 or self.users[-1] >= self.n_users:
                raise DataError(f"The users have to ascend and lie between 0 and {self.n_users - 1}.")
            if self.ranks.min() < 0 or (self.ranks > self.n_listed[self.users]).any():
                raise DataError("A rank is below 0, or beyond the end of its user's list.")
            if not (np.isfinite(self.gains) & (self.gains > 0)).all():
                raise DataError("A gain is not a positive number: leave out items that are not relevant.")
        if self.n_candidates is not None:
            if len(self.n_candidates) != self.n_users:
                raise DataError(f"There are {len(self.n_candidates)} numbers of candidates for {self.n_users} users.")
            if (self.n_candidates < np.maximum(self.n_relevant, self.n_listed)).any():
                raise DataError("A user has fewer candidates than listed or relevant items.")

    @classmethod
    def of(
        cls,
        users: ArrayLike,
        ranks: ArrayLike,
        gains: ArrayLike | None = None,
        *,
        n_listed: ArrayLike,
        n_candidates: ArrayLike | None = None,
    ) -> Ranks:
        """Build ranks from array-likes; without gains every item has gain 1. Raises DataError as `Ranks` does."""
        of_users = np.asarray(users, dtype=np.int64)
        return cls(
            of_users,
            np.asarray(ranks, dtype=np.int64),
            np.ones(len(of_users)) if gains is None else np.asarray(gains, dtype=np.float64),
            np.asarray(n_listed, dtype=np.int64),
            None if n_candidates is None else np.asarray(n_candidates, dtype=np.int64),
        )

    @property
    def n_users(self) -> int:
        """Number of users, with or without a relevant item."""
        return len(self.n_listed)

    @cached_property
    def n_relevant(self) -> Ints:
        """Relevant items of each user, shape (n_users,)."""
        return np.bincount(self.users, minlength=self.n_users)

    @cached_property
    def hits(self) -> tuple[Ints, Ints, Floats, Ints]:
        """Users, ranks, gains and ordinal within the user of the listed relevant items, by user and rank."""
        listed = np.flatnonzero(self.ranks)
        users, ranks = self.users[listed], self.ranks[listed]
        # One key for both: no rank exceeds the longest list, so users cannot overlap.
        order = np.argsort(users * (int(self.n_listed.max(initial=0)) + 1) + ranks)
        users, ranks = users[order], ranks[order]
        firsts = np.searchsorted(users, users)
        return users, ranks, self.gains[listed[order]], np.arange(1, len(users) + 1) - firsts

    @cached_property
    def best(self) -> tuple[Floats, Ints]:
        """Gains by user in descending order, and the ideal rank of each."""
        is_even = len(self.gains) == 0 or bool((self.gains == self.gains[0]).all())
        # Equal gains need no sorting, and most runs have no others.
        gains = self.gains if is_even else self.gains[np.lexsort((-self.gains, self.users))]
        starts = np.cumsum(self.n_relevant) - self.n_relevant
        return gains, np.arange(1, len(gains) + 1) - starts[self.users]
