"""What the analysis of variance assumes: equal spread and normal residuals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import numpy as np

from core.errors import ParameterError
from inference.anova import pooled, why_not_pooled
from inference.descriptive import quantile
from inference.groups import Group, Groups, GroupValues
from inference.lazy import stats
from inference.results import NormalityResult, SpreadResult, Undefined

SHAPIRO = "Shapiro-Wilk"
SPREAD_TESTS = {"median": "Brown-Forsythe", "mean": "Levene"}
FEWEST_FOR_SHAPIRO = 3
MOST_FOR_SHAPIRO = 5000  # the approximation of its p was fitted up to here


def brown_forsythe(groups: GroupValues) -> SpreadResult | Undefined:
    """Brown and Forsythe's test of equal spread: Levene's, with distances from the median.

    Parameters
    ----------
    groups : mapping of str to values
        As for `levene`, and so is what may go wrong.

    Returns
    -------
    SpreadResult or Undefined

    References
    ----------
    Brown & Forsythe (1974), Journal of the American Statistical Association 69(346):364-367.

    Examples
    --------
    >>> result = brown_forsythe({"A": [1, 2, 3, 4], "B": [0, 10, 20, 30]})
    >>> round(result.f, 3), result.df_between, result.df_within
    (9.624, 1, 6)
    """
    return levene(groups, center="median")


def levene(groups: GroupValues, center: Literal["mean", "median"] = "mean") -> SpreadResult | Undefined:
    """Levene's test of equal spread.

    Parameters
    ----------
    groups : mapping of str to values
        Condition -> observations; empty conditions are left out by name. A condition of one observation lies
        at distance 0 from its own centre.
    center : {"mean", "median"}
        The centre from which distances are taken; "median" is Brown and Forsythe's variant.

    Returns
    -------
    SpreadResult or Undefined
        Undefined with fewer than two conditions, or when the distances have no spread within the conditions
        (always so with two observations in each).

    Raises
    ------
    ParameterError, DataError
        An unknown centre; a value that is not a finite number.

    References
    ----------
    Levene (1960); Brown & Forsythe (1974), Journal of the American Statistical Association 69(346):364-367.

    Examples
    --------
    >>> levene({"A": [1, 1], "B": [2, 2]}).reason
    'Within every condition all values lie equally far from its mean: spread cannot be compared.'
    """
    if center not in SPREAD_TESTS:
        raise ParameterError(f"The centre {center!r} is unknown: choose mean or median.")
    read = Groups.read(groups)
    test = SPREAD_TESTS[center]
    if read.k < 2:
        return Undefined("Comparing spread needs two conditions with observations.", test)
    distances = _distances(read, center)
    if why_not_pooled(distances, test) is not None:
        far = f"Within every condition all values lie equally far from its {center}"
        return Undefined(f"{far}: spread cannot be compared.", test)
    found = pooled(distances)
    return SpreadResult(test, found.f, found.p, found.df_between, found.df_within, found.n, read.left_out)


def _distances(read: Groups, center: str) -> Groups:
    """Distances from each condition's centre, on a scale fine enough to hold it."""
    finer = 2 if center == "median" else math.lcm(*(group.n for group in read.members))
    members = []
    for group in read.members:
        middle = (
            quantile(sorted(group.points), Fraction(1, 2)) if center == "median" else Fraction(group.total, group.n)
        )
        at = int(middle * finer)
        points = tuple(abs(point * finer - at) for point in group.points)
        members.append(Group(group.name, points, group.scale * finer))
    return Groups(tuple(members), ())


def shapiro_residuals(groups: GroupValues) -> NormalityResult | Undefined:
    """Shapiro and Wilk's test of normality, on the residuals of all conditions together.

    On answers of few steps it nearly always rejects: read it beside a plot of the residuals, and let it not
    choose the test.

    Parameters
    ----------
    groups : mapping of str to values
        Condition -> observations. Conditions with fewer than two are left out by name: a single observation
        is its own mean, and its residual of 0 says nothing.

    Returns
    -------
    NormalityResult or Undefined
        Undefined with fewer than 3 or more than 5,000 residuals, or when none differs from 0.

    Raises
    ------
    DataError
        A value that is not a finite number.

    References
    ----------
    Shapiro & Wilk (1965), Biometrika 52(3/4):591-611; Royston (1995), algorithm AS R94.

    Examples
    --------
    >>> shapiro_residuals({"A": [3, 3, 3], "B": [4, 4, 4]}).reason
    'All residuals are 0: there is no shape to judge.'
    """
    read = Groups.read(groups, least_n=2)
    return _shapiro(read.members, read.left_out)


def shapiro_groups(groups: GroupValues) -> dict[str, NormalityResult | Undefined]:
    """Shapiro and Wilk's test of normality, condition by condition.

    Parameters, errors and references as for `shapiro_residuals`.

    Returns
    -------
    dict of str to NormalityResult or Undefined
        Every condition of the input; undefined with fewer than 3 or more than 5,000 values, or equal values.

    Examples
    --------
    >>> found = shapiro_groups({"A": [1, 2, 4, 8], "B": [5, 5, 5]})
    >>> round(found["A"].w, 4), found["B"].reason
    (0.9202, 'All residuals are 0: there is no shape to judge.')
    """
    read = Groups.read(groups)
    tested = {group.name: _shapiro((group,), ()) for group in read.members}
    return {name: tested.get(name, Undefined("There are no observations.", SHAPIRO)) for name in groups}


def _shapiro(members: Sequence[Group], left_out: tuple[str, ...]) -> NormalityResult | Undefined:
    n = sum(group.n for group in members)
    if not FEWEST_FOR_SHAPIRO <= n <= MOST_FOR_SHAPIRO:
        reason = f"The test is made for {FEWEST_FOR_SHAPIRO:,} to {MOST_FOR_SHAPIRO:,} values; there are {n:,}."
        return Undefined(reason, SHAPIRO)
    finer = math.lcm(*(group.n for group in members))
    residuals = [point * finer - group.total * (finer // group.n) for group in members for point in group.points]
    largest = max(map(abs, residuals))
    if largest == 0:
        return Undefined("All residuals are 0: there is no shape to judge.", SHAPIRO)
    # The statistic knows no unit; this one keeps its squares within the range of a float.
    tested = stats.shapiro(np.array([residual / largest for residual in residuals]))
    return NormalityResult(float(tested.statistic), float(tested.pvalue), n, left_out)
