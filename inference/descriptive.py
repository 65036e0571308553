"""Numbers that describe each condition, and the numbers of its box plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from inference.groups import Group, Groups, GroupValues
from inference.results import Description, plain
from inference.t_tests import t_test

WHISKER = Fraction(3, 2)  # interquartile ranges from the box to the last point that is no outlier


class Descriptions(dict[str, Description]):
    """Descriptions by condition; `left_out` names the conditions without observations."""

    def __init__(self, described: dict[str, Description], left_out: tuple[str, ...]) -> None:
        super().__init__(described)
        self.left_out = left_out

    def as_dict(self) -> dict[str, Any]:
        """Give every description as plain values."""
        converted: dict[str, Any] = plain(dict(self))
        return converted


def quantile(ordered: Sequence[Fraction] | Sequence[int], share: Fraction) -> Fraction:
    """Quantile of type 7 of ascending values, at least one: linear between the two nearest order statistics. Source:
    Hyndman & Fan (1996), The American Statistician 50(4):361-365, definition 7.

    Examples
    --------
    >>> quantile([Fraction(1), Fraction(2)], Fraction(1, 4))
    Fraction(5, 4)
    """
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def describe(groups: GroupValues) -> Descriptions:
    """Describe every condition that has observations; the others are named in ``left_out``. Quartiles, fences and
    outliers are found without rounding, so a point on a fence is never an outlier.

    Examples
    --------
    >>> described = describe({"TopPop": [3, 4, 5, 4], "LSA": []})
    >>> described["TopPop"].mean, described.left_out
    (4.0, ('LSA',))
    """
    read = Groups.read(groups)
    return Descriptions({group.name: _describe(group) for group in read.members}, read.left_out)


def _describe(group: Group) -> Description:
    ordered = sorted(group.points)
    q1, median, q3 = (quantile(ordered, Fraction(quarter, 4)) for quarter in (1, 2, 3))
    reach = WHISKER * (q3 - q1)
    # On a grid of integers, "at or above the fence" is "at or above the next integer".
    low, high = math.ceil(q1 - reach), math.floor(q3 + reach)
    inside = [point for point in ordered if low <= point <= high]
    outliers = [point for point in ordered if not low <= point <= high]
    mean = float(group.mean)
    sd = se = ci_low = ci_high = None
    if group.n > 1:
        sd = math.sqrt(group.variance)
        se = math.sqrt(group.variance / group.n)
        _p, interval = t_test(mean, se, group.n - 1)
        ci_low, ci_high = interval.low, interval.high

    def in_unit(point: Fraction | int) -> float:
        return float(Fraction(point) / group.scale)

    return Description(
        n=group.n,
        mean=mean,
        median=in_unit(median),
        q1=in_unit(q1),
        q3=in_unit(q3),
        minimum=in_unit(ordered[0]),
        maximum=in_unit(ordered[-1]),
        sd=sd,
        se=se,
        ci_low=ci_low,
        ci_high=ci_high,
        whisker_low=in_unit(inside[0]),
        whisker_high=in_unit(inside[-1]),
        outliers=tuple(in_unit(point) for point in outliers),
    )
