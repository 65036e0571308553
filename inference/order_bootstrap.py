"""Uncertainty of rankings: ranks and Kendall's tau over bootstrap resamples or posterior draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from inference.bootstrap import finite_means, percentile_intervals
from inference.results import Undefined


@dataclass(frozen=True)
class RankProbabilities:
    """How often each condition or algorithm comes at each rank."""

    names: tuple[str, ...]  # in the order of the columns
    # Row = condition, column = rank from the best; rows and columns sum to 1. A tie shares its ranks.
    probabilities: tuple[tuple[float, ...], ...]
    mean_ranks: tuple[float, ...]  # mean rank of each condition, 1 for the best
    resamples: int  # resamples counted

    def best(self) -> dict[str, float]:
        """Probability of each condition to be the best."""
        return {name: row[0] for name, row in zip(self.names, self.probabilities, strict=True)}


def rank_distribution(means: ArrayLike, names: Sequence[str]) -> RankProbabilities:
    """Count the ranks of every column of `means`, shape (resamples, k), over the resamples; rank 1 goes to the largest
    mean. Raises DataError as `finite_means`.

    Examples
    --------
    >>> rank_distribution([[2.0, 1.0], [1.0, 1.0]], ["A", "B"]).best()
    {'A': 0.75, 'B': 0.25}
    """
    array = finite_means(means)
    resamples, k = array.shape
    above = (array[:, None, :] > array[:, :, None]).sum(axis=2)
    tied = (array[:, None, :] == array[:, :, None]).sum(axis=2)
    ranks = np.arange(k)
    # A tie of t at place r takes the ranks r to r + t - 1, each with probability 1 / t.
    takes = (ranks >= above[:, :, None]) & (ranks < (above + tied)[:, :, None])
    shares = (takes / tied[:, :, None]).sum(axis=0) / resamples
    return RankProbabilities(
        names=tuple(names),
        probabilities=tuple(tuple(row) for row in shares.tolist()),
        mean_ranks=tuple((1 + above + (tied - 1) / 2).mean(axis=0).tolist()),
        resamples=resamples,
    )


@dataclass(frozen=True)
class TauDistribution:
    """Kendall's tau-b between two measures, resample by resample.

    It shrinks toward 0 against the tau of the data, because resampling adds noise to both rankings.
    """

    # `mean`, `median`: over the resamples in which tau is defined.
    mean: float
    median: float
    # `ci_low`, `ci_high`: 95 % percentile interval.
    ci_low: float
    ci_high: float
    share_positive: float  # share of resamples with tau above 0


def tau_distribution(x_means: ArrayLike, y_means: ArrayLike) -> TauDistribution | Undefined:
    """Kendall's tau-b of two sets of resampled means, row by row.

    They come from two independent bootstraps of the same k conditions in one order, shape (resamples, k). Undefined
    when tau cannot be computed in any resample (always so for k < 2). Raises DataError as `finite_means`. Source:
    Kendall (1945), Biometrika 33(3):239-251.

    Examples
    --------
    >>> tau_distribution([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [1, 3, 2]]).mean.__round__(4)
    0.6667
    """
    x, y = finite_means(x_means), finite_means(y_means)
    first, second = np.triu_indices(x.shape[1], 1)
    of_x, of_y = np.sign(x[:, second] - x[:, first]), np.sign(y[:, second] - y[:, first])
    scale = np.count_nonzero(of_x, axis=1) * np.count_nonzero(of_y, axis=1)
    is_defined = scale > 0
    if not is_defined.any():
        return Undefined("In every resample one measure is constant: tau cannot be computed.")
    taus = (of_x * of_y).sum(axis=1)[is_defined] / np.sqrt(scale[is_defined])
    (interval,) = percentile_intervals(taus[:, None])
    return TauDistribution(
        mean=float(taus.mean()),
        median=float(np.median(taus)),
        ci_low=interval.low,
        ci_high=interval.high,
        share_positive=float(np.count_nonzero(taus > 0) / taus.size),
    )


@dataclass(frozen=True)
class PairAgreement:
    """Two conditions, by the posteriors of both sides."""

    a: str
    b: str
    perceived: float  # probability that `a` is better on the perceived side
    objective: float  # the same on the objective side
    agree: float  # probability that both sides order the two alike


@dataclass(frozen=True)
class PosteriorRanks:
    """Ranks of the conditions on both sides and their agreement."""

    perceived: RankProbabilities
    objective: RankProbabilities
    pairs: tuple[PairAgreement, ...]
    tau: TauDistribution  # over draws of both sides, so uncertain on both


def posterior_ranks(
    perceived: ArrayLike, objective: ArrayLike, names: Sequence[str], *, rng: np.random.Generator
) -> PosteriorRanks | Undefined:
    """Summarise independent draws of both sides, shapes (n_perceived, k) and (n_objective, k), larger is better.

    The sides are independent, so the probability of agreement on a pair follows from the two probabilities of order;
    for tau the draws of the objective side are paired with those of the other at random. Undefined for fewer than two
    conditions. Raises DataError as `finite_means`.

    Examples
    --------
    >>> found = posterior_ranks([[2, 1], [2, 1]], [[2, 1], [1, 2]], ["A", "B"], rng=np.random.default_rng(1))
    >>> found.pairs[0].agree, found.tau.mean
    (0.5, 0.0)
    """
    x, y = finite_means(perceived), finite_means(objective)
    if len(names) < 2:
        return Undefined("Fewer than two algorithms have both measures.")
    n = min(len(x), len(y))
    tau = tau_distribution(rng.permutation(x)[:n], rng.permutation(y)[:n])
    if isinstance(tau, Undefined):
        return tau
    pairs = []
    for a, b in combinations(range(len(names)), 2):
        # Shares of draws in which the first is above the second, with half of the ties.
        above, over = (float(np.mean(of[:, a] > of[:, b]) + np.mean(of[:, a] >= of[:, b])) / 2 for of in (x, y))
        agree = above * over + (1 - above) * (1 - over)
        pairs.append(PairAgreement(names[a], names[b], perceived=above, objective=over, agree=agree))
    return PosteriorRanks(rank_distribution(x, names), rank_distribution(y, names), tuple(pairs), tau)
