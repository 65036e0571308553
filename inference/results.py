"""Frozen results of the procedures of this package.

A procedure returns its result or `Undefined`, which states the reason. No field is ever NaN or infinite; a value that
does not exist is None. ``as_dict()`` converts a result to plain JSON values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from inference.permutations import DRAWN, SAMPLED


def plain(value: Any) -> Any:
    """Convert results, enumerations, tuples and NumPy values to plain JSON values.

    Examples
    --------
    >>> plain((np.float64(0.5), {"a": (1, None)}))
    [0.5, {'a': [1, None]}]
    """
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        shown = (field for field in fields(value) if field.metadata.get("in_json", True))
        return {field.name: plain(getattr(value, field.name)) for field in shown}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return value


class Result:
    """Base of all results: conversion to plain JSON values."""

    def as_dict(self) -> dict[str, Any]:
        """Convert every field to plain values, nested results included."""
        converted: dict[str, Any] = plain(self)
        return converted


@dataclass(frozen=True)
class Undefined(Result):
    """The reason why a procedure has no result on these data.

    Attributes
    ----------
    reason : str
        One sentence for readers of the report.
    procedure : str
        The requested procedure ("Welch ANOVA").
    """

    reason: str
    procedure: str = ""


@dataclass(frozen=True)
class Interval(Result):
    """A two-sided confidence interval; `low` <= `high`, both finite."""

    low: float
    high: float


@dataclass(frozen=True)
class Description(Result):
    """Descriptive statistics of one condition, including those of its box plot.

    Attributes
    ----------
    n : int
        Observations, >= 1.
    mean, median, q1, q3 : float
        In the unit of the data; quantiles of type 7 (linear between order statistics).
    minimum, maximum : float
        Range of the data.
    sd, se : float or None
        Sample standard deviation (n - 1) and standard error of the mean; None for one observation.
    ci_low, ci_high : float or None
        95% t interval of the mean; None for one observation, of width 0 when all values are equal.
    whisker_low, whisker_high : float
        The most extreme observations within 1.5 interquartile ranges of the box.
    outliers : tuple of float
        The observations beyond the whiskers, ascending, repeated as often as they occur.
    """

    n: int
    mean: float
    median: float
    q1: float
    q3: float
    minimum: float
    maximum: float
    sd: float | None
    se: float | None
    ci_low: float | None
    ci_high: float | None
    whisker_low: float
    whisker_high: float
    outliers: tuple[float, ...]


@dataclass(frozen=True)
class AnovaResult(Result):
    """One-way analysis of variance with pooled variance.

    Attributes
    ----------
    f, p : float
        F statistic and its p value.
    df_between, df_within : int
        Degrees of freedom.
    ss_between, ss_within, ms_between, ms_within : float
        Sums of squares and mean squares, in squared units of the data.
    eta_squared : float
        Share of the total sum of squares, in [0, 1]; equal to partial eta squared in a one-way design.
    omega_squared, epsilon_squared : float
        Less biased estimates; negative ones are printed as 0 with a note.
    eta_squared_ci : Interval or None
        Two-sided 95% interval ncp / (ncp + df_within), as in R's effectsize. None when F is too large for the
        noncentral distribution to be evaluated.
    eta_squared_ci_steiger : Interval or None
        The same limits as ncp / (ncp + n), after Steiger (2004).
    n, n_conditions : int
        Observations and conditions in the analysis.
    left_out : tuple of str
        Excluded conditions: empty, or with fewer observations than required.
    constant, single : tuple of str
        Included conditions whose values are all equal; included conditions with one observation.
    """

    f: float
    p: float
    df_between: int
    df_within: int
    ss_between: float
    ss_within: float
    ms_between: float
    ms_within: float
    eta_squared: float
    omega_squared: float
    epsilon_squared: float
    eta_squared_ci: Interval | None
    eta_squared_ci_steiger: Interval | None
    n: int
    n_conditions: int
    left_out: tuple[str, ...]
    constant: tuple[str, ...]
    single: tuple[str, ...]


@dataclass(frozen=True)
class WelchResult(Result):
    """Welch's analysis of variance for unequal variances; `df_within` is fractional."""

    f: float
    p: float
    df_between: int
    df_within: float
    n: int
    n_conditions: int
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class SpreadResult(Result):
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
class NormalityResult(Result):
    """Shapiro-Wilk test: `w` in (0, 1], its `p`, the number of values, and the excluded conditions."""

    w: float
    p: float
    n: int
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class KruskalResult(Result):
    """Kruskal-Wallis with the correction for ties.

    Attributes
    ----------
    h, df, p : float, int, float
        The statistic, corrected for ties, its degrees of freedom and p value (chi-square).
    tie_correction : float
        The divisor, in (0, 1]; 1 without ties.
    mean_ranks : dict of str to float
        Mean rank of each condition, 1 for the smallest value.
    rank_epsilon_squared, rank_eta_squared : float, float or None
        H / (n - 1) and (H - k + 1) / (n - k); not the effect sizes of the analysis of variance. The second may be
        negative, and is None when every condition has one observation.
    """

    h: float
    df: int
    p: float
    tie_correction: float
    mean_ranks: dict[str, float]
    rank_epsilon_squared: float
    rank_eta_squared: float | None
    n: int
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class Pair(Result):
    """One comparison of a post hoc test.

    Attributes
    ----------
    a, b : str
        The two conditions, in the order of the data.
    difference : float
        Location of `a` minus location of `b`: means, mean ranks for Dunn, share of users for the sign test.
        Exactly 0 when the two are equal.
    p : float or None
        Adjusted for all comparisons of the family; None for an untested pair.
    is_significant : bool
        `p` < alpha; False for an untested pair.
    ci_low, ci_high : float or None
        Simultaneous confidence interval of the difference, for tests that have one.
    statistic, df, se : float or None
        Studentized range q (or z for ranks), degrees of freedom, standard error of the difference.
    p_unadjusted : float or None
        The unadjusted p, for tests that adjust p values.
    reason : str or None
        The reason why the pair was not tested.
    """

    a: str
    b: str
    difference: float
    p: float | None
    is_significant: bool
    ci_low: float | None = None
    ci_high: float | None = None
    statistic: float | None = None
    df: float | None = None
    se: float | None = None
    p_unadjusted: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class PairwiseResult(Result):
    """All pairs of a post hoc test.

    Attributes
    ----------
    test : str
        Its name, with the correction ("Tukey HSD", "Games-Howell", "Dunn-Holm").
    alpha : float
        Level of the family.
    pairs : tuple of Pair
        Every pair of conditions that took part, in the order of the data.
    location_name : str
        The location that the test compares: "mean" or "mean rank".
    locations : dict of str to float
        That location of each condition.
    n : dict of str to int
        Observations of each condition.
    left_out, constant, single : tuple of str
        Excluded conditions; included conditions whose values are all equal; included conditions with one observation.
    """

    test: str
    alpha: float
    pairs: tuple[Pair, ...]
    location_name: str
    locations: dict[str, float]
    n: dict[str, int]
    left_out: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()
    single: tuple[str, ...] = ()


