"""Algorithms as the library implicit learns them: alternating least squares, pairwise ranking, cosines of items."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from recommenders.base import Algorithm
from recommenders.data import Flags, Floats, Integers, ItemFeatures, Ratings
from recommenders.ials import gram_of, solve
from recommenders.memory import binary_bytes
from recommenders.parameters import Parameters, parameter
from recommenders.positives import liked_items, positive_from_parameter, positives
from recommenders.progress import Progress

TESTED_VERSION = "0.7.3"


def is_installed() -> bool:
    """Whether the library could be imported; nothing of it is.

    Only a fit imports it. Profiles are scored from the stored arrays here, with the equations of the library.
    """
    if "implicit" in sys.modules:
        return sys.modules["implicit"] is not None
    return find_spec("implicit") is not None


def int32_matrix(matrix: sparse.csr_array) -> sparse.csr_matrix:
    """The same matrix as the library's compiled loops take it: float32 values, int32 indices, ``csr_matrix``."""
    arrays: tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]] = (
        matrix.data.astype(np.float32),
        matrix.indices.astype(np.int32),
        matrix.indptr.astype(np.int32),
    )
    return sparse.csr_matrix(arrays, shape=matrix.shape)


def by_epochs(progress: Progress, epochs: int) -> Callable[..., None]:
    """What the library is to call after each epoch: it tells of the next one, or stops the fit."""

    def report(epoch: int, *rest: object) -> None:
        progress((epoch + 1) / epochs, f"Epoch {min(epoch + 2, epochs)} of {epochs}")

    return report


class ImplicitALS(Algorithm):
    r"""``implicit.als.AlternatingLeastSquares``: binary data with confidences, by conjugate gradients.

    The criterion is that of the key ``ials``: a like has confidence :math:`1 + \alpha`, an absence 1. The library
    learns in float32, by three steps of conjugate gradients a sweep, from factors drawn at random, on one thread. A
    profile is folded in by solving for its factors exactly, as the library's ``recalculate_user`` does. No score for
    items without likes, nor for profiles that like none of the others. Sources: Hu, Koren & Volinsky (2008), ICDM,
    equations 3 to 5, doi:10.1109/ICDM.2008.22; Takács, Pilászy & Tikk (2011), RecSys, doi:10.1145/2043932.2043987, for
    the conjugate gradients. Defaults are the library's, save that its α is stated as 1 + α and is 1 there.

    Cost: each sweep takes time proportional to (likes + users + items) × factors, three times over, and factors² for
    each user and item.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 2, 3], [1] * 4, n_users=2, n_items=4, scale=used)
    >>> params = ImplicitALS.Params(factors=2, alpha=40)
    >>> model = ImplicitALS.fit(ratings, params, rng=np.random.default_rng(0))
    >>> best = model.score(Profiles.single([0], [1], n_items=4, scale=used))[0]
    >>> bool(best[1] > 0.9 and abs(best[2:]).max() < 0.1)
    True
    """

    key = "implicit-als"
    name = "implicit iALS"
    title = "Implicit alternating least squares of the library implicit (implicit iALS)"
    version = 1
    libraries = ("implicit",)
    preloaded = ("implicit.als",)
    score_kind = "order"
    rank_parameter = "factors"
    asks_numbers = True
    small = {"factors": 2, "alpha": 40.0}
    arrays = ("item_factors", "is_liked")

    @dataclass(frozen=True)
    class Params(Parameters):
        positive_from: float = positive_from_parameter()
        factors: int = parameter(100, description="Number of latent factors; at most min(users, items).", minimum=1)
        alpha: float = parameter(0.0, description="Confidence α that a like adds to that of an absence.", minimum=0.0)
        reg: float = parameter(0.01, description="Pull λ of all factors towards 0.", minimum=1e-6)
        epochs: int = parameter(15, description="Times that both sides are solved for.", minimum=1)

    params: Params
    item_factors: NDArray[np.float32]  # shape (n_items, factors); as the library learned them
    is_liked: Flags  # shape (n_items,); whether the item has any like

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        from implicit.als import AlternatingLeastSquares

        liked = positives(ratings.user_items, ratings.scale, params.positive_from)
        # The library asks for one BLAS thread beside its own, and warns of more.
        with threadpool_limits(limits=1, user_api="blas"):
            learner = AlternatingLeastSquares(
                factors=params.factors,
                alpha=1.0 + params.alpha,
                regularization=params.reg,
                iterations=params.epochs,
                num_threads=1,
                random_state=int(rng.integers(2**31)),
            )
            learner.fit(int32_matrix(liked), show_progress=False, callback=by_epochs(progress, params.epochs))
        is_liked = liked_items(liked)
        return cls._with(item_factors=learner.item_factors, is_liked=is_liked)

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Params, **terms: int) -> int:
        """The likes from both sides, and both sides' factors."""
        return binary_bytes(n_users, n_ratings) + 24 * n_ratings + 8 * params.factors * (n_users + n_items)

    def _score(self, user_items: sparse.csr_array) -> Floats:
        profiles = positives(user_items, self.scale, self.params.positive_from)
        items = self.item_factors.astype(np.float64)
        folded = solve(profiles, items, gram_of(items, self.params.reg), self.params.alpha)
        return self._silence(folded @ items.T, profiles, self.is_liked)


