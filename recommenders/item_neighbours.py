"""The two item neighbourhoods of the study: CorNgr predicts ratings, NNCosNgr only orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from core.errors import ParameterError
from recommenders.base import Algorithm
from recommenders.baseline import Baseline
from recommenders.data import Floats, Integers, ItemFeatures, Ratings, Scale
from recommenders.data_limits import TrainingSize
from recommenders.explanation import Explanation
from recommenders.memory import co_rated_pairs, sums_bytes
from recommenders.parameters import Parameters, parameter
from recommenders.progress import Progress
from recommenders.ranking import LONGEST_SCANNED, TopN, listing
from recommenders.similarity import Neighbours, cosine_neighbours, pearson_neighbours

# Laying similarities out densely pays for this many profiles, where this share of all pairs are neighbours.
MANY, DENSE = 64, 0.3


@dataclass(frozen=True)
class NeighbourhoodParameters(Parameters):
    """Parameters that both neighbourhoods have."""

    neighbours: int = parameter(
        200, description="Number k of neighbours that a prediction draws on at most.", minimum=1
    )
    neighbourhood: str = parameter(
        "rated",
        description=(
            "Which k items are meant: the k most similar among those the person rated, "
            "or those the person rated among the k most similar of all."
        ),
        choices=("rated", "item"),
    )
    shrinkage: float = parameter(100.0, description="Shrinkage λ of similarities, in common raters.", minimum=0.0)
    reg_item: float = parameter(25.0, description="Damping of the items' offsets, in ratings.", minimum=0.0)
    reg_user: float = parameter(10.0, description="Damping of a person's offset, in ratings.", minimum=0.0)


class _ItemNeighbourhood(Algorithm):
    """What the two share: neighbours of every item, and the damped means that ratings are taken from."""

    arrays = ("neighbour_indptr", "neighbour_items", "neighbour_similarities", "mean", "item_bias")
    preloaded = (
        "recommenders.kernels.neighbours",
        "recommenders.kernels.nearest_rated",
        "recommenders.kernels.products",
        "recommenders.kernels.similarities",
    )
    explains = True
    is_mean: ClassVar[bool]  # whether the sum over neighbours is divided by the sum of their absolute similarities

    params: Any
    neighbour_indptr: Integers  # shape (n_items + 1,)
    neighbour_items: NDArray[np.int32]  # shape (n_pairs,)
    neighbour_similarities: Floats  # shape (n_pairs,)
    mean: Floats  # shape (1,)
    item_bias: Floats  # shape (n_items,)

    @classmethod
    def check(cls, params: Any, size: TrainingSize) -> None:
        """Refuse, besides, to keep the similarities of all pairs of more than `MOST_ITEMS` items."""
        super().check(params, size)
        if params.neighbourhood == "rated" and size.n_items > MOST_ITEMS:
            raise ParameterError(
                f"{cls.name} ({cls.key}): with neighbourhood=rated the similarities of all pairs of items are kept, "
                f"and {size.n_items:,} items have too many; the largest possible number of items is {MOST_ITEMS:,}. "
                "Choose neighbourhood=item, which keeps the k most similar items of each."
            )

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Any, **terms: int) -> int:
        """The sums of all pairs of items or of a block of them, and the pairs that are kept, sorted and joined.

        Kept are all pairs of items with common raters, unless only the nearest of each item are.
        """
        # A correlation takes two common raters.
        pairs = co_rated_pairs(n_users, n_items, n_ratings, at_least=2 if cls.is_mean else 1)
        if params.neighbourhood == "item":
            pairs = min(pairs, params.neighbours * n_items)
        return sums_bytes(n_items, n_ratings, 22) + 12 * pairs

    @classmethod
    def _holding(cls, neighbours: Neighbours, baseline: Baseline) -> Self:
        return cls._with(
            neighbour_indptr=neighbours.indptr,
            neighbour_items=neighbours.items,
            neighbour_similarities=neighbours.similarities,
            mean=np.array([baseline.mean]),
            item_bias=baseline.item_bias,
        )

    def _baseline(self) -> Baseline:
        return Baseline(float(self.mean[0]), self.item_bias, self.params.reg_user)

    def _score(self, user_items: sparse.csr_array) -> Floats:
        if self._are_ratings_summed:
            return self._sums(user_items, user_items.data.astype(np.float64))
        baseline = self._baseline()
        return self._sums(user_items, baseline.residuals(user_items)) + baseline.scores(user_items)

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation:
        if self._are_ratings_summed:
            return self._parts(user_items, user_items.data.astype(np.float64), item)
        baseline = self._baseline()
        parts = self._parts(user_items, baseline.residuals(user_items), item)
        return replace(parts, offset=float(baseline.scores(user_items)[0, item]))

    @property
    def _are_ratings_summed(self) -> bool:
        return getattr(self.params, "sum_of", "residuals") == "ratings"

    def _sums(self, user_items: sparse.csr_array, signals: Floats) -> Floats:
        """Sum similarity times signal over each item's neighbours in the profile; -inf where it has none."""
        from recommenders.kernels import neighbours as kernels
        from recommenders.kernels.nearest_rated import nearest_sums

        out = np.empty(user_items.shape)
        profiles = (
            user_items.indptr.astype(np.int64, copy=False),
            user_items.indices.astype(np.int32, copy=False),
            signals,
        )
        everyone = np.arange(user_items.shape[0])
        if self.params.neighbourhood == "item":
            # Every item has k neighbours at most: there is nothing to choose, and columns can be added up.
            kernels.scatter_sums(everyone, *profiles, *self._columns, self.is_mean, out)
            return out
        # Without a choice to make among the profile's items, whole rows of similarities, which are symmetric, can be.
        neighbours = self.neighbour_indptr, self.neighbour_items, self.neighbour_similarities
        k = self.params.neighbours
        is_alone = np.diff(user_items.indptr) <= k
        if len(everyone) >= MANY and len(self.neighbour_items) >= DENSE * self.n_items**2:
            is_alone[:] = False  # all in one company: the same sums, term by term
        kernels.scatter_sums(everyone[is_alone], *profiles, *neighbours, self.is_mean, out)
        if not is_alone.all():
            rows = everyone[~is_alone]
            nearest_sums(rows, *profiles, *neighbours, k, self.is_mean, out)
        return out

    def answer(self, items: ArrayLike, ratings: ArrayLike, scale: Scale, n: int) -> TopN:
        """As every algorithm's, in one compiled step where nothing has to be mapped or chosen."""
        array = np.asarray(items)
        # Anything unusual takes the general way, which also finds the words for what is wrong.
        if array.dtype.kind not in "iu" or array.ndim != 1 or array.size > self.params.neighbours:
            return super().answer(items, ratings, scale, n)
        if (scale is not self.scale and scale != self.scale) or not 1 <= n <= LONGEST_SCANNED:
            return super().answer(items, ratings, scale, n)
        columns, values = array.astype(np.int64), np.array(ratings, dtype=np.float32)  # copies, to be sorted in place
        listed, scores = np.empty((1, n), dtype=np.int64), np.empty((1, n))
        if values.shape != columns.shape or not self._compiled(columns, values, *self._constants, listed, scores):
            return super().answer(items, ratings, scale, n)  # which says what is wrong
        return listing(listed[0], scores[0])

    @cached_property
    def _compiled(self) -> Callable[..., bool]:
        """The compiled step, cached because importing it again takes a twentieth of an answer."""
        from recommenders.kernels.ranking import answer

        return answer

    @cached_property
    def _constants(self) -> tuple[Any, ...]:
        """What the compiled step needs besides the profile."""
        scale = self.scale
        whole = self.neighbour_indptr, self.neighbour_items, self.neighbour_similarities
        return (
            *(scale.low, scale.resolution, float(scale.codes(scale.high)), float(self.mean[0]), self.item_bias),
            *(self.params.reg_user, *(self._columns if self.params.neighbourhood == "item" else whole)),
            *(self.popularity, self.is_mean, self._are_ratings_summed),
        )

    @cached_property
    def _columns(self) -> tuple[Integers, NDArray[np.int32], Floats]:
        """For each item the items it is a neighbour of, made when first asked for and no part of the model's state."""
        rows = (self.neighbour_similarities, self.neighbour_items, self.neighbour_indptr)
        columns = sparse.csr_array(rows, shape=(self.n_items, self.n_items)).T.tocsr()
        return columns.indptr.astype(np.int64), columns.indices.astype(np.int32), columns.data

    def _parts(self, user_items: sparse.csr_array, signals: Floats, item: int) -> Explanation:
        """Return what each of the item's neighbours in the profile adds to a sum; the offset is left at 0."""
        pairs = slice(self.neighbour_indptr[item], self.neighbour_indptr[item + 1])
        rated = user_items.indices
        is_rated = np.isin(self.neighbour_items[pairs], rated)
        neighbours = self.neighbour_items[pairs][is_rated][: self.params.neighbours]  # most similar first
        weights = self.neighbour_similarities[pairs][is_rated][: self.params.neighbours]
        # Profiles are in order of item, so a search finds each neighbour's rating.
        contributions = weights * signals[np.searchsorted(rated, neighbours)]
        return Explanation.over(
            user_items, neighbours, contributions / np.abs(weights).sum() if self.is_mean else contributions
        )


