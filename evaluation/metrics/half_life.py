"""Half-life utility: the utility of the whole list, with a viewing probability that halves every few ranks, or known
probabilities, as the name of a metric writes them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from core.errors import ParameterError
from evaluation.metrics.ranks import Floats, Ints, Ranks

MOST_RANKS = 1000
_STEP = re.compile(r"(?P<probability>[0-9]*\.?[0-9]+)(?:x(?P<ranks>[0-9]{1,4}))?")


def probabilities(text: str) -> Floats:
    """Parse probabilities by rank, separated by colons; ``x`` and a number repeat one.

    Raises ParameterError for another spelling, a probability outside (0, 1] or above the one before it, or more than
    `MOST_RANKS` ranks. Returns a float array, shape (n_ranks,).

    Examples
    --------
    >>> probabilities("1x3:.5").tolist()
    [1.0, 1.0, 1.0, 0.5]
    """
    values: list[float] = []
    for piece in text.split(":"):
        step = _STEP.fullmatch(piece.strip())
        if step is None:
            raise ParameterError(
                f"{piece!r} is no probability by rank; write 1x3:.5 for 1 at ranks 1 to 3, .5 at rank 4."
            )
        probability, ranks = float(step["probability"]), int(step["ranks"] or 1)
        if not 0 < probability <= 1 or ranks < 1:
            raise ParameterError(f"{piece!r}: probabilities must be above 0 and at most 1, for at least one rank each.")
        if values and probability > values[-1]:
            raise ParameterError(f"{piece!r}: no rank can be viewed more often than the rank above it.")
        values += [probability] * ranks
        if len(values) > MOST_RANKS:
            raise ParameterError(f"{text!r} has more than {MOST_RANKS:,} ranks.")
    return np.array(values)


def canonical(text: str) -> str:
    """Return the shortest spelling of probabilities by rank. Raises ParameterError as `probabilities` does.

    Examples
    --------
    >>> canonical("1.0:1:0.50")
    '1x2:.5'
    """
    runs = [(value, len(list(ranks))) for value, ranks in groupby(probabilities(text).tolist())]
    return ":".join(f"{_written(value)}x{n}" if n > 1 else _written(value) for value, n in runs)


def _written(probability: float) -> str:
    return "1" if probability == 1 else np.format_float_positional(probability).removeprefix("0")


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
    `probabilities` checks it; p_j where these are known, in place of `alpha`; later ranks
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
    # Ratio of sums (R over R^max), not the mean of ratios; exactly summed, so that the order of users does not matter.
    value = math.fsum(utilities.tolist()) / math.fsum(best.tolist()) if has_any.any() else None
    return HalfLife(value=value, user_values=shares, utilities=utilities, best=best)


def _viewing_probability(positions: Ints, alpha: float, viewed: Floats | None) -> Floats:
    if viewed is not None:
        probabilities: Floats = np.append(viewed, 0.0)[np.minimum(positions, len(viewed) + 1) - 1]
        return probabilities
    return np.exp2(-(np.asarray(positions, dtype=np.float64) - 1.0) / (alpha - 1.0))
