"""How two measurements of the same participants go together: over all, within conditions, between their means.

Pooled over conditions, a correlation mixes two things: participants who answer high on both, and algorithms that
score high on both. So the within part (deviations from the condition's own means) and the between part (the means
themselves) are computed apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from core.errors import DataError
from inference.exact import Number, as_float, exact
from inference.groups import ExactGroups, Group, Groups, GroupValues, in_words
from inference.results import Interval, Result, Undefined

PEARSON = "Pearson's r"
WITHIN = "Pooled within-condition correlation"
BETWEEN = "Correlation of condition means"
FISHER = "Fisher's z"
CONFIDENCE = 0.95


@dataclass(frozen=True)
class CorrelationResult(Result):
    """A correlation with its interval."""

    coefficient: float  # in [-1, 1]
    p: float  # two-sided, of Student's t
    t: float | None  # the statistic; None for a perfect correlation
    # Degrees of freedom of t: pairs less 2, and less one more for each condition beyond the first within conditions.
    df: int
    n: int  # pairs of values
    interval: Interval | None  # 95 %; None for a perfect correlation and with one degree of freedom
    interval_method: str  # "Fisher's z" or "Fisher's z with Bonett and Wright's error" (ranks)
    left_out: tuple[str, ...] = ()  # conditions that could say nothing


def pearson(x: Iterable[Number], y: Iterable[Number]) -> CorrelationResult | Undefined:
    """Pearson's correlation of two measurements in one order, with Fisher's interval. Undefined with fewer than three
    pairs, or when all values of a measurement are equal. Raises DataError for lists of different length or values that
    are not finite numbers. Source: Fisher (1921), Metron 1:3-32.

    Examples
    --------
    >>> result = pearson([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])
    >>> round(result.coefficient, 3), round(result.p, 4), round(result.interval.low, 3)
    (0.8, 0.1041, -0.28)
    """
    first, second = _read(x, y)
    return _pearson(first, second, PEARSON)


def _pearson(x: Sequence[Fraction], y: Sequence[Fraction], procedure: str) -> CorrelationResult | Undefined:
    (group_x,) = ExactGroups.of({"": x}).groups
    (group_y,) = ExactGroups.of({"": y}).groups
    return _of_groups(group_x, group_y, procedure)


def _of_groups(group_x: Group, group_y: Group, procedure: str) -> CorrelationResult | Undefined:
    n = group_x.n
    if n < 3:
        return Undefined(f"A correlation needs three pairs of values; there are {n}.", procedure)
    if group_x.is_constant or group_y.is_constant:
        which = "first" if group_x.is_constant else "second"
        return Undefined(f"All values of the {which} measurement are equal: no correlation exists.", procedure)
    products = _products(group_x.points, group_y.points, group_x.scale * group_y.scale)
    return _of_sums(products, group_x.squares, group_y.squares, n=n, df=n - 2)


def _products(x: Sequence[int], y: Sequence[int], scale: int) -> Fraction:
    """Sum of products of distances from both means, in the units of the data, without rounding."""
    n = len(x)
    return Fraction(n * sum(a * b for a, b in zip(x, y, strict=True)) - sum(x) * sum(y), n * scale)


def _of_sums(
    products: Fraction, squares_x: Fraction, squares_y: Fraction, *, n: int, df: int, left_out: tuple[str, ...] = ()
) -> CorrelationResult:
    """The correlation of sums of squares and products, with its t test and Fisher's interval."""
    from scipy import special

    squared = products * products / (squares_x * squares_y)
    r = math.copysign(math.sqrt(squared), products) if products else 0.0
    if squared == 1:
        return CorrelationResult(r, 0.0, None, df, n, None, FISHER, left_out)
    t = math.copysign(math.sqrt(as_float(squared * df / (1 - squared))), products) if products else 0.0
    interval = _fisher(r, 1 / math.sqrt(df - 1)) if df > 1 else None
    return CorrelationResult(r, 2 * float(special.stdtr(df, -abs(t))), t, df, n, interval, FISHER, left_out)


def _fisher(r: float, error: float) -> Interval:
    from scipy import special

    half = float(special.ndtri((1 + CONFIDENCE) / 2)) * error
    return Interval(math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))


def over_all(x: GroupValues, y: GroupValues) -> CorrelationResult | Undefined:
    """Pearson's correlation of all participants, whatever their condition; errors as in `within_conditions`."""
    read_x, read_y = _read_groups(x, y, 1)
    if not read_x.members:
        return Undefined("There are no participants.", PEARSON)
    values = [
        Group("", tuple(point for group in read.members for point in group.points), read.members[0].scale)
        for read in (read_x, read_y)
    ]
    return _of_groups(values[0], values[1], PEARSON)


