"""The two user neighbourhoods of the survey: people who rate alike, people who like the same."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import Floats, Integers, ItemFeatures, Ratings
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
    preloaded = ("recommenders.kernels.user_neighbours",)

    params: Any
    user_indptr: Integers  # shape (n_users + 1,)
    user_items: NDArray[np.int32]  # shape (n_ratings,)
    user_ratings: NDArray[np.float32]  # shape (n_ratings,)
    item_indptr: Integers  # shape (n_items + 1,)
    item_users: NDArray[np.int32]  # shape (n_ratings,)
    item_ratings: NDArray[np.float32]  # shape (n_ratings,)
    means: Floats  # shape (n_users,), of all of a user's ratings; 0 for one who has none
    norms: Floats  # shape (n_users,), of a user's ratings above what counts in weights

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
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Any, **terms: int) -> int:
        """The ratings from both sides, which are the model, and their means."""
        return 48 * n_ratings + 40 * n_users + 16 * n_items

    @classmethod
    def _above(cls, scale: Scale) -> float:
        """Return what ratings have to be above to count in a norm."""
        return 0.0

    def _score(self, user_items: sparse.csr_array) -> Floats:
        is_centred, is_missing_zero = self.params.prediction == "centred", self.params.prediction == "zero"
        is_among_raters = self.params.among == "raters"
        n_users = self.means.shape[0]
        offsets = self.means if is_centred else np.zeros(n_users)
        weights, common = np.empty(n_users), np.empty(n_users, dtype=np.int64)
        profile_means = row_means(user_items)
        out = np.empty(user_items.shape)
        for row in range(user_items.shape[0]):
            own = slice(user_items.indptr[row], user_items.indptr[row + 1])
            items = user_items.indices[own].astype(np.int32)
            self._weigh(items, user_items.data[own].astype(np.float64), profile_means[row], weights, common)
            # Before the sort: sums in another order differ in their last digits, and ties would be decided by them.
            rounded = np.round(weights, WEIGHT_DECIMALS)
            order = nearest(rounded, common)
            self._predict(
                *(order, rounded, offsets, out[row]), is_among_raters=is_among_raters, is_missing_zero=is_missing_zero
            )
            if is_centred:
                out[row] += profile_means[row]
        return out

    @property
    def _item_side(self) -> tuple[Integers, NDArray[np.int32], NDArray[np.float32]]:
        """The training ratings by item, as the kernels take them."""
        return self.item_indptr, self.item_users, self.item_ratings

    def _predict(
        self,
        order: Integers,
        weights: Floats,
        offsets: Floats,
        out: Floats,
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
    def _weigh(self, items: NDArray[np.int32], ratings: Floats, mean: float, weights: Floats, common: Integers) -> None:
        """Write every training user's weight for a profile, and the number of common items behind it."""


def nearest(weights: Floats, common: Integers) -> Integers:
    """Return the users with a weight other than 0, nearest first.

    `weights`: float64 array, shape (n_users,); 0 for users who are no neighbours. `common`: int64 array, shape
    (n_users,); common items: of equal weights the one with more comes first, then the lower number. Returns an int64
    array, shape (n_neighbours,), by falling weight.
    """
    near = np.flatnonzero(weights)
    # The sort is stable, and `near` rises.
    return near[np.lexsort((-common[near], -weights[near]))].astype(np.int64)


def row_means(user_items: sparse.csr_array) -> Floats:
    """Return each row's mean rating, 0 for an empty row. `user_items`: sparse float array, shape (n_rows, n_items);
    ratings. Returns a float64 array, shape (n_rows,), in rating points.
    """
    counts = np.diff(user_items.indptr)
    rows = np.repeat(np.arange(user_items.shape[0]), counts)
    # Summed in 64 bits: means of 32-bit sums would depend on the order of the items.
    sums = np.bincount(rows, weights=user_items.data.astype(np.float64), minlength=user_items.shape[0])
    return np.asarray(sums / np.maximum(counts, 1))


def norms_above(user_items: sparse.csr_array, above: float) -> Floats:
    """Return the length of each row's ratings above a value.

    `user_items`: sparse float array, shape (n_rows, n_items); ratings. `above`: in rating points; not included. Returns
    a float64 array, shape (n_rows,): in rating points.
    """
    rows = np.repeat(np.arange(user_items.shape[0]), np.diff(user_items.indptr))
    squares = np.where(user_items.data > above, user_items.data.astype(np.float64) ** 2, 0.0)
    return np.sqrt(np.bincount(rows, weights=squares, minlength=user_items.shape[0]))


