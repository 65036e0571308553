"""Item to item: how often those who liked one item also liked another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from recommenders.base import Algorithm
from recommenders.data import Floats, Integers, ItemFeatures, Ratings
from recommenders.explanation import Explanation, How
from recommenders.memory import binary_bytes, co_rated_pairs, sums_bytes
from recommenders.parameters import Parameters, parameter
from recommenders.positives import positive_from_parameter, positives
from recommenders.products import common_raters
from recommenders.progress import Progress


class ItemItem(Algorithm):
    r"""Conditional probabilities of items on binary data, brought together over what the profile likes.

    With :math:`J_j` the people who liked item j in training,

    .. math:: \mathrm{pr}(j \mid l) = \frac{|J_j \cap J_l|}{|J_l|}, \qquad
        \mathrm{score}_{uj} = \max_l \mathrm{pr}(j \mid l), \quad \sum_l \mathrm{pr}(j \mid l)
        \quad\text{or}\quad 1 - \prod_l (1 - \mathrm{pr}(j \mid l))

    over the items :math:`l \neq j` that the profile likes; the noisy-or takes them for independent causes. No score for
    an item that no user liked together with any of them. Sources: Gunawardana & Shani (2009), JMLR 10:2935-2962,
    section 6.2.3 (the maximum); Kadie, Meek & Heckerman (2002), UAI, for the comparison of ways to bring them together.

    Cost: a fit visits every pair of likes of each user, the sum over users of the square of their likes; a profile
    costs the pairs of its items.

    Examples
    --------
    Two of the three who liked item 0 liked item 1 too.

    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1, 1, 2], [0, 1, 0, 1, 0], [1] * 5, n_users=3, n_items=2, scale=used)
    >>> model = ItemItem.fit(ratings, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [1], n_items=2, scale=used)).round(3).tolist()
    [[-inf, 0.667]]
    """

    key = "itemitem"
    name = "ItemItem"
    title = "Conditional probability item to item (ItemItem)"
    version = 1
    score_kind = "order"
    explains = True
    arrays = ("indptr", "items", "common", "counts")
    preloaded = ("recommenders.kernels.association", "recommenders.kernels.products")

    @dataclass(frozen=True)
    class Params(Parameters):
        positive_from: float = positive_from_parameter()
        aggregate: str = parameter(
            "max",
            description="How probabilities given each of the profile's items are brought together.",
            choices=("max", "sum", "noisy-or"),
        )

    params: Params
    indptr: Integers  # shape (n_items + 1,), where the pairs of each given item begin and end
    items: NDArray[np.int32]  # shape (n_pairs,), the items liked together with it, by number
    common: NDArray[np.int32]  # shape (n_pairs,), by how many people
    counts: Integers  # shape (n_items,), people who liked each item

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        positive = positives(ratings.user_items, ratings.scale, params.positive_from)
        counts = np.bincount(positive.indices, minlength=ratings.n_items).astype(np.int64)
        indptr, items, common = common_raters(positive, progress)
        return cls._with(indptr=indptr, items=items, common=common, counts=counts)

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Any, **terms: int) -> int:
        """The positive ratings, the counts of all pairs or of a block of them, and the pairs: as found, and joined."""
        pairs = co_rated_pairs(n_users, n_items, n_ratings)
        return binary_bytes(n_users, n_ratings) + sums_bytes(n_items, n_ratings, 8) + 16 * pairs

    def _score(self, user_items: sparse.csr_array) -> Floats:
        from recommenders.kernels import association as kernels

        how = {"max": kernels.LARGEST, "sum": kernels.TOTAL, "noisy-or": kernels.NOISY_OR}[self.params.aggregate]
        positive = positives(user_items, self.scale, self.params.positive_from)
        out = np.empty(user_items.shape)
        profile = (positive.indptr.astype(np.int64, copy=False), positive.indices.astype(np.int32, copy=False))
        kernels.aggregate(*profile, self.indptr, self.items, self.common, self.counts, how, out)
        return out

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation:
        liked = positives(user_items, self.scale, self.params.positive_from).indices
        shares = np.zeros(liked.size)
        for at, rated_item in enumerate(liked):
            pairs = slice(self.indptr[rated_item], self.indptr[rated_item + 1])
            position = np.searchsorted(self.items[pairs], item)  # a given item's pairs are in the order of numbers
            if position < self.items[pairs].size and self.items[pairs][position] == item:
                shares[at] = self.common[pairs][position] / self.counts[rated_item]
        return Explanation.over(user_items, liked, shares, how=cast(How, self.params.aggregate))

    def highest(self, user_items: sparse.csr_array) -> Floats:
        """The highest score that each profile could give any item, shape (n_profiles,): 1 for a probability,
        the number of items the profile likes for a sum of them.
        """
        if self.params.aggregate != "sum":
            return np.ones(user_items.shape[0])
        counts = np.diff(positives(user_items, self.scale, self.params.positive_from).indptr)
        return np.asarray(counts.astype(np.float64))
