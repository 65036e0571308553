"""Half-life utility: the utility of the whole list, with a viewing probability that halves every few ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.ranks import Floats, Ints, Ranks


@dataclass(frozen=True, eq=False)
class HalfLife:
    """Half-life utility of lists."""

    # Sum of users' utilities over the sum of their best ones, in [0, 1]; None where no user has any.
    value: float | None
    # Shape (n_users,); each user's utility as a share of their best one; NaN for users without an item of positive
    # utility.
    user_values: Floats
    # `utilities`, `best`: shape (n_users,); R and R^max, in the unit of the utility.
    utilities: Floats
    best: Floats


def half_life(ranks: Ranks, *, alpha: float = 5.0, default: float = 0.0, viewed: Floats | None = None) -> HalfLife:
    r"""Half-life utility of each user's list, and of all together.

    .. math:: R_a = \sum_j p_j \max(u(a, j) - d, 0), \quad p_j = 2^{-(j-1)/(\alpha-1)}, \quad
              R = \frac{\sum_a R_a}{\sum_a R_a^{\max}}

    Returns the overall value, and each user's share, utility and best utility, shape (n_users,). Without an item of
    positive utility a share is NaN, and the overall value None. Sources: Breese, Heckerman & Kadie (1998), UAI, section
    3.1; Gunawardana & Shani (2009), JMLR 10, section 5.3, which also names known probabilities in place of the
    exponential decay.

    `ranks`: ranks of the user's test items in the whole list, with u as their gains (1 for all: binary; a rating, with
    `default`; a profit). Unlisted items add nothing. `alpha`: the rank that is viewed with probability one half, > 1.
    `default`: d, the rating up to which an item has no utility. `viewed`: float array, shape (n_ranks,), as
    `evaluation.metrics.viewing.probabilities` checks it; p_j where these are known, in place of `alpha`; later ranks
    are not viewed.

    Examples
    --------
    >>> half_life(Ranks.of([0, 0], [1, 5], n_listed=[9]), alpha=5.0).utilities.tolist()
    [1.5]
    """
    users, positions, gains, _ = ranks.hits
    sums = np.bincount(
        users, _viewing_probability(positions, alpha, viewed) * np.maximum(gains - default, 0), minlength=ranks.n_users
    )
    # Subtracting d preserves the order of gains; items whose gain becomes 0 rank last.
    best_gains, best_positions = ranks.best
    best_utilities = _viewing_probability(best_positions, alpha, viewed) * np.maximum(best_gains - default, 0)
    best = np.bincount(ranks.users, best_utilities, minlength=ranks.n_users).astype(np.float64)
    utilities = sums.astype(np.float64)
    has_any = best > 0
    shares = np.where(has_any, utilities / np.where(has_any, best, 1.0), np.nan)
    value = math.fsum(utilities.tolist()) / math.fsum(best.tolist()) if has_any.any() else None
    return HalfLife(value=value, user_values=shares, utilities=utilities, best=best)


def _viewing_probability(positions: Ints, alpha: float, viewed: Floats | None) -> Floats:
    if viewed is not None:
        probabilities: Floats = np.append(viewed, 0.0)[np.minimum(positions, len(viewed) + 1) - 1]
        return probabilities
    return np.exp2(-(np.asarray(positions, dtype=np.float64) - 1.0) / (alpha - 1.0))