# Departures from a mean below this share of a step are rounding error: of float32, or of a mapped scale.
NEGLIGIBLE_SHARE = 1e-6


class UserKNNPearson(UserNeighbourhood):
    r"""User neighbourhood by correlation: a person's mean, moved as similar people departed from theirs.

    .. math::
        p_{aj} = \bar v_a + \kappa \sum_i w(a, i) (v_{ij} - \bar v_i), \qquad
        w(a, i) = \frac{\sum_j (v_{aj} - \bar v_a)(v_{ij} - \bar v_i)}
                       {\sqrt{\sum_j (v_{aj} - \bar v_a)^2 \sum_j (v_{ij} - \bar v_i)^2}}, \qquad
        \kappa = \frac{1}{\sum_i |w(a, i)|}

    Means are over all of a user's ratings, the sums of w over the items both rated; w is 0 where one of its
    two sums of squares is. The first sum is over the N users with the highest w among those who rated j, or
    over those who rated j among the N with the highest w of all. Negative weights count, as in the source;
    users of weight 0 are no neighbours. No score where there is no neighbour. Predictions are not clipped to
    the scale.

    With missing ratings as 0 all sums run over all items, as the source does with usage data; the N users are then
    those with the highest w of all. Where correlations look at common items alone (zero-common), usage data have w = 1
    for everyone with a common item, so that the N with the most common items are the neighbours. Source: Gunawardana &
    Shani (2009), JMLR 10:2935-2962, section 6.2.1, equation 1, N = 25.

    Cost: a fit sorts the ratings; a profile is compared with every user who shares an item with it, so that scoring
    takes time proportional to the ratings of its items.

    Examples
    --------
    Both know item 0 as 2 points above their mean; the other's item 1 lies 1 point above, item 2 3 below.

    >>> from recommenders.data import Profiles, Ratings, Scale
    >>> scale = Scale(1, 10, 1)
    >>> ratings = Ratings.from_triples([0, 0, 0], [0, 1, 2], [7, 6, 2], n_users=1, n_items=3, scale=scale)
    >>> model = UserKNNPearson.fit(ratings, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0, 2], [9, 5], n_items=3, scale=scale)).round(9).tolist()
    [[9.0, 8.0, 4.0]]
    """

    key = "userknn-pearson"
    name = "UserPearson"
    title = "User neighbourhood by correlation (UserPearson)"
    version = 1

    @dataclass(frozen=True)
    class Params(UserNeighbourhoodParameters):
        prediction: str = parameter(
            "centred",
            description="What is averaged: the neighbours' ratings less each one's mean, or the ratings alone.",
            choices=("centred", "raw"),
        )
        missing: str = parameter(
            "left-out",
            description=(
                "Missing ratings: left-out ignores them; zero counts them as 0 everywhere, in means and correlations "
                "too (for usage data; every user then counts as a rater of every item); zero-common counts them as 0 "
                "in means and predictions, while correlations use only the items both users rated."
            ),
            choices=("left-out", "zero", "zero-common"),
        )

    def _score(self, user_items: sparse.csr_array) -> Floats:
        from recommenders.kernels.user_neighbours import cosine_weights, pearson_weights

        if self.params.missing == "left-out":
            return super()._score(user_items)
        # Every absent rating is 0: the sums over all items follow from those over the stored.
        n_items, n_users = self.n_items, self.means.shape[0]
        means = self.means * np.diff(self.user_indptr) / n_items
        variances = _above_rounding(self.norms**2 - n_items * means**2, self.norms)
        own_norms = norms_above(user_items, 0.0)
        own_means = row_means(user_items) * np.diff(user_items.indptr) / n_items
        own_variances = _above_rounding(own_norms**2 - n_items * own_means**2, own_norms)
        weights, common = np.empty(n_users), np.empty(n_users, dtype=np.int64)
        out = np.empty(user_items.shape)
        for row in range(user_items.shape[0]):
            own = slice(user_items.indptr[row], user_items.indptr[row + 1])
            items, ratings = user_items.indices[own].astype(np.int32), user_items.data[own].astype(np.float64)
            cosine_weights(items, ratings, *self._item_side, self.norms, 0.0, weights, common)
            covariances = weights * own_norms[row] * self.norms - n_items * own_means[row] * means
            sizes = np.sqrt(own_variances[row] * variances)
            correlations = np.divide(covariances, sizes, out=np.zeros(n_users), where=sizes > 0)
            if self.params.missing == "zero-common":
                negligible = NEGLIGIBLE_SHARE * self.scale.resolution
                departures = ratings - own_means[row]
                pearson_weights(items, departures, *self._item_side, means, negligible, weights, common)
                correlations = weights
            rounded = np.round(correlations, WEIGHT_DECIMALS)
            order = nearest(rounded, common)[: self.params.neighbours]
            # Missing ratings are 0 and not their user's mean, so nothing is taken from them; the means follow below.
            offsets = np.zeros(n_users)
            self._predict(order, rounded, offsets, out[row], is_among_raters=False, is_missing_zero=True)
            if self.params.prediction == "centred" and order.size:
                out[row] += own_means[row] - rounded[order] @ means[order] / np.abs(rounded[order]).sum()
        return self._silence(out, user_items)

    def _weigh(self, items: NDArray[np.int32], ratings: Floats, mean: float, weights: Floats, common: Integers) -> None:
        from recommenders.kernels.user_neighbours import pearson_weights

        negligible = NEGLIGIBLE_SHARE * self.scale.resolution
        pearson_weights(items, ratings - mean, *self._item_side, self.means, negligible, weights, common)