@dataclass(frozen=True)
class SignTestResult(Result):
    """Sign test of two algorithms on the same users.

    Attributes
    ----------
    n_a, n_b : int
        Users with the higher value under the first algorithm and under the second.
    n_ties : int
        Users with equal values, dropped by the test.
    n_left_out : int
        Users without a value under one or both algorithms.
    p : float
        Exact binomial p value.
    alternative : str
        "greater" (the first is better) or "two-sided".
    """

    n_a: int
    n_b: int
    n_ties: int
    n_left_out: int
    p: float
    alternative: str


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


class PermutationTest(Result):
    """A test whose p value is a share of orders."""

    p: float
    p_method: str

    @property
    def p_error(self) -> float:
        """Monte Carlo standard error of `p`; 0 where all orders are counted."""
        return math.sqrt(self.p * (1 - self.p) / (DRAWN + 1)) if self.p_method == SAMPLED else 0.0


@dataclass(frozen=True)
class AgreementResult(PermutationTest):
    """Rank correlation of two measures of the same algorithms.

    Attributes
    ----------
    coefficient : float
        Kendall's tau-b or Spearman's rho, in [-1, 1].
    p : float
        Two-sided: share of permutations whose statistic is at least as extreme as the observed one.
    p_method : str
        Method: "exact permutation" (all orders), "exact" (no ties) or "Monte Carlo" (100,000 orders).
    n : int
        Algorithms compared.
    smallest_detectable : float or None
        The smallest absolute coefficient with p < .05, given these ties; None if no order reaches it.
    """

    coefficient: float
    p: float
    p_method: str
    n: int
    smallest_detectable: float | None


@dataclass(frozen=True)
class PairDirections(PermutationTest):
    """Concordance of two measures over the pairs of algorithms.

    Attributes
    ----------
    same, opposite, tied : int
        Concordant pairs, discordant pairs, and pairs tied on at least one measure.
    n_pairs : int
        Their sum.
    p : float
        Share of permutations with at least as many concordant pairs.
    p_method : str
        As for `AgreementResult`.
    """

    same: int
    opposite: int
    tied: int
    n_pairs: int
    p: float
    p_method: str