# Items that a stranger's likes are held against, drawn once a model. On MovieLens latest-small, scores of training
# users by folding in correlate at .987 with those by their learned vectors, at 250 draws .983, with all items .990.
DRAWS = 500
# Steps a profile's path is cut into; at 8, 16 and 32 the same correlation is .987.
STEPS = 8


class ImplicitBPR(Algorithm):
    r"""``implicit.bpr.BayesianPersonalizedRanking``: pairs of a liked and another item, put in order.

    The library maximises, by stochastic gradient ascent on one thread,

    .. math:: \sum_{(u, i, j)} \ln \sigma(s_{ui} - s_{uj}) - \text{penalties}, \qquad s_{ui} = p_u^\top q_i + b_i

    over likes (u, i) and items j that u does not like, drawn in proportion to their likes. It has no fold-in of its
    own: a person outside the training data has no vector. Ours lets the stranger's p walk the path that training would
    lead it on average, with all q and b frozen (see `fold_in`); training users are scored through the same door, not by
    their learned vectors, so the two differ by the chance in these. No score for items without likes, nor for profiles
    that like none of the others. Source: Rendle, Freudenthaler, Gantner & Schmidt-Thieme (2009), UAI, section 4
    (learning algorithm LearnBPR). The biases, the draws by popularity and the defaults are the library's.

    Cost: each epoch takes time proportional to likes × factors.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1, 1], [0, 1, 2, 3], [1] * 4, n_users=2, n_items=4, scale=used)
    >>> model = ImplicitBPR.fit(ratings, ImplicitBPR.Params(factors=2, epochs=2000), rng=np.random.default_rng(0))
    >>> scores = model.score(Profiles.single([0], [1], n_items=4, scale=used))[0]
    >>> bool(scores[1] > scores[2:].max() + 1)
    True
    """

    key = "implicit-bpr"
    name = "implicit BPR"
    title = "Bayesian personalised ranking of the library implicit (implicit BPR)"
    version = 1
    libraries = ("implicit",)
    preloaded = ("implicit.bpr",)
    score_kind = "order"
    rank_parameter = "factors"
    asks_numbers = True
    small = {"factors": 2, "epochs": 1000}
    arrays = ("item_factors", "item_bias", "is_liked", "opponents", "opponent_weights")

    @dataclass(frozen=True)
    class Params(Parameters):
        positive_from: float = positive_from_parameter()
        factors: int = parameter(100, description="Number of latent factors; at most min(users, items).", minimum=1)
        learning_rate: float = parameter(0.01, description="Step of the descent.", minimum=1e-6, maximum=1.0)
        reg: float = parameter(0.01, description="Pull of factors and biases towards 0.", minimum=1e-6)
        epochs: int = parameter(100, description="Passes, each of as many draws as there are likes.", minimum=1)

    params: Params
    item_factors: NDArray[np.float32]  # q, shape (n_items, factors)
    item_bias: NDArray[np.float32]  # b, shape (n_items,)
    is_liked: Flags  # shape (n_items,), whether the item has any like
    opponents: Integers  # shape (m,), the items drawn, rising
    opponent_weights: Floats  # shape (m,), how often each was

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        from implicit.bpr import BayesianPersonalizedRanking

        liked = positives(ratings.user_items, ratings.scale, params.positive_from)
        learned = np.zeros((ratings.n_items, params.factors + 1), dtype=np.float32)
        if liked.nnz:  # the library draws among likes, and needs one
            learner = BayesianPersonalizedRanking(
                factors=params.factors,
                learning_rate=params.learning_rate,
                regularization=params.reg,
                iterations=params.epochs,
                num_threads=1,
                random_state=int(rng.integers(2**31)),
            )
            learner.fit(int32_matrix(liked), show_progress=False, callback=by_epochs(progress, params.epochs))
            learned = learner.item_factors
        sampled = rng.choice(liked.indices, DRAWS) if liked.nnz else liked.indices
        opponents, counts = np.unique(sampled, return_counts=True)
        return cls._with(
            item_factors=np.ascontiguousarray(learned[:, :-1]),
            item_bias=np.ascontiguousarray(learned[:, -1]),
            is_liked=liked_items(liked),
            opponents=opponents.astype(np.int64),
            opponent_weights=counts.astype(np.float64),
        )

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Params, **terms: int) -> int:
        """The likes, and both sides' factors."""
        return binary_bytes(n_users, n_ratings) + 24 * n_ratings + 8 * (params.factors + 1) * (n_users + n_items)

    def _score(self, user_items: sparse.csr_array) -> Floats:
        profiles = positives(user_items, self.scale, self.params.positive_from)
        factors, bias = self.item_factors.astype(np.float64), self.item_bias.astype(np.float64)
        folded = np.zeros((profiles.shape[0], factors.shape[1]))
        for row in range(profiles.shape[0]):
            own = profiles.indices[profiles.indptr[row] : profiles.indptr[row + 1]]
            own = own[self.is_liked[own]]
            is_other = ~np.isin(self.opponents, own)
            if own.size and is_other.any():
                opponents, weights = self.opponents[is_other], self.opponent_weights[is_other]
                folded[row] = fold_in(
                    factors[own],
                    factors[opponents],
                    bias[own][:, np.newaxis] - bias[opponents],
                    weights / (own.size * weights.sum()),
                    reg=self.params.reg,
                    duration=self.params.epochs * self.params.learning_rate * own.size,
                )
        return self._silence(folded @ factors.T + bias, profiles, self.is_liked)


