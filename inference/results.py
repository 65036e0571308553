"""Frozen results of the procedures of this package.

A procedure returns its result or `Undefined`, which states the reason. No field is ever NaN or infinite; a value that
does not exist is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True)
class Undefined:
    """The reason why a procedure has no result on these data."""

    reason: str  # one sentence for readers of the report


def defined(result: T | Undefined | None) -> T | None:
    """A result; None where there is none."""
    return None if isinstance(result, Undefined) else result


@dataclass(frozen=True)
class Interval:
    """A two-sided confidence interval; `low` <= `high`, both finite."""

    low: float
    high: float


@dataclass(frozen=True)
class Description:
    """Descriptive statistics of one condition, including those of its box plot."""

    n: int  # at least 1
    mean: float  # in the unit of the data, as all but `n`
    median: float
    q1: float  # quantiles of type 7 (linear between order statistics), as `median` and `q3`
    q3: float
    minimum: float
    maximum: float
    sd: float | None  # with n - 1; None for one observation, as `se` and the limits of the interval
    se: float | None  # of the mean
    ci_low: float | None  # 95% t interval of the mean; of width 0 when all values are equal
    ci_high: float | None
    whisker_low: float  # the most extreme observations within 1.5 interquartile ranges of the box
    whisker_high: float
    outliers: tuple[float, ...]  # the observations beyond the whiskers, ascending, repeated as often as they occur


@dataclass(frozen=True)
class AnovaResult:
    """One-way analysis of variance with pooled variance."""

    f: float
    p: float
    df_between: int
    df_within: int
    ss_between: float  # sums of squares and mean squares in squared units of the data
    ss_within: float
    ms_between: float
    ms_within: float
    eta_squared: float  # share of the total sum of squares, in [0, 1]; in a one-way design also partial eta squared
    omega_squared: float  # less biased, as is epsilon squared; negative ones are printed as 0 with a note
    epsilon_squared: float
    # Two-sided 95% interval ncp / (ncp + df_within), as in R's effectsize. None when F is too large for the
    # noncentral distribution to be evaluated.
    eta_squared_ci: Interval | None
    eta_squared_ci_steiger: Interval | None  # the same limits as ncp / (ncp + n), after Steiger (2004)
    n: int  # observations in the analysis
    n_conditions: int
    left_out: tuple[str, ...]  # excluded conditions: empty, or with fewer observations than required
    constant: tuple[str, ...]  # included conditions whose values are all equal
    single: tuple[str, ...]  # included conditions with one observation


@dataclass(frozen=True)
class WelchResult:
    """Welch's analysis of variance for unequal variances; `df_within` is fractional."""

    f: float
    p: float
    df_between: int
    df_within: float
    n: int
    n_conditions: int
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class SpreadResult:
    """Test of equal variances: an analysis of variance of the distances from each condition's centre.

    `test` is "Brown-Forsythe" (distances from the median) or "Levene" (from the mean).
    """

    test: str
    f: float
    p: float
    df_between: int
    df_within: int
    n: int
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class NormalityResult:
    """Shapiro-Wilk test: `w` in (0, 1], its `p`, the number of values, and the excluded conditions."""

    w: float
    p: float
    n: int
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class KruskalResult:
    """Kruskal-Wallis with the correction for ties."""

    h: float  # corrected for ties
    df: int
    p: float  # of chi-square
    tie_correction: float  # the divisor, in (0, 1]; 1 without ties
    mean_ranks: dict[str, float]  # 1 for the smallest value
    # These two are no effect sizes of the analysis of variance.
    rank_epsilon_squared: float  # H / (n - 1)
    # (H - k + 1) / (n - k), may be negative; None with one observation in every condition.
    rank_eta_squared: float | None
    n: int
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """One comparison of a post hoc test."""

    a: str
    b: str  # in the order of the data
    # Location of `a` minus location of `b`: means, mean ranks for Dunn, share of users for the sign test. Exactly 0
    # when the two are equal.
    difference: float
    p: float | None  # adjusted for all comparisons of the family; None for an untested pair
    is_significant: bool  # `p` < alpha; False for an untested pair
    ci_low: float | None = None  # simultaneous interval of the difference, for tests that have one
    ci_high: float | None = None
    statistic: float | None = None  # studentized range q (or z for ranks)
    df: float | None = None
    se: float | None = None  # standard error of the difference
    p_unadjusted: float | None = None  # for tests that adjust p values
    reason: str | None = None  # why the pair was not tested


@dataclass(frozen=True)
class PairwiseResult:
    """All pairs of a post hoc test."""

    test: str  # its name, with the correction ("Tukey HSD", "Games-Howell", "Dunn-Holm")
    alpha: float  # level of the family
    pairs: tuple[Pair, ...]  # every pair of conditions that took part, in the order of the data
    locations: dict[str, float]  # mean, mean rank or rate of each condition, as the test compares
    n: dict[str, int]  # observations of each condition
    left_out: tuple[str, ...] = ()  # excluded conditions
    constant: tuple[str, ...] = ()  # included conditions whose values are all equal
    single: tuple[str, ...] = ()  # included conditions with one observation


@dataclass(frozen=True)
class SignTestResult:
    """Sign test of two algorithms on the same users."""

    n_a: int  # users with the higher value under the first algorithm
    n_b: int  # and under the second
    n_ties: int  # users with equal values, dropped by the test
    n_left_out: int  # users without a value under one or both algorithms
    p: float  # exact binomial, two-sided


@dataclass(frozen=True)
class SignPair(Pair):
    """A pair of algorithms compared by the sign test, with its counts of users."""

    n_a: int = 0
    n_b: int = 0
    n_ties: int = 0
    n_left_out: int = 0


@dataclass(frozen=True)
class SignTests(PairwiseResult):
    """The sign tests of every pair of algorithms, adjusted as one family."""

    pairs: tuple[SignPair, ...]


@dataclass(frozen=True)
class AgreementResult:
    """Rank correlation of two measures of the same algorithms."""

    coefficient: float  # Kendall's tau-b or Spearman's rho, in [-1, 1]
    p: float  # two-sided: share of permutations whose statistic is at least as extreme as the observed one
    p_method: str  # "exact permutation" (all orders), "exact" (no ties) or "Monte Carlo" (100,000 orders)
    n: int  # algorithms compared
    # The smallest |coefficient| with p < .05, given these ties; None if no order reaches it.
    smallest_detectable: float | None
