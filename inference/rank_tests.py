"""Tests on ranks: Kruskal and Wallis, and Dunn's comparisons of every pair with Holm's correction."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from inference.corrections import check_alpha, holm
from inference.groups import Groups, GroupValues
from inference.results import KruskalResult, Pair, PairwiseResult, Undefined

KRUSKAL = "Kruskal-Wallis"
DUNN_HOLM = "Dunn-Holm"


@dataclass(frozen=True)
class _Ranks:
    """Mean ranks of all observations taken together, and the sum of t^3 - t over runs of t equal ones."""

    mean_ranks: dict[str, Fraction]
    tie_sum: int


def _ranked(read: Groups) -> _Ranks:
    own = {group.name: Counter(group.points) for group in read.members}
    counts = sum(own.values(), Counter())
    doubled: dict[int, int] = {}  # twice the rank, a whole number
    before = 0
    for point in sorted(counts):
        doubled[point] = 2 * before + counts[point] + 1
        before += counts[point]
    mean_ranks = {
        group.name: Fraction(sum(doubled[point] * n for point, n in own[group.name].items()), 2 * group.n)
        for group in read.members
    }
    return _Ranks(mean_ranks, sum(count**3 - count for count in counts.values()))


def _why_not_ranked(read: Groups, procedure: str) -> Undefined | None:
    if read.k < 2:
        only = f"only {read.names[0]} has any" if read.k else "none has any"
        return Undefined(f"A comparison needs two conditions with observations; {only}.", procedure)
    if read.are_all_equal:
        return Undefined(f"All {read.n} participants have the same value: nothing to compare.", procedure)
    return None


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
    undefined = _why_not_ranked(read, KRUSKAL)
    if undefined is not None:
        return undefined
    n, k = read.n, read.k
    ranks = _ranked(read)
    correction = 1 - Fraction(ranks.tie_sum, n**3 - n)
    middle = Fraction(n + 1, 2)
    spread = sum((group.n * (ranks.mean_ranks[group.name] - middle) ** 2 for group in read.members), Fraction(0))
    h = 12 * spread / (n * (n + 1)) / correction
    return KruskalResult(
        h=float(h),
        df=k - 1,
        p=float(special.chdtrc(k - 1, float(h))),
        tie_correction=float(correction),
        mean_ranks={name: float(rank) for name, rank in ranks.mean_ranks.items()},
        rank_epsilon_squared=float(h / (n - 1)),
        rank_eta_squared=float((h - k + 1) / (n - k)) if n > k else None,
        n=n,
        left_out=read.left_out,
    )


def dunn_holm(groups: GroupValues, alpha: float = 0.05) -> PairwiseResult | Undefined:
    """Dunn's test of every pair by mean ranks, corrected for ties, with Holm's adjustment.

    Empty conditions are left out by name. ``difference`` is the difference of mean ranks, and its sign the direction of
    the finding; there are no simultaneous intervals. Undefined in the same cases as `kruskal_wallis`. Raises
    ParameterError for an `alpha` outside (0, 1). Source: Dunn (1964), Technometrics 6(3):241-252, two-sided.

    Examples
    --------
    >>> result = dunn_holm({"A": [1, 2, 3, 4], "B": [5, 6, 7, 8], "C": [9, 10, 11, 12]})
    >>> [(pair.a, pair.b, round(pair.p, 4)) for pair in result.pairs]
    [('A', 'B', 0.2333), ('A', 'C', 0.0051), ('B', 'C', 0.2333)]
    """
    from scipy import special

    check_alpha(alpha)
    read = Groups.read(groups)
    undefined = _why_not_ranked(read, DUNN_HOLM)
    if undefined is not None:
        return undefined
    n = read.n
    ranks = _ranked(read)
    variance = Fraction(n * (n + 1), 12) - Fraction(ranks.tie_sum, 12 * (n - 1))
    compared = []
    for a, b in combinations(read.members, 2):
        difference = ranks.mean_ranks[a.name] - ranks.mean_ranks[b.name]
        squared_error = variance * (Fraction(1, a.n) + Fraction(1, b.n))
        z = math.copysign(math.sqrt(difference**2 / squared_error), difference)
        p = 2 * float(special.ndtr(-abs(z)))
        compared.append((a.name, b.name, float(difference), z, math.sqrt(squared_error), p))
    adjusted = holm([p for *_, p in compared])
    return PairwiseResult(
        test=DUNN_HOLM,
        alpha=alpha,
        pairs=tuple(
            Pair(a, b, difference, p, p < alpha, statistic=z, se=error, p_unadjusted=alone)
            for (a, b, difference, z, error, alone), p in zip(compared, adjusted, strict=True)
        ),
        location_name="mean rank",
        locations={name: float(rank) for name, rank in ranks.mean_ranks.items()},
        n={group.name: group.n for group in read.members},
        left_out=read.left_out,
        constant=read.constant,
        single=read.single,
    )
