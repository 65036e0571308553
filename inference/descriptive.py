"""Numbers that describe each condition, and the numbers of its box plot."""

from __future__ import annotations

import math

import numpy as np

from inference.groups import Group, Groups, GroupValues
from inference.results import Description
from inference.t_tests import t_test

WHISKER = 1.5  # interquartile ranges from the box to the last point that is no outlier


def describe(groups: GroupValues) -> dict[str, Description]:
    """Describe every condition that has observations. Quantiles are of type 7 (Hyndman & Fan, 1996, The American
    Statistician 50(4):361-365). Quartiles and fences are computed in whole steps of the data's grid, without rounding,
    so a point on a fence is never an outlier.

    Examples
    --------
    >>> {name: described.mean for name, described in describe({"TopPop": [3, 4, 5, 4], "LSA": []}).items()}
    {'TopPop': 4.0}
    """
    return {group.name: _describe(group) for group in Groups.read(groups).members}


def _describe(group: Group) -> Description:
    steps, values = np.sort(np.array(group.points, dtype=np.float64)), np.sort(group.floats).tolist()
    quartiles = np.quantile(steps, [0.25, 0.5, 0.75])
    reach = WHISKER * (quartiles[2] - quartiles[0])
    is_inside = (steps >= quartiles[0] - reach) & (steps <= quartiles[2] + reach)
    inside = [value for value, is_kept in zip(values, is_inside, strict=True) if is_kept]
    q1, median, q3 = (quartiles / group.scale).tolist()
    mean = float(group.mean)
    sd = se = ci_low = ci_high = None
    if group.n > 1:
        sd = math.sqrt(group.variance)
        se = math.sqrt(group.variance / group.n)
        _p, interval = t_test(mean, se, group.n - 1)
        ci_low, ci_high = interval.low, interval.high
    return Description(
        n=group.n,
        mean=mean,
        median=median,
        q1=q1,
        q3=q3,
        minimum=values[0],
        maximum=values[-1],
        sd=sd,
        se=se,
        ci_low=ci_low,
        ci_high=ci_high,
        whisker_low=inside[0],
        whisker_high=inside[-1],
        outliers=tuple(value for value, is_kept in zip(values, is_inside, strict=True) if not is_kept),
    )
