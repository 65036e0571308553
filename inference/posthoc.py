"""Every pair of conditions, by means: Tukey's test and Games and Howell's."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations

import numpy as np

from inference.anova import why_not_pooled
from inference.average_advantage import MeanEstimates
from inference.groups import Groups, GroupValues
from inference.results import Pair, PairwiseResult, Undefined
from inference.studentized_range import critical_range, upper_tail
from inference.t_tests import satterthwaite_df

TUKEY = "Tukey HSD"
GAMES_HOWELL = "Games-Howell"


def tukey_hsd(groups: GroupValues, alpha: float = 0.05, least_n: int = 1) -> PairwiseResult | Undefined:
    """Tukey's honestly significant differences; Tukey-Kramer when the conditions differ in size.

    Controls the family-wise error by itself: no significant analysis of variance is asked for first. The intervals hold
    together with probability 1 - alpha. Conditions with fewer than `least_n` observations are left out by name; with 1,
    a condition of one observation is compared by the pooled spread of the others. ``p`` is accurate to about 1e-13
    absolute; a smaller one says no more than that. Undefined in the same cases as `inference.anova.one_way`. Sources:
    Tukey (1953), The problem of multiple comparisons; Kramer (1956), Biometrics 12(3):307-310.

    Examples
    --------
    >>> result = tukey_hsd({"A": [1, 2, 3], "B": [3, 4, 5], "C": [7, 8, 9]})
    >>> [(pair.a, pair.b, pair.difference, pair.is_significant) for pair in result.pairs]
    [('A', 'B', -2.0, False), ('A', 'C', -6.0, True), ('B', 'C', -4.0, True)]
    """
    read = Groups.read(groups, least_n)
    if undefined := why_not_pooled(read):
        return undefined
    df = read.n - read.k
    # Half, because the studentized range is in units of one mean's error and a difference has that of two.
    half_ms_within = read.ss_within / df / 2
    pairs = (
        _compare(a.name, b.name, float(a.mean - b.mean), half_ms_within * (1 / a.n + 1 / b.n), read.k, df, alpha)
        for a, b in combinations(read.members, 2)
    )
    return pairwise(TUKEY, alpha, read, pairs, read.means)


def games_howell(groups: GroupValues, alpha: float = 0.05) -> PairwiseResult | Undefined:
    """Games and Howell's test: all pairs without assuming equal variances.

    Degrees of freedom differ from pair to pair, so the significant pairs need not be transitive. Conditions with fewer
    than two observations are left out by name. A pair of two conditions without variance cannot be tested: its ``p`` is
    None and ``reason`` says so. With one such condition the pair is a one-sample comparison with the other's n - 1
    degrees of freedom. Undefined with fewer than two conditions, or when no condition has variance. Sources: Games &
    Howell (1976), Journal of Educational Statistics 1(2):113-125; for the degrees of freedom Welch (1938).

    Examples
    --------
    >>> result = games_howell({"A": [0, 0, 0], "B": [0, 0, 0], "C": [4, 5, 6]})
    >>> result.pairs[0].p is None, round(result.pairs[1].p, 3), result.pairs[1].df
    (True, 0.024, 2.0)
    """
    read = Groups.read(groups, least_n=2)
    if undefined := why_not_pooled(read):
        return undefined
    pairs = []
    for a, b in combinations(read.members, 2):
        of_a, of_b = a.variance / a.n, b.variance / b.n
        # Exactly 0, which is safe to ask for: variances are computed from integers.
        if of_a == of_b == 0:
            reason = f"Neither {a.name} nor {b.name} has any variance."
            pairs.append(Pair(a.name, b.name, float(a.mean - b.mean), None, False, reason=reason))
            continue
        # For each pair its own, from its own two variances: those of the other conditions say nothing about it.
        df = satterthwaite_df([(of_a, a.n - 1), (of_b, b.n - 1)])
        pairs.append(_compare(a.name, b.name, float(a.mean - b.mean), (of_a + of_b) / 2, read.k, df, alpha))
    return pairwise(GAMES_HOWELL, alpha, read, pairs, read.means)


def _compare(a: str, b: str, difference: float, squared_unit: float, k: int, df: float, alpha: float) -> Pair:
    """Compare two of `k` means by their difference, in units of the studentized range, whose square is given: half the
    squared error of the difference.
    """
    unit, critical = math.sqrt(squared_unit), critical_range(alpha, k, df)
    q = abs(difference) / unit
    p = upper_tail(q, k, df)
    return Pair(
        a,
        b,
        difference,
        p,
        p < alpha,
        ci_low=difference - critical * unit,
        ci_high=difference + critical * unit,
        statistic=q,
        df=float(df),
        se=math.sqrt(2 * squared_unit),
    )


def pairs_of_means(
    test: str, alpha: float, estimates: MeanEstimates, n: dict[str, int], left_out: tuple[str, ...]
) -> PairwiseResult:
    """Every pair of estimates with a covariance, each with its own degrees of freedom, as R's ``emmeans`` has them.

    Examples
    --------
    >>> means = MeanEstimates(("A", "B"), np.array([2.0, 1.0]), np.diag([0.09, 0.16]), lambda _contrast: 20.0)
    >>> pair = pairs_of_means("Tukey", 0.05, means, {"A": 11, "B": 11}, ()).pairs[0]
    >>> pair.difference, pair.se, round(pair.p, 4)
    (1.0, 0.5, 0.0593)
    """
    pairs, rows, k = [], np.eye(len(estimates.names)), len(estimates.names)
    for a, b in combinations(range(k), 2):
        contrast = rows[a] - rows[b]
        difference, half = float(contrast @ estimates.means), float(contrast @ estimates.covariance @ contrast) / 2
        names = estimates.names[a], estimates.names[b]
        pairs.append(_compare(*names, difference, half, k, estimates.df(contrast), alpha))
    locations = dict(zip(estimates.names, estimates.means.tolist(), strict=True))
    return PairwiseResult(test, alpha, tuple(pairs), locations, n, left_out)


def pairwise(
    test: str, alpha: float, read: Groups, pairs: Iterable[Pair], locations: dict[str, float]
) -> PairwiseResult:
    """The pairs of a test with the conditions that it compares."""
    return PairwiseResult(
        test=test,
        alpha=alpha,
        pairs=tuple(pairs),
        locations=locations,
        n={group.name: group.n for group in read.members},
        left_out=read.left_out,
        constant=read.constant,
        single=read.single,
    )