def fold_in(own: Floats, opponents: Floats, lead: Floats, weights: Floats, *, reg: float, duration: float) -> Floats:
    r"""The vector of a stranger, led from 0 by the expected steps of training while the items stand still.

    Training gives a person as many steps an epoch as they have likes, each on average

    .. math:: \Delta p = \eta\, g(p), \qquad
        g(p) = \sum_{i, j} w_j\, \sigma(-d_{ij})(q_i - q_j) - \lambda p, \qquad d_{ij} = p^\top (q_i - q_j) + b_i - b_j

    So p follows :math:`\dot p = g(p)` for the time epochs · η · likes: someone with five likes is led less far than
    someone with a hundred, as in training. The path is cut into 8 steps whose ends stand at the squares of 1/8, 2/8, …
    of the time, each linearly implicit, :math:`p \leftarrow p + (I/h - g'(p))^{-1} g(p)`, which is stable for any
    length of step: g is the gradient of a concave function, whose maximum is where long paths end. Returns a float64
    array, shape (factors,).

    `own`: float array, shape (n_own, factors); q of the items liked, at least one. `opponents`: float array, shape (m,
    factors); q of the items these are held against, at least one. `lead`: float array, shape (n_own, m); :math:`b_i -
    b_j`. `weights`: float array, shape (m,); :math:`w_j`, the share of each pair; times n_own they sum to 1. `reg`: λ >
    0. `duration`: time, > 0.

    Examples
    --------
    One factor, one pair. The maximum is where σ(−2p) · 2 = p: the long path ends there.

    >>> own, opponents = np.array([[1.0]]), np.array([[-1.0]])
    >>> at = fold_in(own, opponents, np.zeros((1, 1)), np.ones(1), reg=1.0, duration=1e9)[0]
    >>> round(float(2 / (1 + np.exp(2 * at)) - at), 9)
    0.0
    """
    vector = np.zeros(own.shape[1])
    identity = np.eye(own.shape[1])
    ends = duration * (np.arange(STEPS + 1) / STEPS) ** 2
    for step in np.diff(ends):
        wrong = 1.0 / (1.0 + np.exp(np.clip((own @ vector)[:, np.newaxis] - opponents @ vector + lead, -500.0, 500.0)))
        pull = wrong * weights
        bend = pull * (1.0 - wrong)
        gradient = pull.sum(axis=1) @ own - pull.sum(axis=0) @ opponents - reg * vector
        crossed = own.T @ (bend @ opponents)
        curvature = (
            (own.T * bend.sum(axis=1)) @ own + (opponents.T * bend.sum(axis=0)) @ opponents - crossed - crossed.T
        )
        vector = vector + np.linalg.solve(curvature + (reg + 1.0 / step) * identity, gradient)
    return vector