# Memory for all pairs of neighbours grows with the square of the items: with so many it is 5 GB.
MOST_ITEMS = 20_000


def _n_stored(params: NeighbourhoodParameters) -> int | None:
    return params.neighbours if params.neighbourhood == "item" else None


class CorNgr(_ItemNeighbourhood):
    r"""Correlation neighbourhood: the baseline, corrected by how similar items departed from theirs.

    .. math::
        \hat r_{ui} = b_{ui} + \frac{\sum_{j \in D^k(u;i)} d_{ij} (r_{uj} - b_{uj})}
                                    {\sum_{j \in D^k(u;i)} |d_{ij}|}, \qquad
        d_{ij} = \frac{n_{ij}}{n_{ij} + \lambda} \rho_{ij}

    :math:`\rho_{ij}` is the Pearson correlation over common raters, :math:`D^k(u;i)` the k items that u rated most
    similar to i. Negative similarities make no neighbours, unless ``negative="keep"``: then such items come after all
    others, and ratings of them count in the opposite direction. No score where :math:`D^k(u;i)` is empty. Predictions
    are not clipped to the scale. Sources: Koren (2008), KDD, section 2.2, doi:10.1145/1401890.1401944; Cremonesi, Koren
    & Turrin (2010), RecSys, section 4, doi:10.1145/1864708.1864721.

    Cost: a fit visits every pair of ratings of each user, the sum over users of the square of their ratings; a profile
    costs the similarities of its items.

    Examples
    --------
    Two users who agree on items 0 and 1; the third rated only item 0, 2 points above what is usual.

    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> users, items, values = [0, 0, 1, 1], [0, 1, 0, 1], [1, 2, 5, 4]
    >>> ratings = Ratings.from_triples(users, items, values, n_users=2, n_items=2, scale=scale)
    >>> params = CorNgr.Params(shrinkage=0, reg_item=0, reg_user=1)
    >>> model = CorNgr.fit(ratings, params, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [5], n_items=2, scale=scale)).tolist()
    [[-inf, 5.0]]
    """

    key = "corngr"
    name = "CorNgr"
    title = "Correlation neighbourhood (CorNgr)"
    version = 1
    score_kind = "rating"
    is_mean = True

    @dataclass(frozen=True)
    class Params(NeighbourhoodParameters):
        correlate: str = parameter(
            "ratings",
            description="What is correlated: the raw ratings, or what is left of them after the baseline.",
            choices=("ratings", "residuals"),
        )
        negative: str = parameter(
            "drop",
            description="Whether items with a negative correlation are neighbours: drop them, or keep them.",
            choices=("drop", "keep"),
            is_added=True,
        )

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        baseline = Baseline.fit(ratings, reg_item=params.reg_item, reg_user=params.reg_user)
        if params.correlate == "ratings":
            codes = ratings.scale.codes(ratings.user_items.data)
            values = np.rint(codes) if ratings.scale.step else codes
        else:
            values = baseline.residuals(ratings.user_items)
        neighbours = pearson_neighbours(
            ratings,
            values,
            shrinkage=params.shrinkage,
            keep=_n_stored(params),
            is_signed=params.negative == "keep",
            progress=progress,
        )
        return cls._holding(neighbours, baseline)


