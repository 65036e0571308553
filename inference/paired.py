"""Paired tests of algorithms on the same users: the sign test with its effect size, and Wilcoxon's signed rank test.

Friedman's test compares all algorithms at once, and Nemenyi's every pair after it; `inference.paired_hits` tests hits
where users own several cases. Values are float arrays of shape (n_users,), a metric of each user in one order of users,
higher is better; NaN where a user has no value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError
from inference.case_rates import clopper_pearson
from inference.corrections import Correction, decided
from inference.results import (
    Floats,
    Integers,
    Interval,
    Pair,
    PairwiseResult,
    SignPair,
    SignTestResult,
    SignTests,
    Undefined,
)
from inference.studentized_range import upper_tail

# Values of users are sums of a few float terms: two that differ by less, relative to the largest, are equal on paper.
TIE_WITHIN = 1e-9
DECIMALS = 9  # differences that are equal on paper differ beyond this: .6 - .4 and .4 - .2
CELLS = 150_000_000  # steps of the exact count of signs; some tenths of a second
Tests = TypeVar("Tests", bound=PairwiseResult)


@dataclass(frozen=True)
class SignEffect:
    """How many users have equal values, and which share of the others fares better with the first algorithm."""

    tied: float  # share of all users with both values
    superiority: float  # share of the users without a tie; .5 where neither algorithm is better
    interval: Interval  # of `superiority`, exact


@dataclass(frozen=True)
class SignedRankResult:
    """Wilcoxon's signed rank test of two algorithms on the same users."""

    rank_biserial: float  # ranks in favour of the first less those of the second, over all; in [-1, 1]
    p: float


def sign_test(a: ArrayLike, b: ArrayLike) -> SignTestResult | Undefined:
    r"""Two-sided sign test: do more users fare better with one algorithm than with the other?

    .. math:: p = \min\left(1, 2^{1-n} \sum_{i=m}^{n} \binom{n}{i}\right), \quad m = \max(n_A, n_B),\ n = n_A + n_B

    Users with a NaN are left out and counted. Ties are dropped and counted: values that differ by at most `TIE_WITHIN`
    times the largest absolute value. Undefined when no user fares better with either. Raises DataError for arrays that
    are not of one dimension and one length, or that hold infinities. Source: Gunawardana & Shani (2009), JMLR
    10:2935-2962, section 4.3, evaluated as a binomial tail, which holds for any number of users where the printed
    powers would underflow.

    Examples
    --------
    >>> result = sign_test([1, 1, 1, 0, 1], [0, 0, 0, 0, 0])
    >>> result.n_a, result.n_b, result.n_ties, result.p
    (4, 0, 1, 0.125)
    """
    from scipy import stats

    first, second = by_algorithm({"the first algorithm": a, "the second algorithm": b}).values()
    # Relative to the largest value, so that the test does not change with the unit of the metric.
    tie_within = TIE_WITHIN * largest(first, second)
    difference = (first - second)[~np.isnan(first - second)]
    n_a, n_b = int(np.count_nonzero(difference > tie_within)), int(np.count_nonzero(difference < -tie_within))
    if n_a + n_b == 0:
        # The test conditions on the users who differ: with none there is no distribution to refer to, not a p of 1.
        return Undefined("Every user has equal values under both algorithms.")
    return SignTestResult(
        n_a=n_a,
        n_b=n_b,
        n_ties=difference.size - n_a - n_b,
        n_left_out=first.size - difference.size,
        # Twice the upper tail counts the middle term twice where both sides are equal, hence the limit of 1.
        p=min(1.0, 2 * float(stats.binom.sf(max(n_a, n_b) - 1, n_a + n_b, 0.5))),
    )


def sign_effect(n_a: int, n_b: int, n_ties: int) -> SignEffect | Undefined:
    """Effect size of a sign test with its exact 95% interval (Clopper and Pearson), from the counts of users.

    The interval excludes .5 where the two-sided sign test is significant at .05. Undefined where all users tie.
    Sources: Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, chapter 5 (g = superiority - .5);
    Clopper & Pearson (1934), Biometrika 26(4):404-413.

    Examples
    --------
    >>> found = sign_effect(8, 2, 30)
    >>> found.tied, found.superiority, round(found.interval.low, 4), round(found.interval.high, 4)
    (0.75, 0.8, 0.4439, 0.9748)
    """
    n = n_a + n_b
    if n == 0:
        return Undefined("Every user has equal values under both algorithms.")
    low, high = clopper_pearson(n_a, n_b, 0.95)
    return SignEffect(n_ties / (n + n_ties), n_a / n, Interval(float(low), float(high)))


