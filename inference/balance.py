"""Balance of conditions: standardised differences of what participants brought with them, without a test."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from inference.results import Undefined

T = TypeVar("T")
DRAWS = 199  # random assignments, so that the 190th of them is the 95% point (Davison & Hinkley 1997, section 4.2)
LEAST_N = 2  # participants in a condition, for a variance


@dataclass(frozen=True)
class LargestDifference:
    """The largest absolute standardised difference of two conditions, of all pairs."""

    a: str
    b: str
    difference: float  # absolute, in standard deviations


def numeric_difference(a: ArrayLike, b: ArrayLike) -> float | None:
    r"""Absolute standardised difference of two means.

    .. math:: d = \frac{|\bar x_a - \bar x_b|}{\sqrt{(s_a^2 + s_b^2) / 2}}

    The values are finite, in any unit; 0 where all are equal, None with fewer than two values in a condition, or for
    different constants. Sources: Yang & Dalton (2012), A unified approach to measuring the effect size between two
    groups using SAS, SAS Global Forum 2012, paper 335, equation for continuous variables; Austin (2009), Statistics in
    Medicine 28(25):3083-3107.

    Examples
    --------
    >>> round(numeric_difference([1, 2, 3], [2, 4, 6]), 4)
    1.2649
    """
    groups = [np.asarray(values, dtype=float) for values in (a, b)]
    if min(map(len, groups)) < LEAST_N:
        return None
    if all(np.ptp(values) == 0 for values in groups):  # exactly: a mean of equal values can be off by its last digit
        return 0.0 if groups[0][0] == groups[1][0] else None
    spread = math.sqrt(sum(float(values.var(ddof=1)) for values in groups) / 2)
    return abs(float(groups[0].mean() - groups[1].mean())) / spread


def categorical_difference(a: Sequence[int], b: Sequence[int]) -> float | None:
    r"""Standardised difference of two distributions over the same categories.

    .. math:: d = \sqrt{(T - C)^\top S^{-1} (T - C)}

    with the shares T and C of all categories but one, and the mean S of their two multinomial covariance matrices. For
    two categories it is the absolute difference of the shares over the root of the mean of their variances. `a` and `b`
    count each category in one order; categories that neither condition has are left out. None without answers in a
    condition, or where the two share no category: S is then singular. Source: Yang & Dalton (2012), paper 335, equation
    for multinomial variables.

    Examples
    --------
    >>> round(categorical_difference([5, 3, 2], [3, 3, 4]), 4)
    0.4978
    """
    if not sum(a) or not sum(b):
        return None
    present = [index for index, counts in enumerate(zip(a, b, strict=True)) if any(counts)]
    if not any(a[index] and b[index] for index in present):
        return None
    shares = [np.array([counts[index] for index in present[1:]]) / sum(counts) for counts in (a, b)]
    if not len(shares[0]):
        return 0.0
    covariance = sum(np.diag(share) - np.outer(share, share) for share in shares) / 2
    difference = shares[0] - shares[1]
    return math.sqrt(max(0.0, float(difference @ np.linalg.solve(covariance, difference))))


def largest_difference(
    groups: Mapping[str, T], difference: Callable[[T, T], float | None]
) -> LargestDifference | Undefined:
    """Return the pair of conditions that differ most, the first of equal ones; no pair is tested.

    Undefined with fewer than two conditions, or where no pair has a difference.

    Examples
    --------
    >>> largest_difference({"A": [1, 2, 3], "B": [2, 4, 6], "C": [1, 2, 3]}, numeric_difference).b
    'B'
    """
    if len(groups) < 2:
        return Undefined(f"A comparison needs two conditions; there are {len(groups)}.")
    differences = {(a, b): difference(groups[a], groups[b]) for a, b in combinations(groups, 2)}
    defined = {pair: value for pair, value in differences.items() if value is not None}
    if not defined:
        return Undefined("No two conditions have enough answers that vary.")
    (a, b), largest = max(defined.items(), key=lambda entry: entry[1])
    return LargestDifference(a, b, largest)


def largest_by_chance(
    rows: NDArray[np.float64],
    sizes: Sequence[int],
    difference: Callable[[NDArray[np.float64], NDArray[np.float64]], float | None],
    rng: np.random.Generator,
) -> float | None:
    """The difference that the largest of all pairs stays within in 95% of random assignments of the same people.

    `rows`, shape (n_people, n_columns), are what each person brought with them; `sizes` of the conditions add up to
    n_people. `difference` takes the rows of two conditions to their absolute difference. `DRAWS` assignments are made.
    None where an assignment has no difference.

    Examples
    --------
    >>> rows = np.arange(40.0)[:, np.newaxis]
    >>> float(largest_by_chance(rows, [20, 20], lambda a, b: abs(a.mean() - b.mean()), np.random.default_rng(1)))
    8.0
    """
    ends, largest = np.cumsum(sizes)[:-1], []
    for _ in range(DRAWS):
        groups = {str(number): group for number, group in enumerate(np.split(rng.permutation(rows), ends))}
        chance = largest_difference(groups, difference)
        if isinstance(chance, Undefined):
            return None
        largest.append(chance.difference)
    return sorted(largest)[math.ceil(0.95 * (DRAWS + 1)) - 1]