class NNCosNgr(_ItemNeighbourhood):
    r"""Non-normalised cosine neighbourhood: like CorNgr, but many similar items count for more than few.

    .. math:: \hat r_{ui} = b_{ui} + \sum_{j \in D^k(u;i)} d_{ij} (r_{uj} - b_{uj}), \qquad
              d_{ij} = \frac{n_{ij}}{n_{ij} + \lambda} \cos(i, j)

    The cosine is of raw ratings over all users, missing ones as 0. With ``sum_of="ratings"`` the baseline is left out
    and the ratings themselves are summed, :math:`\sum_j d_{ij} r_{uj}`, as the INTERACT paper words it. Not normalised,
    so the numbers are no ratings, only an order. No score where :math:`D^k(u;i)` is empty. Sources: Cremonesi, Koren &
    Turrin (2010), RecSys, section 4, doi:10.1145/1864708.1864721; Cremonesi et al. (2011), INTERACT, section 3,
    doi:10.1007/978-3-642-23765-2_11.

    Cost: as that of `CorNgr`.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> ratings = Ratings.from_triples([0, 0], [0, 1], [3, 4], n_users=1, n_items=2, scale=scale)
    >>> params = NNCosNgr.Params(shrinkage=1, sum_of="ratings")
    >>> model = NNCosNgr.fit(ratings, params, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [5], n_items=2, scale=scale)).tolist()
    [[-inf, 2.5]]
    """

    key = "nncosngr"
    name = "NNCosNgr"
    title = "Non-normalised cosine neighbourhood (NNCosNgr)"
    version = 1
    score_kind = "order"
    is_mean = False

    @dataclass(frozen=True)
    class Params(NeighbourhoodParameters):
        sum_of: str = parameter(
            "residuals",
            description="What is summed over the neighbours: ratings less the baseline, or ratings alone.",
            choices=("residuals", "ratings"),
        )

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        baseline = Baseline.fit(ratings, reg_item=params.reg_item, reg_user=params.reg_user)
        neighbours = cosine_neighbours(ratings, shrinkage=params.shrinkage, keep=_n_stored(params), progress=progress)
        return cls._holding(neighbours, baseline)
