"""Half-life utility: the whole list, with attention that halves every few places."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.errors import ParameterError
from evaluation.metrics.ranks import Floats, Ranks


@dataclass(frozen=True, eq=False)
class HalfLife:
    """Half-life utility of lists.

    Parameters
    ----------
    value : float or None
        Sum of users' utilities over the sum of their best ones, in [0, 1]; None where no user has any.
    user_values : float array, shape (n_users,)
        Each user's utility as a share of their best one; NaN for users without an item of positive utility.
    utilities, best : float array, shape (n_users,)
        R and R^max, in the unit of the utility.
    """

    value: float | None
    user_values: Floats
    utilities: Floats
    best: Floats


def half_life(ranks: Ranks, *, alpha: float = 5.0, default: float = 0.0) -> HalfLife:
    r"""Half-life utility of each user's list, and of all together.

    .. math:: R_a = \sum_j \frac{\max(u(a, j) - d, 0)}{2^{(j-1)/(\alpha-1)}}, \quad
              R = \frac{\sum_a R_a}{\sum_a R_a^{\max}}

    Parameters
    ----------
    ranks : Ranks
        Places of the user's test items in the whole list, with u as their gains (1 for all: binary; a rating,
        with `default`; a profit). An item that is not in the list adds nothing.
    alpha : float
        The place that is seen with probability one half, > 1.
    default : float
        d, the rating below which an item is worth nothing.

    Returns
    -------
    HalfLife
        One value for all, and each user's share, utility and best utility, shape (n_users,); a share is NaN, and the
        one value None, where there is no item of positive utility.

    Raises
    ------
    ParameterError
        `alpha` is not a number above 1, or `default` is not finite.

    References
    ----------
    Breese, Heckerman & Kadie (1998), UAI, section 3.1; Gunawardana & Shani (2009), JMLR 10, section 5.3.

    Examples
    --------
    >>> half_life(Ranks.of([0, 0], [1, 5], n_listed=[9]), alpha=5.0).utilities.tolist()
    [1.5]
    """
    if not 1 < alpha < math.inf:
        raise ParameterError(f"alpha is {alpha!r}: it has to be a number above 1.")
    if not math.isfinite(default):
        raise ParameterError(f"The default rating is {default!r}: it has to be a number.")
    users, places, gains, _ = ranks.found
    sums = np.bincount(users, _seen(places, alpha) * np.maximum(gains - default, 0), minlength=ranks.n_users)
    # Subtracting d keeps the order of gains, and what falls to 0 stands behind all that does not.
    best_gains, best_places = ranks.best
    worths = _seen(best_places, alpha) * np.maximum(best_gains - default, 0)
    best = np.bincount(ranks.users, worths, minlength=ranks.n_users).astype(np.float64)
    utilities = sums.astype(np.float64)
    has_any = best > 0
    shares = np.where(has_any, utilities / np.where(has_any, best, 1.0), np.nan)
    value = math.fsum(utilities.tolist()) / math.fsum(best.tolist()) if has_any.any() else None
    return HalfLife(value=value, user_values=shares, utilities=utilities, best=best)


def _seen(places: Floats | np.ndarray, alpha: float) -> Floats:
    """Probability that each place is seen."""
    return np.exp2(-(np.asarray(places, dtype=np.float64) - 1.0) / (alpha - 1.0))
