"""AsySVD: latent factors learned for items only, so that a person is what they have rated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy import sparse

from core.errors import ParameterError
from recommenders.base import Algorithm
from recommenders.baseline import RATINGS_AT_ONCE, Baseline
from recommenders.data import Floats, ItemFeatures, Ratings, Side
from recommenders.explanation import Explanation
from recommenders.holdout import draw_flags, split
from recommenders.parameters import Parameters, parameter
from recommenders.progress import Progress, blocks

# Ratings times factors between two reports: some tenths of a second.
BLOCK_STEPS = 100_000_000

Factors = tuple[Floats, Floats, Floats]


class AsySVD(Algorithm):
    r"""Asymmetric factor model learned by stochastic gradient descent on the squared error.

    .. math::
        \hat r_{ui} = b_{ui} + q_i^\top \Big( |R(u)|^{-1/2} \sum_{j \in R(u)} (r_{uj} - b_{uj}) x_j
                                            + |N(u)|^{-1/2} \sum_{j \in N(u)} y_j \Big)

    with :math:`N(u) = R(u)`, the items of the profile. The baseline is that of `Baseline`, mean and item offsets of all
    training ratings; it is not learned further. A share of the ratings, drawn from `rng`, is kept from the descent; it
    stops when their error has not fallen for `patience` epochs, and the factors of the best epoch are kept. (With a
    share that makes less than one rating, all epochs are run.) Items none of whose ratings took part have factors 0,
    that is, the baseline. No score for unrated items, nor for profiles that have none of the others. Predictions are
    not clipped to the scale. Source: Koren (2008), KDD, section 4, eq. 13, doi:10.1145/1401890.1401944. Deviations: the
    offsets are damped means instead of learned, and x and y are written once per user with the same result as once per
    rating.

    Cost: each epoch takes time proportional to ratings × factors; a profile costs (its length + items) × factors.

    Examples
    --------
    >>> from recommenders.data import Profiles, Scale
    >>> scale = Scale(1, 5, 1)
    >>> users, items, values = [0, 0, 1, 1], [0, 1, 0, 1], [5, 5, 1, 1]
    >>> ratings = Ratings.from_triples(users, items, values, n_users=2, n_items=2, scale=scale)
    >>> params = AsySVD.Params(factors=2, epochs=200, learning_rate=0.05, reg=0, held_out=0)
    >>> model = AsySVD.fit(ratings, params, rng=np.random.default_rng(1))
    >>> model.score(Profiles.of(ratings, [0, 1])).round(1).tolist()
    [[5.0, 5.0], [1.0, 1.0]]
    """

    key = "asysvd"
    name = "AsySVD"
    title = "Asymmetric singular value decomposition (AsySVD)"
    version = 1
    score_kind = "rating"
    is_slow = True
    rank_parameter = "factors"
    explains = True
    asks_numbers = True
    small = {"factors": 2, "epochs": 5}
    arrays = ("mean", "item_bias", "item_factors", "explicit_factors", "implicit_factors")
    preloaded = ("recommenders.kernels.asysvd",)

    @dataclass(frozen=True)
    class Params(Parameters):
        factors: int = parameter(50, description="Number of latent factors; at most min(users, items).", minimum=1)
        epochs: int = parameter(60, description="Passes over the ratings at most.", minimum=1)
        learning_rate: float = parameter(0.01, description="Length of a step, per unit of error.", minimum=1e-6)
        reg: float = parameter(0.02, description="Pull of all factors towards 0.", minimum=0.0)
        reg_item: float = parameter(25.0, description="Damping of the items' offsets, in ratings.", minimum=0.0)
        reg_user: float = parameter(10.0, description="Damping of a person's offset, in ratings.", minimum=0.0)
        held_out: float = parameter(
            0.05, description="Share of ratings that decides when to stop.", minimum=0.0, maximum=0.5
        )
        patience: int = parameter(5, description="Epochs without a smaller error on those before stopping.", minimum=1)
        spread: float = parameter(
            0.3, description="Length, about, of an item's vector of factors at the start.", minimum=1e-6
        )

    params: Params
    mean: Floats  # shape (1,)
    item_bias: Floats  # shape (n_items,)
    item_factors: Floats  # q, shape (n_items, factors)
    explicit_factors: Floats  # x, shape (n_items, factors)
    implicit_factors: Floats  # y, shape (n_items, factors)

    @classmethod
    def _fit(
        cls, ratings: Ratings, params: Params, features: ItemFeatures | None, rng: Generator, progress: Progress
    ) -> Self:
        baseline = Baseline.fit(ratings, reg_item=params.reg_item, reg_user=params.reg_user)
        progress(0.0, "Setting ratings aside that decide when to stop")
        training, aside = split(ratings.user_items, draw_flags(ratings.n_ratings, params.held_out, rng))
        # As for a stranger, a user's offset comes from the profile that is left.
        offsets = baseline.mean + baseline.user_bias(training)
        learned, held_out = (_side(part, offsets, baseline.item_bias) for part in (training, aside))
        del training, aside  # their ratings are not needed beside the residuals
        factors = (
            rng.normal(0.0, params.spread / np.sqrt(params.factors), (ratings.n_items, params.factors)),
            np.zeros((ratings.n_items, params.factors)),
            np.zeros((ratings.n_items, params.factors)),
        )
        (q, x, y), epochs = _descend(factors, learned, held_out, params, rng=rng, progress=progress)
        took_part = np.bincount(learned[1], minlength=ratings.n_items) > 0
        # Their random start was never moved by a rating, and would be noise on top of the baseline.
        q[~took_part] = 0.0
        model = cls._with(
            mean=np.array([baseline.mean]),
            item_bias=baseline.item_bias,
            item_factors=q,
            explicit_factors=x,
            implicit_factors=y,
        )
        model.n_epochs = epochs
        return model

    @classmethod
    def fit_bytes(cls, n_users: int, n_items: int, n_ratings: int, params: Params, **terms: int) -> int:
        """The residuals and what splitting them takes, the factors, and those of the best epoch so far."""
        return 45 * n_ratings + 24 * (n_users + n_items) + 50 * n_items * params.factors

    def _score(self, user_items: sparse.csr_array) -> Floats:
        baseline = Baseline(float(self.mean[0]), self.item_bias, self.params.reg_user)
        counts = np.diff(user_items.indptr)
        explicit = _like(user_items, baseline.residuals(user_items)) @ self.explicit_factors
        implicit = _like(user_items, np.ones(user_items.nnz)) @ self.implicit_factors
        folded = (explicit + implicit) / np.sqrt(np.maximum(counts, 1))[:, np.newaxis]
        scores = baseline.scores(user_items) + folded @ self.item_factors.T
        return self._silence(scores, user_items)

    def _explain(self, user_items: sparse.csr_array, item: int) -> Explanation:
        """Return what each rating, and that there is one, adds to the baseline."""
        baseline = Baseline(float(self.mean[0]), self.item_bias, self.params.reg_user)
        rated = user_items.indices
        residuals = baseline.residuals(user_items)[:, np.newaxis]
        moved = residuals * self.explicit_factors[rated] + self.implicit_factors[rated]
        contributions = moved @ self.item_factors[item] / np.sqrt(max(rated.size, 1))
        return Explanation.over(user_items, rated, contributions, offset=baseline.scores(user_items)[0, item])


def _like(user_items: sparse.csr_array, data: Floats) -> sparse.csr_array:
    return sparse.csr_array((data, user_items.indices, user_items.indptr), shape=user_items.shape)


def _side(user_items: sparse.csr_array, offsets: Floats, item_bias: Floats) -> Side:
    """Return residuals, and where they are; in few copies, because nothing else of a fit takes as much room."""
    residuals = np.repeat(offsets, np.diff(user_items.indptr))
    for first in range(0, residuals.size, RATINGS_AT_ONCE):
        some = slice(first, first + RATINGS_AT_ONCE)
        residuals[some] += item_bias[user_items.indices[some]]
    np.subtract(user_items.data, residuals, out=residuals)
    return user_items.indptr.astype(np.int64), user_items.indices.astype(np.int32, copy=False), residuals


def _descend(
    factors: Factors,
    learned: Side,
    held_out: Side,
    params: AsySVD.Params,
    *,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Factors, int]:
    """Run epochs until the held-out error stops falling; return the factors of the best one and its number."""
    from recommenders.kernels import asysvd as kernels

    best, best_epoch, lowest, waited = factors, params.epochs, np.inf, 0
    lengths = np.diff(learned[0])
    for epoch in range(1, params.epochs + 1):
        # Another order in every epoch: in a fixed one the last users would always have the last word.
        order = rng.permutation(learned[0].size - 1)
        with np.errstate(over="ignore", invalid="ignore"):  # divergence is told below, in words
            for start, stop, share in blocks(lengths[order] * params.factors, BLOCK_STEPS):
                progress((epoch - 1 + share) / params.epochs, f"Epoch {epoch} of at most {params.epochs}")
                kernels.descend(order[start:stop], *learned, *factors, params.learning_rate, params.reg)
            error = kernels.squared_error(*learned, *held_out, *factors)
        # The factors too: those of items without held-out ratings do not enter the error.
        if not (np.isfinite(error) and all(np.isfinite(array).all() for array in factors)):
            raise ParameterError(
                f"AsySVD diverged in epoch {epoch}: a learning rate of {params.learning_rate:g} is too "
                "large for these data. Try a smaller one."
            )
        if held_out[1].size == 0:
            continue
        if error < lowest:
            # Copied, as the descent changes them in place.
            best = (factors[0].copy(), factors[1].copy(), factors[2].copy())
            best_epoch, lowest, waited = epoch, error, 0
        else:
            waited += 1
            if waited == params.patience:
                break
    return best, best_epoch
