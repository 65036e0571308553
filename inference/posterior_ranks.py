"""What posterior draws of both sides say on ranks: each rank, agreement on each pair, and Kendall's tau."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from inference.bootstrap import finite_means
from inference.order_bootstrap import RankProbabilities, TauDistribution, rank_distribution, tau_distribution
from inference.results import Undefined


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
