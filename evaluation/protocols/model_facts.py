"""Facts about a model that metrics need in addition to its scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from evaluation.metrics import beyond_accuracy


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
