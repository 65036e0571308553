"""Where the relevant items of each user stand in the user's list: what every metric of lists is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError, ParameterError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
SHORT = 32  # lists up to this long are searched by comparing, longer ones by sorted keys
CELLS = 1 << 20  # comparisons at a time


@dataclass(frozen=True, eq=False)
class Ranks:
    """The rank of each relevant item in its user's list.

    Parameters
    ----------
    users : int array, shape (n_relevant,)
        Ascending, in 0 to n_users - 1.
    ranks : int array, shape (n_relevant,)
        1 for the first place, 0 for an item that is not in the list.
    gains : float array, shape (n_relevant,)
        Relevance or utility, > 0, finite.
    n_listed : int array, shape (n_users,)
        Items in each list.
    n_candidates : int array, shape (n_users,), or None
        Items that could have been listed, relevant ones included; only the false-positive rate needs it.

    Raises
    ------
    DataError
        Arrays of different lengths, users out of order or range, a rank below 0 or beyond the list, a gain
        that is not a positive number, fewer candidates than listed or relevant items.

    Examples
    --------
    >>> Ranks.of([0, 0, 2], [1, 4, 0], n_listed=[5, 5, 5]).n_relevant.tolist()
    [2, 0, 1]
    """

    users: Ints
    ranks: Ints
    gains: Floats
    n_listed: Ints
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
        """Ranks from anything array-like; without gains every item is worth 1.

        Parameters
        ----------
        users, ranks, gains, n_listed, n_candidates : array-like
            As for `Ranks`.

        Returns
        -------
        Ranks

        Raises
        ------
        DataError
            As `Ranks`.
        """
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
        """Users, with or without a relevant item."""
        return len(self.n_listed)

    @cached_property
    def n_relevant(self) -> Ints:
        """Relevant items of each user, shape (n_users,)."""
        return np.bincount(self.users, minlength=self.n_users)

    @cached_property
    def found(self) -> tuple[Ints, Ints, Floats, Ints]:
        """Users, ranks, gains and how many-th hit of the user, of the items in lists, by user and rank."""
        places = np.flatnonzero(self.ranks)
        users, ranks = self.users[places], self.ranks[places]
        order = np.argsort(users * (int(self.n_listed.max(initial=0)) + 1) + ranks)
        users, ranks = users[order], ranks[order]
        firsts = np.searchsorted(users, users)
        return users, ranks, self.gains[places[order]], np.arange(1, len(users) + 1) - firsts

    @cached_property
    def best(self) -> tuple[Floats, Ints]:
        """Gains in the best order, by user and then descending, and the rank each would have."""
        is_even = len(self.gains) == 0 or bool((self.gains == self.gains[0]).all())
        gains = self.gains if is_even else self.gains[np.lexsort((-self.gains, self.users))]
        starts = np.cumsum(self.n_relevant) - self.n_relevant
        return gains, np.arange(1, len(gains) + 1) - starts[self.users]


def find_ranks(
    lists: NDArray[np.integer[Any]],
    users: NDArray[np.integer[Any]],
    items: NDArray[np.integer[Any]],
    gains: ArrayLike | None = None,
    *,
    n_candidates: ArrayLike | None = None,
) -> Ranks:
    """Find relevant items in lists of recommendations.

    Parameters
    ----------
    lists : int array, shape (n_users, depth)
        Item indices, best first; -1 fills the end of a short list.
    users, items : int array, shape (n_relevant,)
        The relevant (hidden) pairs, each once, in any order.
    gains : float array, shape (n_relevant,), optional
        Relevance or utility, > 0; 1 for all by default.
    n_candidates : int array, shape (n_users,), optional

    Returns
    -------
    Ranks

    Raises
    ------
    DataError
        Lists that are not two-dimensional, that go on after a -1 or hold an item twice; a pair twice; or as
        `Ranks`.

    Examples
    --------
    >>> find_ranks(np.array([[6, 2, 1, 0, 3], [4, 1, 7, 2, 6]]), np.array([0, 0, 1, 1]), np.array([2, 6, 2, 6])).ranks
    array([2, 1, 4, 5])
    """
    if lists.ndim != 2:
        raise DataError(f"The lists have {lists.ndim} dimensions: give one row a user, one column a place.")
    if users.shape != items.shape:
        raise DataError(f"There are {len(users)} users and {len(items)} items: give one of each for every pair.")
    if len(users) and (users.min() < 0 or users.max() >= len(lists)):
        raise DataError(f"A relevant pair names a user outside 0 to {len(lists) - 1}.")
    depth = lists.shape[1]
    n_listed = _lengths(lists)
    if len(users) and (np.diff(users) < 0).any():
        order = np.argsort(users, kind="stable")
        users, items = users[order], items[order]
        gains = None if gains is None else np.asarray(gains, dtype=np.float64)[order]
    ranks = _compared(lists, users, items) if depth <= SHORT else _searched(lists, users, items)
    made = Ranks.of(users, ranks, gains, n_listed=n_listed, n_candidates=n_candidates)
    of, at = made.found[0], made.found[1]
    if ((np.diff(of) == 0) & (np.diff(at) == 0)).any():
        raise DataError("A relevant pair comes twice: give each pair once.")
    return made


def _lengths(lists: NDArray[np.integer[Any]]) -> Ints:
    """Items of each list; refuses gaps and items that come twice."""
    if lists.size == 0:
        return np.zeros(len(lists), dtype=np.int64)
    is_item = lists >= 0
    is_full = bool(is_item.all())
    if not is_full and (is_item[:, 1:] & ~is_item[:, :-1]).any():
        raise DataError("A list goes on after a -1: fill short lists with -1 at their end only.")
    is_twice = _repeats(lists)
    if is_twice.any():
        raise DataError(f"The list of user {int(np.flatnonzero(is_twice)[0])} holds an item twice.")
    if is_full:
        return np.full(len(lists), lists.shape[1], dtype=np.int64)
    lengths: Ints = is_item.sum(axis=1, dtype=np.int64)
    return lengths


def _repeats(lists: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Which lists hold an item twice."""
    if lists.shape[1] > SHORT:
        ordered = np.sort(lists, axis=1)
        return np.asarray(((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1))
    columns = np.ascontiguousarray(lists.T)
    is_twice = np.zeros(len(lists), dtype=np.bool_)
    for apart in range(1, len(columns)):
        is_same = columns[apart:] == columns[:-apart]
        if is_same.any():  # seldom: the empty places of short lists, or a fault
            is_twice |= (is_same & (columns[apart:] >= 0)).any(axis=0)
    return is_twice


def _compared(lists: NDArray[Any], users: NDArray[Any], items: NDArray[Any]) -> Ints:
    """Ranks by comparing each relevant item with every place of its list."""
    ranks = np.zeros(len(users), dtype=np.int64)
    step = max(1, CELLS // max(1, lists.shape[1]))
    for start in range(0, len(users), step):
        part = slice(start, start + step)
        is_there = lists[users[part]] == items[part, None]
        pairs, places = np.divmod(np.flatnonzero(is_there), lists.shape[1])
        ranks[start + pairs] = places + 1
    return ranks


def _searched(lists: NDArray[Any], users: NDArray[Any], items: NDArray[Any]) -> Ints:
    """Ranks by sorted keys user · n + item: one sort, one search for all lists."""
    n_items = int(max(lists.max(initial=0), items.max(initial=0))) + 1
    row, column = np.nonzero(lists >= 0)
    keys = row * n_items + lists[row, column]
    order = np.argsort(keys)
    keys = keys[order]
    wanted = users.astype(np.int64) * n_items + items
    places = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
    ranks = np.zeros(len(users), dtype=np.int64)
    if len(keys):
        is_found = keys[places] == wanted
        ranks[is_found] = column[order[places[is_found]]] + 1
    return ranks


def check_ns(ns: Sequence[int]) -> None:
    """Refuse list lengths that cannot be.

    Parameters
    ----------
    ns : sequence of int
        List lengths.

    Raises
    ------
    ParameterError
        None, or one below 1.
    """
    if len(ns) == 0 or min(ns) < 1:
        raise ParameterError(f"List lengths are {list(ns)}: at least one is needed, each at least 1.")
