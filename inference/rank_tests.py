"""Tests on ranks: Kruskal and Wallis, and Dunn's comparisons of every pair with Holm's correction."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from inference.anova import why_not_compared
from inference.corrections import decided
from inference.groups import Groups, GroupValues
from inference.posthoc import pairwise
from inference.results import KruskalResult, Pair, PairwiseResult, Undefined

DUNN_HOLM = "Dunn-Holm"


def _ranked(read: Groups) -> tuple[dict[str, float], float]:
    """Mean ranks of the conditions among all observations, and the correction for ties: 1 without any."""
    from scipy import stats

    # Places among the distinct values: whole numbers of any size keep their order, and ties, exactly.
    rank = {point: at for at, point in enumerate(sorted({point for group in read.members for point in group.points}))}
    ranks = stats.rankdata([rank[point] for group in read.members for point in group.points])
    parts = np.split(ranks, np.cumsum([group.n for group in read.members])[:-1])
    mean_ranks = {group.name: float(of.mean()) for group, of in zip(read.members, parts, strict=True)}
    return mean_ranks, float(stats.tiecorrect(np.rint(2 * ranks).astype(np.int64)))


def kruskal_wallis(groups: GroupValues) -> KruskalResult | Undefined:
    """Kruskal and Wallis's analysis of variance by ranks, corrected for ties. Empty conditions are left out by name.
    Undefined with fewer than two conditions, or when all values are equal. Source: Kruskal & Wallis (1952), Journal of
    the American Statistical Association 47(260):583-621.

    Examples
    --------
    >>> result = kruskal_wallis({"A": [1, 2, 3], "B": [4, 5, 6]})
    >>> round(result.h, 4), result.df, result.mean_ranks
    (3.8571, 1, {'A': 2.0, 'B': 5.0})
    """
    from scipy import special

    read = Groups.read(groups)
    if undefined := why_not_compared(read):
        return undefined
    n, k = read.n, read.k
    mean_ranks, correction = _ranked(read)
    spread = sum(group.n * (mean_ranks[group.name] - (n + 1) / 2) ** 2 for group in read.members)
    h = 12 * spread / (n * (n + 1)) / correction
    return KruskalResult(
        h=h,
        df=k - 1,
        p=float(special.chdtrc(k - 1, h)),
        tie_correction=correction,
        mean_ranks=mean_ranks,
        rank_epsilon_squared=h / (n - 1),
        rank_eta_squared=(h - k + 1) / (n - k) if n > k else None,
        n=n,
        left_out=read.left_out,
    )


def dunn_holm(groups: GroupValues, alpha: float = 0.05) -> PairwiseResult | Undefined:
    """Dunn's test of every pair by mean ranks, corrected for ties, with Holm's adjustment.

    Empty conditions are left out by name. ``difference`` is the difference of mean ranks, and its sign the direction of
    the finding; there are no simultaneous intervals. Undefined in the same cases as `kruskal_wallis`. Source: Dunn
    (1964), Technometrics 6(3):241-252, two-sided.

    Examples
    --------
    >>> result = dunn_holm({"A": [1, 2, 3, 4], "B": [5, 6, 7, 8], "C": [9, 10, 11, 12]})
    >>> [(pair.a, pair.b, round(pair.p, 4)) for pair in result.pairs]
    [('A', 'B', 0.2333), ('A', 'C', 0.0051), ('B', 'C', 0.2333)]
    """
    from scipy import special

    read = Groups.read(groups)
    if undefined := why_not_compared(read):
        return undefined
    n = read.n
    mean_ranks, correction = _ranked(read)
    pairs = []
    for a, b in combinations(read.members, 2):
        difference = mean_ranks[a.name] - mean_ranks[b.name]
        error = math.sqrt(n * (n + 1) / 12 * correction * (1 / a.n + 1 / b.n))
        z = difference / error
        p = 2 * float(special.ndtr(-abs(z)))
        pairs.append(Pair(a.name, b.name, difference, None, False, statistic=z, se=error, p_unadjusted=p))
    return pairwise(DUNN_HOLM, alpha, read, decided(pairs, alpha), mean_ranks)