def signed_rank(a: ArrayLike, b: ArrayLike) -> SignedRankResult | Undefined:
    r"""Wilcoxon's two-sided signed rank test: paired comparison of two algorithms over the same users.

    .. math:: V^+ = \sum_{i: d_i > 0} \mathrm{rank} |d_i|

    with mid-ranks, against all :math:`2^n` signs of the differences. Exact for some hundred users, a normal
    approximation beyond (tie-corrected, without continuity correction). Users with a NaN are left out. Differences are
    rounded to a billionth of the largest value, so that those equal on paper tie. Zeros are dropped before ranking.
    Undefined when no difference is left. Raises DataError for arrays that are not of one dimension and one length, or
    that hold infinities. Sources: Wilcoxon (1945), Biometrics Bulletin 1(6):80-83; Demšar (2006), JMLR 7:1-30.

    Examples
    --------
    >>> result = signed_rank([0.8, 0.6, 0.4, 1.0], [0.2, 0.4, 0.4, 0.2])
    >>> result.rank_biserial, result.p
    (1.0, 0.25)
    """
    from scipy import special, stats

    first, second = by_algorithm({"the first algorithm": a, "the second algorithm": b}).values()
    differences = first - second
    unit = largest(first, second) or 1.0
    # Ranks need ties as equal numbers. A tolerance would not do, because being within it is not transitive.
    difference = np.round(differences[~np.isnan(differences)] / unit, DECIMALS)
    difference = difference[difference != 0]
    if not difference.size:
        return Undefined("Every user has equal values under both algorithms.")
    doubled = np.rint(2 * stats.rankdata(np.abs(difference))).astype(np.int64)  # whole numbers, with ties
    plus = int(doubled[difference > 0].sum())
    minus = int(doubled.sum()) - plus
    # The null distribution is symmetric, so twice the upper tail of the larger sum is the two-sided p.
    observed, effect = max(plus, minus), (plus - minus) / (plus + minus)
    factor = int(np.gcd.reduce(doubled))  # 2 where no ranks are halves; without it the count is shorter
    if is_countable(doubled // factor):
        return SignedRankResult(effect, min(1.0, 2 * share_at_least(doubled // factor, observed // factor)))
    # The variance of the sum over random signs with the ranks as they are: ties are corrected for without a term of
    # its own.
    spread = math.sqrt(float((doubled.astype(np.float64) ** 2).sum())) / 2
    z = (observed - int(doubled.sum()) / 2) / spread
    return SignedRankResult(effect, min(1.0, 2 * float(special.ndtr(-z))))


def is_countable(weights: Integers) -> bool:
    """Whether `share_at_least` is quick enough for these weights, which are at least 0.

    Examples
    --------
    >>> is_countable(np.arange(1, 401)), is_countable(np.arange(1, 4001))
    (True, False)
    """
    return int(weights.size) * int(weights.sum()) <= CELLS


def share_at_least(weights: Integers, observed: int) -> float:
    r"""Probability that the weights of a random subset, each in it by a fair coin, add up to `observed` or more.

    .. math:: \Pr\Big(\sum_i B_i w_i \ge v\Big), \quad B_i \sim \mathrm{Bernoulli}(\tfrac12)

    Counted exactly, weight by weight, so ties are no trouble; correct to some units of the last digit. Weights are at
    least 1.

    Examples
    --------
    >>> share_at_least(np.array([1, 2, 3]), 5)
    0.25
    """
    shares = np.zeros(int(weights.sum()) + 1)
    shares[0] = 1.0
    reached = 0
    # The light ones first, so that the part of the array that can be reached stays short for as long as possible.
    for weight in np.sort(weights).tolist():
        half = shares[: reached + 1] / 2
        shares[: reached + 1] = half
        shares[weight : weight + reached + 1] += half
        reached += weight
    # A tail has up to millions of tiny terms; a plain sum would lose its last digits.
    return min(1.0, math.fsum(shares[max(0, observed) :]))


def by_algorithm(values: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """The values of every algorithm, one of each user. Raises DataError as `per_user`, and for different lengths."""
    columns = {name: per_user(of_name, name) for name, of_name in values.items()}
    if len({column.size for column in columns.values()}) > 1:
        raise DataError("The algorithms have values of different numbers of users: give one order of users for all.")
    return columns


def per_user(values: ArrayLike, whose: str) -> Floats:
    """One value a user as floats, NaN kept. Raises DataError, which names `whose` values they are, for another
    number of dimensions or an infinity.

    Examples
    --------
    >>> per_user([1, 2], "the first algorithm").tolist()
    [1.0, 2.0]
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or np.isinf(array).any():
        raise DataError(f"The values of {whose} are not one finite number, or NaN, a user.")
    return array


def largest(*values: Floats) -> float:
    """The largest absolute value, NaN left out; 0 if there is none.

    Examples
    --------
    >>> largest(np.array([1.0, -3.0, np.nan]), np.array([]))
    3.0
    """
    return float(max((np.nanmax(np.abs(array)) for array in values if not np.isnan(array).all()), default=0.0))


def sign_tests_between(
    values: Mapping[str, ArrayLike], correction: Correction = "holm", alpha: float = 0.05
) -> SignTests | Undefined:
    """Two-sided sign tests between every pair of algorithms, adjusted as one family of those that could be tested.

    ``difference`` is the share of users better served by `a` minus the share better served by `b`, of all users with
    both values. ``locations`` are the mean values, for drawing: the test itself does not compare means, and its
    direction may differ from theirs. More users may prefer A to B, B to C, and C to A: these pairs need not form an
    order. Algorithms without any value are left out by name. Undefined with fewer than two algorithms. Raises as
    `sign_test`, and ParameterError for an unknown correction.

    Examples
    --------
    >>> found = sign_tests_between({"A": [1] * 9, "B": [0] * 9, "C": [0] * 9})
    >>> [(pair.a, pair.b, pair.difference, pair.p) for pair in found.pairs]
    [('A', 'B', 1.0, 0.0078125), ('A', 'C', 1.0, 0.0078125), ('B', 'C', 0.0, None)]
    """
    return _between(SignTests, "Sign test", _sign_pair, values, correction, alpha)


def signed_ranks_between(
    values: Mapping[str, ArrayLike], correction: Correction = "holm", alpha: float = 0.05
) -> PairwiseResult | Undefined:
    """Two-sided signed rank tests between every pair of algorithms, adjusted as one family.

    ``difference`` and ``statistic`` are the rank-biserial correlation; ``locations`` are mean values, for drawing.
    Undefined with fewer than two algorithms that have values. Raises as `signed_rank`, and ParameterError for an
    unknown correction.

    Examples
    --------
    >>> found = signed_ranks_between({"A": [3, 4, 5, 6, 7, 8], "B": [1, 1, 1, 1, 1, 1]})
    >>> [(pair.a, pair.b, pair.difference, pair.p) for pair in found.pairs]
    [('A', 'B', 1.0, 0.03125)]
    """
    return _between(PairwiseResult, "Wilcoxon signed rank", _signed_rank_pair, values, correction, alpha)


def _between(
    kind: type[Tests],
    name: str,
    compare: Callable[[str, str, Floats, Floats], Pair],
    values: Mapping[str, ArrayLike],
    correction: Correction,
    alpha: float,
) -> Tests | Undefined:
    columns = by_algorithm(values)
    # An algorithm without any value belongs to no pair, or its untestable pairs would enlarge the family.
    present = {name: own for name, column in columns.items() if (own := column[~np.isnan(column)]).size}
    if len(present) < 2:
        return Undefined("A comparison needs two algorithms with values of users.")
    pairs = [compare(a, b, columns[a], columns[b]) for a, b in combinations(present, 2)]
    return kind(
        test=f"{name} ({correction})",
        alpha=alpha,
        pairs=decided(pairs, alpha, correction),
        locations={name: float(own.mean()) for name, own in present.items()},
        n={name: int(own.size) for name, own in present.items()},
        left_out=tuple(name for name in columns if name not in present),
    )


def _sign_pair(a: str, b: str, of_a: Floats, of_b: Floats) -> SignPair:
    result = sign_test(of_a, of_b)
    if isinstance(result, Undefined):
        n_both = int(np.count_nonzero(~np.isnan(of_a - of_b)))
        n_left_out = of_a.size - n_both
        return SignPair(a, b, 0.0, None, False, reason=result.reason, n_ties=n_both, n_left_out=n_left_out)
    difference = (result.n_a - result.n_b) / (result.n_a + result.n_b + result.n_ties)
    counts: dict[str, Any] = {name: getattr(result, name) for name in ("n_a", "n_b", "n_ties", "n_left_out")}
    return SignPair(a, b, difference, None, False, p_unadjusted=result.p, **counts)


def _signed_rank_pair(a: str, b: str, of_a: Floats, of_b: Floats) -> Pair:
    result = signed_rank(of_a, of_b)
    if isinstance(result, Undefined):
        return Pair(a, b, 0.0, None, False, reason=result.reason)
    effect = result.rank_biserial
    return Pair(a, b, effect, None, False, statistic=effect, p_unadjusted=result.p)


NEMENYI = "Nemenyi"


@dataclass(frozen=True)
class FriedmanResult:
    """Friedman's test, corrected for ties."""

    chi_squared: float
    p: float
    df: int  # algorithms less one


def _ranked(values: Mapping[str, ArrayLike]) -> Integers | Undefined:
    """Mid-ranks times two, shape (n_users, n_algorithms), of the users with a value for every algorithm."""
    from scipy import stats

    columns = by_algorithm(values)
    if len(columns) < 2:
        return Undefined("A comparison needs two algorithms with values of users.")
    table = np.column_stack(list(columns.values()))
    complete = table[~np.isnan(table).any(axis=1)]
    # As in `signed_rank`: values equal on paper have to be equal numbers to share a rank.
    complete = np.round(complete / (largest(complete) or 1.0), DECIMALS)
    if len(complete) < 2:
        return Undefined("Fewer than two users have a value for every algorithm.")
    if not np.ptp(complete, axis=1).any():
        return Undefined("Every user has the same value for all algorithms: there is nothing to rank.")
    return np.rint(2 * stats.rankdata(complete, axis=1)).astype(np.int64)


def friedman(values: Mapping[str, ArrayLike]) -> FriedmanResult | Undefined:
    r"""Friedman's test: do users rank the algorithms alike, with ties corrected for?

    .. math:: \chi^2_F = \frac{(k - 1) \sum_j (R_j - n (k + 1) / 2)^2}{\sum_{ij} r_{ij}^2 - n k (k + 1)^2 / 4}

    `values` maps each algorithm to a metric of each user, in one order of users; users with a NaN are left out as a
    whole. Values are rounded to a billionth of the largest, so that those equal on paper tie. Undefined with fewer than
    two algorithms or users, or where every user has ties only. Raises DataError for arrays of different lengths or with
    infinities. Sources: Friedman (1937), Journal of the American Statistical Association 32(200):675-701; Demšar
    (2006), JMLR 7:1-30.

    Examples
    --------
    >>> result = friedman({"A": [1, 1, 1, 2], "B": [2, 2, 2, 1], "C": [3, 3, 3, 3]})
    >>> result.chi_squared, result.df
    (6.5, 2)
    """
    from scipy import special

    doubled = _ranked(values)
    if isinstance(doubled, Undefined):
        return doubled
    n, k = len(doubled), len(values)
    sums = doubled.sum(axis=0)
    # Ranks are doubled whole numbers and Python's integers have no limit, so both parts of the fraction are exact.
    spread = (k - 1) * sum(int(total - n * (k + 1)) ** 2 for total in sums.tolist())
    room = int((doubled**2).sum()) - n * k * (k + 1) ** 2
    chi_squared = spread / room
    return FriedmanResult(chi_squared, float(special.chdtrc(k - 1, chi_squared)), k - 1)


def nemenyi(values: Mapping[str, ArrayLike], alpha: float = 0.05) -> PairwiseResult | Undefined:
    r"""Nemenyi's test of every pair of algorithms, by mean ranks over users.

    .. math:: q = \frac{|\bar R_a - \bar R_b|}{\sqrt{k (k + 1) / (6 n)}}

    referred to the studentized range over :math:`\sqrt 2` with infinitely many degrees of freedom. There is no
    correction for ties, which makes it cautious where there are many. ``locations`` are mean ranks, 1 for the smallest
    value; ``statistic`` is q. Values, errors and undefined cases as for `friedman`. Source: Demšar (2006), JMLR 7:1-30,
    section 3.2.2.

    Examples
    --------
    >>> result = nemenyi({"A": [1, 1, 1, 2], "B": [2, 2, 2, 1], "C": [3, 3, 3, 3]})
    >>> [pair.is_significant for pair in result.pairs]
    [False, True, False]
    """
    doubled = _ranked(values)
    if isinstance(doubled, Undefined):
        return doubled
    n, k = len(doubled), len(values)
    sums = dict(zip(values, doubled.sum(axis=0).tolist(), strict=True))
    error = math.sqrt(k * (k + 1) / (6 * n))
    pairs = []
    for a, b in combinations(values, 2):
        difference = (sums[a] - sums[b]) / (2 * n)
        q = abs(difference) / error
        # The studentized range is defined with the error of one mean, q with that of a difference: a factor of √2.
        p = upper_tail(q * math.sqrt(2), k, math.inf)
        pairs.append(Pair(a, b, difference, p, p < alpha, statistic=q, se=error))
    return PairwiseResult(
        test=NEMENYI,
        alpha=alpha,
        pairs=tuple(pairs),
        locations={name: total / (2 * n) for name, total in sums.items()},
        n=dict.fromkeys(values, n),
    )
