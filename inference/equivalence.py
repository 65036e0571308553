"""Equivalence and minimum-effect tests of means against bounds that were set before the data were seen.

A difference that is not significant is no evidence of equality; that takes a test whose null hypothesis is a difference
of at least the smallest effect of interest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from inference.corrections import holm
from inference.groups import Groups, GroupValues
from inference.partial_order import compact_letters
from inference.results import Interval, Pair, PairwiseResult, Undefined
from inference.t_tests import satterthwaite_df

POWER = 0.80


@dataclass(frozen=True)
class BoundTest:
    """One difference against the bounds -Δ and Δ."""

    difference: float
    se: float  # standard error of the difference
    df: float  # degrees of freedom of t
    interval: Interval  # coverage 1 - 2α; within the bounds exactly when the unadjusted equivalence test is significant
    p_equivalence: float  # of two one-sided tests, the larger p: small where |δ| < Δ
    p_minimum: float  # two-sided p of the minimum-effect test, at most 1: small where |δ| > Δ


@dataclass(frozen=True)
class BoundedPair:
    """One pair of conditions against the bounds; p values are adjusted by Holm within each kind of test."""

    a: str
    b: str  # in the order of the data; the difference is `a` minus `b`
    test: BoundTest | Undefined  # unadjusted, with Welch's error; Undefined where neither condition has variance
    p_equivalence: float | None = None  # adjusted, as `p_minimum`; None for an untested pair
    p_minimum: float | None = None
    is_equivalent: bool = False  # shown to differ by less than the bound at level alpha
    is_beyond: bool = False  # shown to differ by more


@dataclass(frozen=True)
class EquivalenceResult:
    """All pairs against one bound."""

    bound: float  # Δ in units of the data
    alpha: float  # level of each family of pairs
    pairs: tuple[BoundedPair, ...]
    # Conditions share a letter exactly when they were shown to be equivalent; a condition without an equivalent has a
    # letter of its own.
    letters: dict[str, str]
    left_out: tuple[str, ...] = ()  # conditions with fewer than two observations


def bound_test(difference: float, se: float, df: float, bound: float, alpha: float = 0.05) -> BoundTest:
    r"""Test one estimated difference, such as that of a planned contrast, for equivalence and for a minimum effect.

    .. math::
        t_{\mp} = \frac{d \pm \Delta}{se}, \qquad p_\mathrm{TOST} = \max(P(T > t_-), P(T < t_+))

    `bound` is the smallest effect of interest Δ in units of the difference, `alpha` below .5. Sources: Schuirmann
    (1987), Journal of Pharmacokinetics and Biopharmaceutics 15:657-680; for minimum effects Murphy & Myors (1999),
    Journal of Applied Psychology 84:234-248.

    Examples
    --------
    >>> test = bound_test(0.1, 0.2, 40, 0.5)
    >>> round(test.p_equivalence, 4), test.p_minimum, round(test.interval.high, 3)
    (0.0262, 1.0, 0.437)
    """
    from scipy import special

    above_low = float(special.stdtr(df, -(difference + bound) / se))
    below_high = float(special.stdtr(df, (difference - bound) / se))
    # Limited to one half: below the bound the two-sided p would otherwise exceed 1.
    beyond = min(float(special.stdtr(df, (bound - abs(difference)) / se)), 0.5)
    # Of coverage 1 - 2α, because each of the two one-sided tests has the full level.
    half = float(special.stdtrit(df, 1 - alpha)) * se
    return BoundTest(
        difference=difference,
        se=se,
        df=float(df),
        interval=Interval(difference - half, difference + half),
        p_equivalence=max(above_low, below_high),
        p_minimum=2 * beyond,
    )


def equivalence(groups: GroupValues, bound: float, alpha: float = 0.05) -> EquivalenceResult | Undefined:
    """Test every pair of conditions for equivalence and for a minimum effect, without assuming equal variances.

    Conditions with fewer than two observations are left out by name; `alpha` is the level of each family of pairs.
    Undefined with fewer than two conditions. Sources: Schuirmann (1987); Welch (1938), Biometrika 29:350-362; Holm
    (1979).

    Examples
    --------
    >>> result = equivalence({"A": [1, 2, 3, 2], "B": [2, 1, 3, 2], "C": [8, 9, 9, 8]}, 2)
    >>> [(pair.a, pair.b, pair.is_equivalent, pair.is_beyond) for pair in result.pairs]
    [('A', 'B', True, False), ('A', 'C', False, True), ('B', 'C', False, True)]
    >>> result.letters
    {'A': 'b', 'B': 'b', 'C': 'a'}
    """
    read = Groups.read(groups, least_n=2)
    if read.k < 2:
        return Undefined("Fewer than two conditions have two observations.")
    tested = []
    for a, b in combinations(read.members, 2):
        of_a, of_b = a.variance / a.n, b.variance / b.n
        test: BoundTest | Undefined = Undefined(f"Neither {a.name} nor {b.name} has any variance.")
        if of_a + of_b:
            df = satterthwaite_df([(of_a, a.n - 1), (of_b, b.n - 1)])
            test = bound_test(float(a.mean - b.mean), math.sqrt(of_a + of_b), df, bound, alpha)
        tested.append(BoundedPair(a.name, b.name, test))
    return _result(tested, read.means, bound, alpha, read.left_out)


def equivalence_of_pairs(compared: PairwiseResult, bound: float) -> EquivalenceResult:
    """The same of pairs with standard errors and degrees of freedom of their own, at their level."""
    tested = [
        BoundedPair(pair.a, pair.b, bound_test(pair.difference, pair.se, pair.df, bound, compared.alpha))
        for pair in compared.pairs
        if pair.se is not None and pair.df is not None
    ]
    return _result(tested, compared.locations, bound, compared.alpha, compared.left_out)


def _result(
    tested: Sequence[BoundedPair], means: dict[str, float], bound: float, alpha: float, left_out: tuple[str, ...]
) -> EquivalenceResult:
    pairs = tuple(_adjusted(tested, alpha))
    separate = [Pair(pair.a, pair.b, 0.0, None, not pair.is_equivalent) for pair in pairs]
    return EquivalenceResult(bound, alpha, pairs, compact_letters(means, separate), left_out)


def detectable_in_errors(critical: float, df: float) -> float:
    """The difference, in standard errors, that a two-sided t test with this critical `|t|` detects with a power of .80.
    This is the noncentrality of t; the opposite tail, below 1e-5 at usual levels, is ignored. Source: Cohen (1988),
    Statistical Power Analysis for the Behavioral Sciences, chapter 2.

    Examples
    --------
    >>> round(detectable_in_errors(1.9799, 122), 3)
    2.824
    """
    from scipy import special

    return float(special.nctdtrinc(df, 1 - POWER, critical))


def _adjusted(pairs: Sequence[BoundedPair], alpha: float) -> Iterator[BoundedPair]:
    tests = [pair.test for pair in pairs if not isinstance(pair.test, Undefined)]
    equivalent = iter(holm([test.p_equivalence for test in tests]))
    beyond = iter(holm([test.p_minimum for test in tests]))
    for pair in pairs:
        if isinstance(pair.test, Undefined):
            yield pair
            continue
        p, q = next(equivalent), next(beyond)
        yield replace(pair, p_equivalence=p, p_minimum=q, is_equivalent=p < alpha, is_beyond=q < alpha)
