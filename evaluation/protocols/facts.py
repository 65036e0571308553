"""What metrics need beside the measurements: facts by case, the same for every model, and facts about a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from evaluation.metrics import beyond_accuracy
from evaluation.protocols.cases import Cases

# The names of their arrays; `list_profile_genres` has a row for each list, not for each case.
FACTS = ("popularity_ranks", "profile_popularity", "list_profile_genres")


def popularity_ranks(cases: Cases, popularity: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the rank of each case's item in the user's list by popularity alone, then item number, excluding items
    excluded in `cases`. Returns an int64 array, shape (n_cases,): 1 for the top of the list.

    `popularity`: int array, shape (n_items,).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from evaluation.protocols.cases import build_cases
    >>> train = csr_array(np.array([[4.0, 0, 0, 0]]))
    >>> cases = build_cases(train, np.array([0]), np.array([1]), np.array([5.0]),
    ...                    relevant=5, irrelevant=1, seed=1, every=True, excluded="trained")
    >>> popularity_ranks(cases, np.array([9, 1, 1, 7])).tolist()
    [2]
    >>> popularity_thirds(cases, np.array([9, 1, 1, 7])).tolist()
    [2]
    """
    order = np.empty(cases.n_items, dtype=np.int64)
    order[np.lexsort((np.arange(cases.n_items), -np.asarray(popularity)))] = np.arange(cases.n_items)
    ranks = order[cases.items] + 1
    users, starts = np.unique(cases.users, return_index=True)
    for user, start, stop in zip(users.tolist(), starts, np.append(starts[1:], len(cases)), strict=True):
        # Ranks among all items less the excluded ones above: no list of a user has to be made for it.
        ranks[start:stop] -= np.searchsorted(np.unique(order[cases.excluded(user)]), order[cases.items[start:stop]])
    return ranks


def popularity_thirds(cases: Cases, popularity: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the third of the training ratings in which each case's item lies: 0 for the most popular items.

    Items are ordered by popularity, then item number; an item belongs where the middle of its ratings lies. So a third
    of the popular items is small, and the thirds have about as many cases. `popularity`: int array, shape (n_items,).
    Returns an int64 array, shape (n_cases,). For an example see `popularity_ranks`.
    """
    order = np.lexsort((np.arange(cases.n_items), -np.asarray(popularity)))
    counts = np.asarray(popularity, dtype=np.float64)[order]
    middles = np.cumsum(counts) - counts / 2
    thirds = np.empty(cases.n_items, dtype=np.int64)
    thirds[order] = np.minimum(3 * middles // max(counts.sum(), 1.0), 2)
    return thirds[cases.items]


def profile_popularity(user_items: Any, popularity: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Return the mean popularity of the items in each profile: a float array, shape (n_profiles,); NaN for an empty
    profile.

    `user_items`: csr_array, shape (n_profiles, n_items). `popularity`: int array, shape (n_items,).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> profile_popularity(csr_array(np.array([[4.0, 0, 5.0], [0, 0, 0]])), np.array([9, 1, 2])).tolist()
    [5.5, nan]
    """
    sizes = np.diff(user_items.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    sums = np.bincount(rows, weights=popularity[user_items.indices], minlength=len(sizes))
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)


@dataclass(frozen=True)
class CandidateRange:
    """The range of the numbers of candidates of a run's cases, and the requested number."""

    fewest: int
    most: int
    requested: int

    @property
    def in_words(self) -> str:
        """The number or its range, with the requested number if different."""
        count = f"{self.fewest:,}" if self.fewest == self.most else f"{self.fewest:,} to {self.most:,}"
        return count if self.fewest >= self.requested else f"{count} ({self.requested:,} requested)"


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Facts about a model and its training data that metrics need."""

    score_kind: str  # "rating" or "order"
    is_comparable: bool  # whether scores of different users are comparable
    # `low`, `high`: ends of the training scale.
    low: float
    high: float
    # Shape (n_items,), or (n_folds, n_items); training ratings of each item; of several models a row for each, whose
    # lists `evaluation.protocols.fold_pooling` numbers.
    popularity: NDArray[np.int64]
    n_users: int | NDArray[np.int64]  # shape (n_folds,); training users
    # Sparse float array, shape (n_items, n_terms), or None; the items' features, by which lists are diverse; None where
    # there are none.
    item_terms: csr_array | None = None
    item_genres: csr_array | None = None  # shape (n_items, n_genres); None where no item has a genre
    is_partial: bool = False  # whether only the first items of lists are known

    def popularity_of(self, users: NDArray[np.integer[Any]], items: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Training ratings of some items, as the model of each one's reader knows them.

        `users`: int array, shape (n,); readers, as `evaluation.protocols.fold_pooling` numbers them where there are
        several models. `items`: int array, shape (n,). Returns an int64 array, shape (n,): ratings.

        Examples
        --------
        >>> facts = ModelFacts("order", True, 1.0, 5.0, np.array([4, 0]), 4)
        >>> facts.popularity_of(np.array([9, 9]), np.array([1, 0])).tolist()
        [0, 4]
        """
        table = np.atleast_2d(self.popularity)
        known: NDArray[np.int64] = table[users % len(table), items]
        return known

    def novelty(self, users: NDArray[np.integer[Any]], lists: NDArray[np.int32], n: int) -> NDArray[np.float64]:
        """Novelty of some lists, by the popularity that the model of each list's reader knows.

        `users`: int array, shape (n_lists,); readers, as for `popularity_of`. `lists`: int32 array, shape (n_lists,
        longest); items, best first; -1 where a list is at its end. Returns a float64 array, shape (n_lists,), in bits,
        as `evaluation.metrics.beyond_accuracy.novelty` gives them.
        """
        return self._by_fold(users, lists, lambda own, counts, size: beyond_accuracy.novelty(own, counts, size, n))

    def recommendation_popularity(
        self, users: NDArray[np.integer[Any]], lists: NDArray[np.int32], n: int
    ) -> NDArray[np.float64]:
        """Average popularity of some lists, as the model of each list's reader knows it; parameters as for `novelty`.
        Returns a float64 array, shape (n_lists,), in training ratings.
        """
        return self._by_fold(
            users, lists, lambda own, counts, _: beyond_accuracy.recommendation_popularity(own, counts, n)
        )

    def _by_fold(
        self,
        users: NDArray[np.integer[Any]],
        lists: NDArray[np.int32],
        measure: Callable[[NDArray[np.int32], NDArray[np.int64], int], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Measure the lists of each model's readers with its popularity and its number of training users."""
        table, n_users = np.atleast_2d(self.popularity), np.atleast_1d(self.n_users)
        each = np.empty(len(lists), dtype=np.float64)
        for fold, popularity in enumerate(table):
            own = users % len(table) == fold
            each[own] = measure(lists[own], popularity, int(n_users[fold]))
        return each
