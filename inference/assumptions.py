"""Assumptions of the analysis of variance: equal variances and normal residuals."""

from __future__ import annotations

import numpy as np

from inference.groups import Groups, GroupValues
from inference.results import NormalityResult, SpreadResult, Undefined

BROWN_FORSYTHE = "Brown-Forsythe"
EQUAL_WITHIN = 1e-12  # of the largest value
FEWEST_FOR_SHAPIRO = 3
MOST_FOR_SHAPIRO = 5000  # the approximation of its p was fitted up to here


def brown_forsythe(groups: GroupValues) -> SpreadResult | Undefined:
    """Brown and Forsythe's test of equal variances: Levene's test with distances from the median.

    Empty conditions are excluded and named. A condition of one observation has distance 0 from its own median.
    Undefined with fewer than two conditions, or when the distances have no variance within the conditions (always the
    case with two observations in each). Source: Brown & Forsythe (1974), Journal of the American Statistical
    Association 69(346):364-367.

    Examples
    --------
    >>> result = brown_forsythe({"A": [1, 2, 3, 4], "B": [0, 10, 20, 30]})
    >>> round(result.f, 3), result.df_between, result.df_within
    (9.624, 1, 6)
    """
    from scipy import stats

    read = Groups.read(groups)
    if read.k < 2:
        return Undefined("A test of equal variances needs two conditions with observations.")
    points = [group.floats for group in read.members]
    apart = [np.abs(values - np.median(values)) for values in points]
    # Rounding leaves distances that are equal on paper apart by about 1e-16 of the values.
    if all(np.ptp(of) <= EQUAL_WITHIN * np.abs(values).max() for of, values in zip(apart, points, strict=True)):
        far = "Within every condition all values are equally distant from the median"
        return Undefined(f"{far}: equality of variances cannot be tested.")
    result = stats.levene(*points, center="median")
    f, p = float(result.statistic), float(result.pvalue)
    return SpreadResult(BROWN_FORSYTHE, f, p, read.k - 1, read.n - read.k, read.n, read.left_out)


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
    from scipy import stats

    read = Groups.read(groups, least_n=2)
    if not FEWEST_FOR_SHAPIRO <= read.n <= MOST_FOR_SHAPIRO:
        reason = f"The test applies to {FEWEST_FOR_SHAPIRO:,} to {MOST_FOR_SHAPIRO:,} values; there are {read.n:,}."
        return Undefined(reason)
    if len(read.constant) == read.k:
        return Undefined("All residuals are 0: normality cannot be tested.")
    residuals = np.array([float(value - group.mean) for group in read.members for value in group.values()])
    # The statistic knows no unit; this one keeps its squares within the range of a float.
    tested = stats.shapiro(residuals / np.abs(residuals).max())
    return NormalityResult(float(tested.statistic), float(tested.pvalue), read.n, read.left_out)