class ImplicitCosine(Algorithm):
    r"""``implicit.nearest_neighbours.CosineRecommender``: cosines of binary item vectors, k kept per item.

    .. math:: \mathrm{score}_{ui} = \sum_{j \in u,\ i \in N_k(j)} \cos(i, j)

    where :math:`N_k(j)` are the k items most like j, itself among them. So a score of 0, no neighbour among those kept,
    is no score; nor is there one for items without likes. Sources: Deshpande & Karypis (2004), TOIS 22(1):143-177,
    doi:10.1145/963770.963776, for item-based top-N lists; the default k = 20 is the library's.

    Cost: a fit visits every pair of likes of each user; a profile costs its length × k.

    Examples
    --------
    Two people like the first item, one of them the second as well: cosine 1 / √2.

    >>> from recommenders.data import Profiles, Scale
    >>> used = Scale(1, 1, 1)
    >>> ratings = Ratings.from_triples([0, 0, 1], [0, 1, 0], [1] * 3, n_users=2, n_items=3, scale=used)
    >>> model = ImplicitCosine.fit(ratings, rng=np.random.default_rng(0))
    >>> model.score(Profiles.single([0], [1], n_items=3, scale=used)).round(4).tolist()
    [[1.0, 0.7071, -inf]]
    """

    key = "implicit-cosine"
    name = "implicit cosine"
    title = "Item-item cosine of the library implicit (implicit cosine)"
    version = 1
    libraries = ("implicit",)
    preloaded = ("implicit.nearest_neighbours",)
    score_kind = "order"
    arrays = ("indptr", "indices", "similarities", "is_liked")

    @dataclass(frozen=True)
    class Params(Parameters):
        positive_from: float = positive_from_parameter()
        neighbours: int = parameter(20, description="Number of neighbours kept per item, itself included.", minimum=1)

    params: Params
    indptr: Integers  # shape (n_items + 1,); with the next two the matrix of kept cosines, one row an item
    indices: NDArray[np.int32]
    similarities: Floats
    is_liked: Flags  # shape (n_items,), whether the item has any like

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        from implicit.nearest_neighbours import CosineRecommender

        liked = positives(ratings.user_items, ratings.scale, params.positive_from)
        progress(0.1, f"Comparing {ratings.n_items:,} items, which the library does without a break")
        learner = CosineRecommender(K=params.neighbours, num_threads=1)
        with warnings.catch_warnings():
            # The library's own normalised matrix is in a form that the library warns of.
            warnings.filterwarnings("ignore", message="Method expects CSR input")
            learner.fit(int32_matrix(liked), show_progress=False)
        similarities = sparse.csr_array(learner.similarity).sorted_indices()
        return cls._with(
            indptr=similarities.indptr.astype(np.int64),
            indices=similarities.indices.astype(np.int32),
            similarities=similarities.data.astype(np.float64),
            is_liked=liked_items(liked),
        )

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Params, **terms: int) -> int:
        """The likes from both sides, and the neighbours kept."""
        return binary_bytes(n_users, n_ratings) + 36 * n_ratings + 48 * n_items * min(params.neighbours, n_items)

    def _score(self, user_items: sparse.csr_array) -> Floats:
        profiles = positives(user_items, self.scale, self.params.positive_from)
        similarities = sparse.csr_array(
            (self.similarities, self.indices, self.indptr), shape=(self.n_items, self.n_items)
        )
        scores = (profiles @ similarities).toarray()
        scores[scores <= 0.0] = -np.inf
        return self._silence(scores, profiles, self.is_liked)
