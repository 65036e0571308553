"""What the neighbourhoods of users share: ratings from both sides, and the walk over the nearest people."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import ItemFeatures, Ratings
from recommenders.parameters import Parameters, parameter
from recommenders.progress import Progress
from recommenders.scale import Scale

# Weights that are equal on paper have to be equal here, for ties among neighbours to be ties.
WEIGHT_DECIMALS = 12


@dataclass(frozen=True)
class UserNeighbourhoodParameters(Parameters):
    """Parameters that both neighbourhoods have."""

    neighbours: int = parameter(25, description="Number N of neighbours that a prediction draws on at most.", minimum=1)
    among: str = parameter(
        "raters",
        description=(
            "Which N people are meant: the N nearest among those who rated the item, "
            "or those who rated the item among the N nearest of all."
        ),
        choices=("raters", "all"),
    )


class UserNeighbourhood(Algorithm):
    """What the two share: the training ratings from both sides, and the walk over the nearest people.

    Neighbours are users with a weight other than 0, by falling weight; equal weights by falling number of
    common items, then by user number.
    """

    arrays: ClassVar[tuple[str, ...]] = (
        *("user_indptr", "user_items", "user_ratings"),
        *("item_indptr", "item_users", "item_ratings"),
        *("means", "norms"),
    )
    score_kind = "rating"

    params: Any
    user_indptr: NDArray[np.int64]  # shape (n_users + 1,)
    user_items: NDArray[np.int32]  # shape (n_ratings,)
    user_ratings: NDArray[np.float32]  # shape (n_ratings,)
    item_indptr: NDArray[np.int64]  # shape (n_items + 1,)
    item_users: NDArray[np.int32]  # shape (n_ratings,)
    item_ratings: NDArray[np.float32]  # shape (n_ratings,)
    means: NDArray[np.float64]  # shape (n_users,), of all of a user's ratings; 0 for one who has none
    norms: NDArray[np.float64]  # shape (n_users,), of a user's ratings above what counts in weights

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Parameters, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        progress(0.1, "Turning the ratings round, from people's to items'")
        by_user, by_item = ratings.user_items, ratings.user_items.T.tocsr().sorted_indices()
        return cls._with(
            user_indptr=by_user.indptr.astype(np.int64),
            user_items=by_user.indices.astype(np.int32),
            user_ratings=by_user.data.copy(),
            item_indptr=by_item.indptr.astype(np.int64),
            item_users=by_item.indices.astype(np.int32),
            item_ratings=by_item.data,
            means=row_means(by_user),
            norms=norms_above(by_user, cls._above(ratings.scale)),
        )

    @classmethod
    def fit_bytes(
        cls, n_users: int, n_items: int, n_ratings: int, params: Any, *, n_terms: int = 0, n_item_terms: int = 0
    ) -> int:
        """The ratings from both sides, which are the model, and their means."""
        return 48 * n_ratings + 40 * n_users + 16 * n_items

    @classmethod
    def _above(cls, scale: Scale) -> float:
        """Return what ratings have to be above to count in a norm."""
        return 0.0

    def _score(self, user_items: sparse.csr_array) -> NDArray[np.float64]:
        is_centred, is_missing_zero = self._prediction()
        n_users = self.means.shape[0]
        offsets = self.means if is_centred else np.zeros(n_users)
        weights, common = np.empty(n_users), np.empty(n_users, dtype=np.int64)
        profile_means = row_means(user_items)
        out = np.empty(user_items.shape)
        for row in range(user_items.shape[0]):
            own = slice(user_items.indptr[row], user_items.indptr[row + 1])
            items = user_items.indices[own].astype(np.int32)
            self._weigh(items, user_items.data[own].astype(np.float64), profile_means[row], weights, common)
            rounded = np.round(weights, WEIGHT_DECIMALS)
            order = nearest(rounded, common)
            is_among_raters = self.params.among == "raters"
            self._predict(
                *(order, rounded, offsets, out[row]), is_among_raters=is_among_raters, is_missing_zero=is_missing_zero
            )
            if is_centred:
                out[row] += profile_means[row]
        return out

    @property
    def _item_side(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        """The training ratings by item, as the kernels take them."""
        return self.item_indptr, self.item_users, self.item_ratings

    def _predict(
        self,
        order: NDArray[np.int64],
        weights: NDArray[np.float64],
        offsets: NDArray[np.float64],
        out: NDArray[np.float64],
        *,
        is_among_raters: bool,
        is_missing_zero: bool,
    ) -> None:
        """Write one profile's weighted means over its neighbours, who come nearest first."""
        from recommenders.kernels.user_neighbours import predict

        predict(
            order,
            weights,
            *(self.user_indptr, self.user_items, self.user_ratings),
            *self._item_side,
            offsets,
            self.popularity,
            self.params.neighbours,
            is_among_raters,
            is_missing_zero,
            out,
        )

    @abstractmethod
    def _prediction(self) -> tuple[bool, bool]:
        """Return whether ratings are taken from their users' means, and whether missing ones count as 0."""

    @abstractmethod
    def _weigh(
        self,
        items: NDArray[np.int32],
        ratings: NDArray[np.float64],
        mean: float,
        weights: NDArray[np.float64],
        common: NDArray[np.int64],
    ) -> None:
        """Write every training user's weight for a profile, and the number of common items behind it."""


def nearest(weights: NDArray[np.float64], common: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the users with a weight other than 0, nearest first.

    `weights`: float64 array, shape (n_users,); 0 for users who are no neighbours. `common`: int64 array, shape
    (n_users,); common items: of equal weights the one with more comes first, then the lower number. Returns an int64
    array, shape (n_neighbours,), by falling weight.
    """
    near = np.flatnonzero(weights)
    # The sort is stable, and `near` rises.
    return near[np.lexsort((-common[near], -weights[near]))].astype(np.int64)


def row_means(user_items: sparse.csr_array) -> NDArray[np.float64]:
    """Return each row's mean rating, 0 for an empty row. `user_items`: sparse float array, shape (n_rows, n_items);
    ratings. Returns a float64 array, shape (n_rows,), in rating points.
    """
    counts = np.diff(user_items.indptr)
    rows = np.repeat(np.arange(user_items.shape[0]), counts)
    sums = np.bincount(rows, weights=user_items.data.astype(np.float64), minlength=user_items.shape[0])
    return np.asarray(sums / np.maximum(counts, 1))


def norms_above(user_items: sparse.csr_array, above: float) -> NDArray[np.float64]:
    """Return the length of each row's ratings above a value.

    `user_items`: sparse float array, shape (n_rows, n_items); ratings. `above`: in rating points; not included. Returns
    a float64 array, shape (n_rows,): in rating points.
    """
    rows = np.repeat(np.arange(user_items.shape[0]), np.diff(user_items.indptr))
    squares = np.where(user_items.data > above, user_items.data.astype(np.float64) ** 2, 0.0)
    return np.sqrt(np.bincount(rows, weights=squares, minlength=user_items.shape[0]))
