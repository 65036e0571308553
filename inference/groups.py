"""Groups: the observations of every condition, read exactly.

Means that are equal on paper must be equal here, and a condition whose answers are all the same must have a variance of
exactly 0. So values are read as the decimals they were written as (0.2 is one fifth, not its nearest binary fraction),
put on one integer grid, and summed as integers; means are fractions, and sums of squares are rounded once. Every
procedure that takes `GroupValues` raises DataError for a value that is not a finite number.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError
from inference.results import Floats

Number = float | Fraction | Decimal | np.floating[Any] | np.integer[Any]

# Squares of anything inside these bounds, and ratios of squares, stay within the range of a float.
LARGEST = Fraction(10) ** 60
SMALLEST = 1 / LARGEST


def finite(values: ArrayLike, message: str) -> Floats:
    """The values as an array of floats. Raises DataError with the message where one is not a finite number."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise DataError(message)
    return array


def exact(value: object, where: str = "the data") -> Fraction:
    """Read one value as the decimal it was written as: 0.1 is one tenth. Raises DataError when the value is not a
    number, not finite, or neither 0 nor between 1e-60 and 1e60 in size.

    Examples
    --------
    >>> exact(0.1) + exact(0.2) == exact(0.3)
    True
    """
    if isinstance(value, Rational):
        fraction = Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, float | np.floating | Decimal):
        if not math.isfinite(value):
            raise DataError(f"A value in {where} is {value}, not a finite number: exclude missing answers first.")
        # Through its shortest decimal: .1 is one tenth here, and not the nearest binary fraction.
        fraction = Fraction(str(value))
    else:
        raise DataError(f"A value in {where} is {value!r}, which is not a number.")
    if fraction and not SMALLEST <= abs(fraction) <= LARGEST:
        raise DataError(f"The value {value} in {where} lies outside 1e-60 to 1e60: use another unit.")
    return fraction


# Condition -> its observations: integers, floats or fractions, no missing values.
GroupValues = Mapping[str, Iterable[Number]]


@dataclass(frozen=True)
class Group:
    """One condition: its values as integers, `scale` of them to a unit of the data."""

    name: str
    points: tuple[int, ...]
    scale: int

    @property
    def n(self) -> int:
        """Number of observations."""
        return len(self.points)

    @cached_property
    def total(self) -> int:
        """Sum of the points."""
        return sum(self.points)

    @cached_property
    def mean(self) -> Fraction:
        """Mean in the unit of the data; asked for only when there are observations."""
        return Fraction(self.total, self.n * self.scale)

    @cached_property
    def squares(self) -> float:
        """Sum of squared distances from the mean, in squared units of the data, rounded once."""
        raw = self.n * sum(point * point for point in self.points) - self.total * self.total
        return raw / (self.n * self.scale * self.scale)

    @property
    def variance(self) -> float:
        """Sample variance (n - 1); asked for only with two observations or more."""
        return self.squares / (self.n - 1)

    @property
    def is_constant(self) -> bool:
        """Whether two or more observations are all equal."""
        return self.n > 1 and min(self.points) == max(self.points)

    @cached_property
    def floats(self) -> Floats:
        """The observations, each rounded once."""
        return np.array([point / self.scale for point in self.points], dtype=np.float64)

    def values(self) -> tuple[Fraction, ...]:
        """The observations in the unit of the data, in their order."""
        return tuple(Fraction(point, self.scale) for point in self.points)