def within_conditions(x: GroupValues, y: GroupValues) -> CorrelationResult | Undefined:
    """The correlation of participants inside their conditions: of deviations from the condition's own means.

    `x` and `y` map each condition to a measurement of its participants, both in one order. Conditions with fewer than
    two participants are left out by name. Undefined when nothing varies inside any condition, or too little is left.
    Raises DataError when conditions or numbers of participants do not match. Source: Snedecor & Cochran (1967),
    Statistical Methods, 6th edition, section 14.7: sums of squares and products within.

    Examples
    --------
    >>> result = within_conditions({"A": [1, 2, 3], "B": [11, 12, 13]}, {"A": [2, 1, 3], "B": [1, 3, 2]})
    >>> round(result.coefficient, 3), result.df
    (0.5, 3)
    """
    read_x, read_y = _read_groups(x, y, 2)
    k = read_x.k
    if not k:
        return Undefined("No condition has two participants.", WITHIN)
    if not read_x.ss_within or not read_y.ss_within:
        which = "first" if not read_x.ss_within else "second"
        return Undefined(f"Within every condition all values of the {which} measurement are equal.", WITHIN)
    df = read_x.n - k - 1
    if df < 1:
        return Undefined(
            f"With {read_x.n} participants in {k} conditions no degrees of freedom are left for a correlation.", WITHIN
        )
    products = sum(
        (_products(a.points, b.points, a.scale * b.scale) for a, b in zip(read_x.members, read_y.members, strict=True)),
        Fraction(0),
    )
    return _of_sums(products, read_x.ss_within, read_y.ss_within, n=read_x.n, df=df, left_out=read_x.left_out)


def within_each(x: GroupValues, y: GroupValues) -> dict[str, CorrelationResult | Undefined]:
    """The correlation inside each condition alone, in the order of `x`; errors as in `within_conditions`.

    Examples
    --------
    >>> found = within_each({"A": [1, 2, 3]}, {"A": [4, 4, 4]})
    >>> found["A"].reason
    'All values of the second measurement are equal: no correlation exists.'
    """
    read_x, read_y = _read_groups(x, y, 1)
    correlations = {a.name: _of_groups(a, b, PEARSON) for a, b in zip(read_x.members, read_y.members, strict=True)}
    return {name: correlations.get(name, Undefined("There are no participants.", PEARSON)) for name in x}


def between_conditions(x: GroupValues, y: GroupValues) -> CorrelationResult | Undefined:
    """The correlation of the conditions' means, one pair of means a condition; errors as in `within_conditions`. Empty
    conditions are left out by name. Undefined with fewer than three conditions, or when all have the same mean of a
    measurement.

    Examples
    --------
    >>> result = between_conditions({"A": [1, 3], "B": [4], "C": [6]}, {"A": [1, 1], "B": [2], "C": [3]})
    >>> result.coefficient, result.n
    (1.0, 3)
    """
    read_x, read_y = _read_groups(x, y, 1)
    means = [[group.mean for group in read.members] for read in (read_x, read_y)]
    result = _pearson(means[0], means[1], BETWEEN)
    if isinstance(result, Undefined):
        reason = result.reason.replace("pairs of values; there are", "conditions with participants; there are")
        reason = reason.replace("All values of the", "All conditions have the same mean on the")
        return Undefined(reason.replace(" are equal: no correlation exists", ""), BETWEEN)
    left_out = read_x.left_out
    return CorrelationResult(
        result.coefficient, result.p, result.t, result.df, result.n, result.interval, result.interval_method, left_out
    )


def _read(x: Iterable[Number], y: Iterable[Number]) -> tuple[list[Fraction], list[Fraction]]:
    first = [exact(value, "the first measurement") for value in x]
    second = [exact(value, "the second measurement") for value in y]
    if len(first) != len(second):
        raise DataError(f"There are {len(first)} values on one side and {len(second)} on the other.")
    return first, second


def _read_groups(x: GroupValues, y: GroupValues, least_n: int) -> tuple[Groups, Groups]:
    """Both measurements by condition, refused where they are not of the same participants."""
    if list(x) != list(y):
        raise DataError("Both measurements must have the same conditions in the same order.")
    read_x, read_y = Groups.read(x), Groups.read(y)
    sizes = [{group.name: group.n for group in read.members} for read in (read_x, read_y)]
    differing = [name for name in x if sizes[0].get(name) != sizes[1].get(name)]
    if differing:
        raise DataError(f"{in_words(differing)}: the measurements are of different numbers of participants.")
    few = [group.name for group in read_x.members if group.n < least_n]
    return read_x.without(few), read_y.without(few)
