"""Frozen results: what every procedure of this package gives back.

A procedure returns its result or `Undefined`, the named reason why there is none. No field is ever NaN or
infinite; what does not exist is None. ``as_dict()`` gives plain values that JSON can hold.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Turn results, enumerations, tuples and NumPy values into what JSON can hold.

    Parameters
    ----------
    value : object
        A result, or anything that one holds.

    Returns
    -------
    dict, list, str, float, int, bool or None

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
    """What all results share: a plain form for JSON."""

    def as_dict(self) -> dict[str, Any]:
        """Give every field as plain values, nested results included."""
        converted: dict[str, Any] = plain(self)
        return converted


@dataclass(frozen=True)
class Undefined(Result):
    """Why a procedure has no result on these data.

    Attributes
    ----------
    reason : str
        One plain sentence that a reader of the report understands.
    procedure : str
        The procedure that was asked for ("Welch ANOVA").
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
    """Numbers that describe one condition, box-plot numbers included.

    Attributes
    ----------
    n : int
        Observations, >= 1.
    mean, median, q1, q3 : float
        In the unit of the data; quantiles of type 7 (linear between order statistics).
    minimum, maximum : float
        The ends of the data.
    sd, se : float or None
        Sample standard deviation (n - 1) and standard error of the mean; None for one observation.
    ci_low, ci_high : float or None
        95 % t interval of the mean; None for one observation, no width when all values are equal.
    whisker_low, whisker_high : float
        The last observations within 1.5 interquartile ranges of the box.
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
        F statistic and its upper tail probability.
    df_between, df_within : int
        Degrees of freedom.
    ss_between, ss_within, ms_between, ms_within : float
        Sums of squares and mean squares, in squared units of the data.
    eta_squared : float
        Share of the total sum of squares, in [0, 1]; equal to partial eta squared in a one-way design.
    omega_squared, epsilon_squared : float
        Estimates with less bias; they may come out below 0, which is printed as 0 with a note.
    eta_squared_ci : Interval or None
        Two-sided 95 % interval ncp / (ncp + df_within), the convention of R's effectsize. None when F is too
        large for the noncentral distribution to be evaluated.
    eta_squared_ci_steiger : Interval or None
        The same limits as ncp / (ncp + n), the convention of Steiger (2004).
    n, n_conditions : int
        Observations and conditions used.
    left_out : tuple of str
        Conditions that took no part: empty, or with fewer observations than the caller asked for.
    constant, single : tuple of str
        Conditions that took part though all their values are equal; though they hold one observation.
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
    """Equality of spread: an analysis of variance of the distances from each condition's centre.

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
    """Shapiro-Wilk: `w` in (0, 1], its `p`, the number of values, and the conditions left out."""

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
        The statistic, corrected for ties, and its chi-square tail.
    tie_correction : float
        The divisor, in (0, 1]; 1 without ties.
    mean_ranks : dict of str to float
        Mean rank of each condition, 1 for the smallest value.
    rank_epsilon_squared, rank_eta_squared : float, float or None
        H / (n - 1) and (H - k + 1) / (n - k); not the effect sizes of the analysis of variance. The second
        may come out below 0, and is None when every condition has one observation.
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
        The two conditions, in the order in which the data came.
    difference : float
        Location of `a` minus location of `b`: means, mean ranks for Dunn, share of users for the sign test.
        Exactly 0 when the two are equal.
    p : float or None
        Adjusted for all comparisons of the family; None when the pair could not be tested.
    is_significant : bool
        `p` < alpha; False when the pair could not be tested.
    ci_low, ci_high : float or None
        Simultaneous interval of the difference, for the tests that have one.
    statistic, df, se : float or None
        Studentized range q (or z for ranks), degrees of freedom, standard error of the difference.
    p_unadjusted : float or None
        The p of this comparison alone, for tests that adjust afterwards.
    reason : str or None
        Why the pair could not be tested.
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
        What the test compares: "mean" or "mean rank".
    locations : dict of str to float
        That location of each condition.
    n : dict of str to int
        Observations of each condition.
    left_out, constant, single : tuple of str
        Conditions that took no part; those that took part with equal values only; with one observation.
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
        Users better served by the first algorithm and by the second.
    n_ties : int
        Users served equally; the test drops them.
    n_left_out : int
        Users without a value on one side or on both.
    p : float
        Exact binomial tail.
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
    """A pair of algorithms compared by the sign test, with the counts of users behind it."""

    n_a: int = 0
    n_b: int = 0
    n_ties: int = 0
    n_left_out: int = 0


@dataclass(frozen=True)
class SignTests(PairwiseResult):
    """The sign tests of every pair of algorithms, adjusted as one family."""

    pairs: tuple[SignPair, ...]


@dataclass(frozen=True)
class AgreementResult(Result):
    """Rank correlation of two orderings of the same algorithms.

    Attributes
    ----------
    coefficient : float
        Kendall's tau-b or Spearman's rho, in [-1, 1].
    p : float
        Two-sided: the share of orders whose statistic is at least as far from 0 as the observed one.
    p_method : str
        How p was found: "exact permutation", "exact", "normal approximation" or "t approximation".
    n : int
        Algorithms compared.
    smallest_detectable : float or None
        The smallest absolute coefficient with p < .05 for these ties; None if no order could reach it.
    """

    coefficient: float
    p: float
    p_method: str
    n: int
    smallest_detectable: float | None


@dataclass(frozen=True)
class PairDirections(Result):
    """In how many pairs of algorithms two measures point the same way.

    Attributes
    ----------
    same, opposite, tied : int
        Pairs ordered alike, ordered the other way round, and equal on at least one measure.
    n_pairs : int
        Their sum.
    p : float
        Share of all orders that agree in at least as many pairs.
    p_method : str
        "exact permutation", "exact" or "normal approximation".
    """

    same: int
    opposite: int
    tied: int
    n_pairs: int
    p: float
    p_method: str


@dataclass(frozen=True)
class ReliabilityResult(Result):
    """Cronbach's alpha of one scale.

    Attributes
    ----------
    alpha : float
        At most 1; negative where questions run against one another.
    ci_low, ci_high : float
        Feldt's interval at the level asked for.
    n : int
        Participants who answered every question.
    k : int
        Questions.
    n_left_out : int
        Participants with a missing answer.
    constant : tuple of int
        Places of the questions that everybody answered alike.
    alpha_without : tuple of (float or None)
        Alpha without each question; None for a scale of two, or where nothing would vary.
    correlation_with_rest : tuple of (float or None)
        Correlation of each question with the sum of the others; None where one of them is constant.
    """

    alpha: float
    ci_low: float
    ci_high: float
    n: int
    k: int
    n_left_out: int
    constant: tuple[int, ...]
    alpha_without: tuple[float | None, ...]
    correlation_with_rest: tuple[float | None, ...]