@dataclass(frozen=True)
class Groups:
    """The conditions that take part in a procedure, and the names of those that do not."""

    members: tuple[Group, ...]  # in the order of the data, on one scale
    left_out: tuple[str, ...]  # conditions with too few observations

    @classmethod
    def read(cls, groups: GroupValues, least_n: int = 1) -> Groups:
        """Read the observations of every condition, in their order; conditions with fewer than `least_n` are left out.

        Examples
        --------
        >>> groups = Groups.read({"TopPop": [0.6, 0.2, 0.4], "LSA": []})
        >>> groups.members[0].mean, groups.left_out
        (Fraction(2, 5), ('LSA',))
        """
        if not isinstance(groups, ExactGroups):
            read = {name: [exact(value, f"condition {name!r}") for value in groups[name]] for name in groups}
            groups = ExactGroups.of(read)
        members = tuple(group for group in groups.groups if group.n >= least_n)
        return cls(members, tuple(group.name for group in groups.groups if group.n < least_n))

    @property
    def k(self) -> int:
        """Number of conditions that take part."""
        return len(self.members)

    @property
    def n(self) -> int:
        """Number of observations in all."""
        return sum(group.n for group in self.members)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the conditions that take part."""
        return tuple(group.name for group in self.members)

    @property
    def means(self) -> dict[str, float]:
        """Mean of each condition that takes part."""
        return {group.name: float(group.mean) for group in self.members}

    @property
    def constant(self) -> tuple[str, ...]:
        """Names of the conditions whose two or more values are all equal."""
        return tuple(group.name for group in self.members if group.is_constant)

    @property
    def single(self) -> tuple[str, ...]:
        """Names of the conditions with one observation."""
        return tuple(group.name for group in self.members if group.n == 1)

    @property
    def are_all_equal(self) -> bool:
        """Whether every observation of every condition is the same value."""
        return len({point for group in self.members for point in group.points}) <= 1

    @cached_property
    def ss_within(self) -> float:
        """Pooled sum of squares within the conditions."""
        # Exactly summed, so that the order of conditions does not matter to the last bit.
        return math.fsum(group.squares for group in self.members)

    @cached_property
    def ss_between(self) -> float:
        """Sum of squares between the conditions' means."""
        grand = Fraction(sum(group.total for group in self.members), self.n * self.members[0].scale)
        return math.fsum(group.n * float(group.mean - grand) ** 2 for group in self.members)


class ExactGroups(Mapping[str, tuple[Fraction, ...]]):
    """Observations that were read once, for the many procedures of a report: `scale` of the integers `points` to a
    unit.

    A mapping of condition to values like any other; `Groups.read` takes it as it is.

    Examples
    --------
    >>> fifths = ExactGroups({"TopPop": [3, 1, 2], "LSA": []}, 5)
    >>> fifths["TopPop"], Groups.read(fifths).members[0].mean
    ((Fraction(3, 5), Fraction(1, 5), Fraction(2, 5)), Fraction(2, 5))
    """

    def __init__(self, points: Mapping[str, Iterable[int]], scale: int) -> None:
        self.scale = scale
        self.groups = tuple(Group(name, tuple(values), scale) for name, values in points.items())
        self._by_name = {group.name: group for group in self.groups}

    @classmethod
    def of(cls, groups: Mapping[str, Sequence[Fraction]]) -> ExactGroups:
        """Put values that are fractions on the coarsest scale that holds them all."""
        # One grid for all conditions, so that sums and comparisons between them are of integers.
        scale = math.lcm(*(value.denominator for values in groups.values() for value in values))
        points = {
            name: tuple(value.numerator * (scale // value.denominator) for value in values)
            for name, values in groups.items()
        }
        return cls(points, scale)

    def __getitem__(self, name: str) -> tuple[Fraction, ...]:
        return self._by_name[name].values()

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    @property
    def sizes(self) -> dict[str, int]:
        """The number of observations of each condition."""
        return {group.name: group.n for group in self.groups}

    def among(self, names: Collection[str]) -> ExactGroups:
        """The observations of these conditions."""
        return ExactGroups({group.name: group.points for group in self.groups if group.name in names}, self.scale)


def in_words(names: Iterable[str]) -> str:
    """List names for a sentence.

    Examples
    --------
    >>> in_words(["TopPop", "LSA", "CorNgr"])
    'TopPop, LSA and CorNgr'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
