"""Assumptions of the analysis of variance: equal variances and normal residuals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import numpy as np

from core.errors import ParameterError
from inference.groups import Group, Groups, GroupValues
from inference.results import NormalityResult, SpreadResult, Undefined

SHAPIRO = "Shapiro-Wilk"
SPREAD_TESTS = {"median": "Brown-Forsythe", "mean": "Levene"}
EQUAL_WITHIN = 1e-12  # of the largest value
FEWEST_FOR_SHAPIRO = 3
MOST_FOR_SHAPIRO = 5000  # the approximation of its p was fitted up to here


def brown_forsythe(groups: GroupValues) -> SpreadResult | Undefined:
    """Brown and Forsythe's test of equal variances: `levene` with distances from the median. Source: Brown & Forsythe
    (1974), Journal of the American Statistical Association 69(346):364-367.

    Examples
    --------
    >>> result = brown_forsythe({"A": [1, 2, 3, 4], "B": [0, 10, 20, 30]})
    >>> round(result.f, 3), result.df_between, result.df_within
    (9.624, 1, 6)
    """
    return levene(groups, center="median")


def levene(groups: GroupValues, center: Literal["mean", "median"] = "mean") -> SpreadResult | Undefined:
    """Levene's test of equal variances. Distances are taken from `center`; "median" is Brown and Forsythe's variant.
    Empty conditions are excluded and named. A condition of one observation has distance 0 from its own centre.
    Undefined with fewer than two conditions, or when the distances have no variance within the conditions (always the
    case with two observations in each). Raises ParameterError for an unknown centre. Sources: Levene (1960); Brown &
    Forsythe (1974), Journal of the American Statistical Association 69(346):364-367.

    Examples
    --------
    >>> levene({"A": [1, 1], "B": [2, 2]}).reason
    'Within every condition all values are equally distant from the mean: equality of variances cannot be tested.'
    """
    from scipy import stats

    if center not in SPREAD_TESTS:
        raise ParameterError(f"The centre {center!r} is unknown: choose mean or median.")
    read = Groups.read(groups)
    test = SPREAD_TESTS[center]
    if read.k < 2:
        return Undefined("A test of equal variances needs two conditions with observations.", test)
    points = [np.array([float(Fraction(p, group.scale)) for p in group.points]) for group in read.members]
    centre = np.median if center == "median" else np.mean
    apart = [np.abs(values - centre(values)) for values in points]
    # Rounding leaves distances that are equal on paper apart by about 1e-16 of the values.
    if all(np.ptp(of) <= EQUAL_WITHIN * np.abs(values).max() for of, values in zip(apart, points, strict=True)):
        far = f"Within every condition all values are equally distant from the {center}"
        return Undefined(f"{far}: equality of variances cannot be tested.", test)
    result = stats.levene(*points, center=center)
    f, p = float(result.statistic), float(result.pvalue)
    return SpreadResult(test, f, p, read.k - 1, read.n - read.k, read.n, read.left_out)


def shapiro_residuals(groups: GroupValues) -> NormalityResult | Undefined:
    """Shapiro and Wilk's test of normality, on the pooled residuals of all conditions.

    With answers on a scale of few points it nearly always rejects: read it beside a plot of the residuals, and do not
    let it choose the test. Conditions with fewer than two observations are excluded and named: the residual of a single
    observation is always 0. Undefined with fewer than 3 or more than 5,000 residuals, or when none differs from 0.
    Sources: Shapiro & Wilk (1965), Biometrika 52(3/4):591-611; Royston (1995), algorithm AS R94.

    Examples
    --------
    >>> shapiro_residuals({"A": [3, 3, 3], "B": [4, 4, 4]}).reason
    'All residuals are 0: normality cannot be tested.'
    """
    read = Groups.read(groups, least_n=2)
    return _shapiro(read.members, read.left_out)


def _shapiro(members: Sequence[Group], left_out: tuple[str, ...]) -> NormalityResult | Undefined:
    from scipy import stats

    n = sum(group.n for group in members)
    if not FEWEST_FOR_SHAPIRO <= n <= MOST_FOR_SHAPIRO:
        reason = f"The test applies to {FEWEST_FOR_SHAPIRO:,} to {MOST_FOR_SHAPIRO:,} values; there are {n:,}."
        return Undefined(reason, SHAPIRO)
    finer = math.lcm(*(group.n for group in members))
    residuals = [point * finer - group.total * (finer // group.n) for group in members for point in group.points]
    largest = max(map(abs, residuals))
    if largest == 0:
        return Undefined("All residuals are 0: normality cannot be tested.", SHAPIRO)
    # The statistic knows no unit; this one keeps its squares within the range of a float.
    tested = stats.shapiro(np.array([residual / largest for residual in residuals]))
    return NormalityResult(float(tested.statistic), float(tested.pvalue), n, left_out)
