"""Wilcoxon's signed rank test of paired values of users."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from inference.corrections import Correction, check_alpha, decided
from inference.paired import by_algorithm, described, largest
from inference.results import Integers, Pair, PairwiseResult, Undefined
from inference.sign_flips import is_countable, share_at_least

SIGNED_RANK = "Wilcoxon signed rank"
DECIMALS = 9  # differences that are equal on paper differ beyond this: .6 - .4 and .4 - .2


@dataclass(frozen=True)
class SignedRankResult:
    """Wilcoxon's signed rank test of two algorithms on the same users."""

    # `v_plus`, `v_minus`: sums of the ranks of differences in favour of the first and of the second algorithm.
    v_plus: float
    v_minus: float
    rank_biserial: float  # their difference over their sum, in [-1, 1]
    p: float
    # "exact" (all signs given the ranks, ties included) or "normal approximation" (tie-corrected, without continuity
    # correction).
    p_method: str
    n: int  # users whose values differ


def signed_rank(a: ArrayLike, b: ArrayLike) -> SignedRankResult | Undefined:
    r"""Wilcoxon's two-sided signed rank test: paired comparison of two algorithms over the same users.

    .. math:: V^+ = \sum_{i: d_i > 0} \mathrm{rank} |d_i|

    with mid-ranks, against all :math:`2^n` signs of the differences. Exact for some hundred users, a normal
    approximation beyond. Values are as in `inference.paired`; users with a NaN are left out. Differences
    are rounded to a billionth of the largest value, so that those equal on paper tie. Zeros are dropped before ranking.
    Undefined when no difference is left. Raises DataError for arrays that are not of one dimension and one length, or
    that hold infinities. Sources: Wilcoxon (1945), Biometrics Bulletin 1(6):80-83; Demšar (2006), JMLR 7:1-30.

    Examples
    --------
    >>> result = signed_rank([0.8, 0.6, 0.4, 1.0], [0.2, 0.4, 0.4, 0.2])
    >>> result.v_plus, result.n, result.p
    (6.0, 3, 0.25)
    """
    from scipy import stats

    first, second = by_algorithm({"the first algorithm": a, "the second algorithm": b}).values()
    differences = first - second
    unit = largest(first, second) or 1.0
    difference = np.round(differences[~np.isnan(differences)] / unit, DECIMALS)
    difference = difference[difference != 0]
    if not difference.size:
        return Undefined("Every user has equal values under both algorithms.")
    doubled = np.rint(2 * stats.rankdata(np.abs(difference))).astype(np.int64)  # whole numbers, with ties
    plus = int(doubled[difference > 0].sum())
    minus = int(doubled.sum()) - plus
    p, method = _p_of(doubled, max(plus, minus))
    return SignedRankResult(
        v_plus=plus / 2,
        v_minus=minus / 2,
        rank_biserial=(plus - minus) / (plus + minus),
        p=p,
        p_method=method,
        n=difference.size,
    )


def _p_of(doubled: Integers, observed: int) -> tuple[float, str]:
    from scipy import special

    factor = int(np.gcd.reduce(doubled))  # 2 where no ranks are halves; without it the count is shorter
    if is_countable(doubled // factor):
        return min(1.0, 2 * share_at_least(doubled // factor, observed // factor)), "exact"
    spread = math.sqrt(float((doubled.astype(np.float64) ** 2).sum())) / 2
    z = (observed - int(doubled.sum()) / 2) / spread
    return min(1.0, 2 * float(special.ndtr(-z))), "normal approximation"


def signed_ranks_between(
    values: Mapping[str, ArrayLike], correction: Correction = "holm", alpha: float = 0.05
) -> PairwiseResult | Undefined:
    """Two-sided signed rank tests between every pair of algorithms, adjusted as one family.

    ``difference`` and ``statistic`` are the rank-biserial correlation; ``locations`` are mean values, for drawing.
    Undefined with fewer than two algorithms that have values. Raises as `signed_rank`, and ParameterError for an
    unknown correction or an `alpha` outside (0, 1).

    Examples
    --------
    >>> found = signed_ranks_between({"A": [3, 4, 5, 6, 7, 8], "B": [1, 1, 1, 1, 1, 1]})
    >>> [(pair.a, pair.b, pair.difference, pair.p) for pair in found.pairs]
    [('A', 'B', 1.0, 0.03125)]
    """
    check_alpha(alpha)
    columns = by_algorithm(values)
    about = described(columns)
    if len(about["n"]) < 2:
        return Undefined("A comparison needs two algorithms with values of users.")
    pairs = []
    for a, b in combinations(about["n"], 2):
        result = signed_rank(columns[a], columns[b])
        if isinstance(result, Undefined):
            pairs.append(Pair(a, b, 0.0, None, False, reason=result.reason))
            continue
        effect = result.rank_biserial
        pairs.append(Pair(a, b, effect, None, False, statistic=effect, p_unadjusted=result.p))
    return PairwiseResult(
        test=f"{SIGNED_RANK} ({correction})", alpha=alpha, pairs=decided(pairs, alpha, correction), **about
    )