class UserKNNCosine(UserNeighbourhood):
    r"""User neighbourhood by cosine over what both like.

    .. math::
        p_{aj} = \kappa \sum_i w(a, i) v_{ij}, \qquad
        w(a, i) = \frac{\sum_{j \in I_a \cap I_i} v_{aj} v_{ij}}
                       {\sqrt{\sum_{j \in I_a} v_{aj}^2} \sqrt{\sum_{j \in I_i} v_{ij}^2}}, \qquad
        \kappa = \frac{1}{\sum_i w(a, i)}

    with :math:`I_u` the items that u rated above the scale's middle (in usage data, all that u used). The first sum is
    over the N nearest users of those who rated j, or over the N nearest of all; then neighbours who did not rate j are
    left out, or count with a rating of 0 and their weight in the divisor. Centred, ratings are taken from their users'
    means over all of their ratings and the person's own mean is added. Users of weight 0 are no neighbours. No score
    where there is no neighbour, except that with missing as 0 a rated item gets a 0. Source: Gunawardana & Shani
    (2009), JMLR 10:2935-2962, section 6.2.2, N = 25.

    Cost: as that of `UserKNNPearson`.

    Examples
    --------
    The first shares one of two likes, 4 of a length of 5, so weighs .8; the second weighs 1. Item 2 gets
    (.8 * 1 + 1 * 2) / 1.8.

    >>> from recommenders.data import Profiles, Ratings, Scale
    >>> scale = Scale(1, 4, 1)
    >>> users, items, values = [0, 0, 0, 1, 1], [0, 1, 2, 0, 2], [4, 3, 1, 3, 2]
    >>> ratings = Ratings.from_triples(users, items, values, n_users=2, n_items=3, scale=scale)
    >>> model = UserKNNCosine.fit(ratings, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [4], n_items=3, scale=scale)).round(3).tolist()
    [[3.444, 3.0, 1.556]]
    """

    key = "userknn-cosine"
    name = "UserCosine"
    title = "User neighbourhood by cosine (UserCosine)"
    version = 1

    @dataclass(frozen=True)
    class Params(UserNeighbourhoodParameters):
        prediction: str = parameter(
            "left-out",
            description=(
                "What is averaged: ratings, with missing ones left out; ratings, with missing ones counted as 0 "
                "(tells only with neighbours among all); or ratings less each neighbour's mean."
            ),
            choices=("left-out", "zero", "centred"),
        )

    @classmethod
    def _above(cls, scale: Scale) -> float:
        """Return the scale's middle; in usage data everything is positive."""
        # A scale of one point has no middle that anything lies above.
        return 0.0 if scale.low == scale.high else scale.middle

    def _weigh(self, items: NDArray[np.int32], ratings: Floats, mean: float, weights: Floats, common: Integers) -> None:
        from recommenders.kernels.user_neighbours import cosine_weights

        cosine_weights(items, ratings, *self._item_side, self.norms, self._above(self.scale), weights, common)


def _above_rounding(variances: Floats, norms: Floats) -> Floats:
    """Return sums of squared departures, those that are rounding error of the squared norms as 0."""
    return np.where(variances > NEGLIGIBLE_SHARE**2 * norms**2, variances, 0.0)
