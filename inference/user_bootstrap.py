"""Bootstrap intervals over whole users, for means of users' values and for statistics of sums over users.

Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 13.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from inference.bootstrap import percentile_intervals, resampled_sums
from inference.exact import finite
from inference.paired import per_user
from inference.results import Floats, Undefined

Statistic = Callable[[Floats], Floats]


@dataclass(frozen=True)
class UserInterval:
    """A value with its 95% percentile interval over resampled users."""

    value: float  # of the data
    low: float
    high: float
    n_users: int  # users resampled, all with a value


def mean_interval(values: ArrayLike, resamples: int, rng: np.random.Generator) -> UserInterval | Undefined:
    """The mean of users' values and its interval; users with NaN are left out. Undefined where no user has a value.
    Raises DataError for an array of other dimensions or with infinities.
    """
    array = per_user(values, "the metric")
    known = array[~np.isnan(array)]
    parts = np.column_stack([known, np.ones(known.size)])
    return pooled_interval(parts, lambda sums: np.asarray(sums[:, 0] / sums[:, 1]), resamples, rng)


def pooled_interval(
    parts: ArrayLike,
    statistic: Statistic,
    resamples: int,
    rng: np.random.Generator,
) -> UserInterval | Undefined:
    """A statistic of sums over users and its interval: pooled recall, F, half-life utility.

    `parts`, shape (n_users, n_parts), is what each user adds to each sum (hits, cases, …), finite. `statistic` takes
    sums of shape (n_samples, n_parts) and returns values of shape (n_samples,), NaN where there is none; resamples
    without a value are left out. Undefined without users, or where the data or all resamples have no value. Raises
    DataError for parts that are not finite.

    Examples
    --------
    >>> hits_and_cases = [[1, 2], [2, 4], [3, 6]]
    >>> found = pooled_interval(hits_and_cases, lambda s: s[:, 0] / s[:, 1], 100, np.random.default_rng(1))
    >>> found.value, found.low, found.high
    (0.5, 0.5, 0.5)
    """
    rows = finite(parts, "The parts of the users hold a value that is not finite.")
    if not len(rows):
        return Undefined("No user has a value to resample.")
    value = float(statistic(rows.sum(axis=0, keepdims=True))[0])
    values = statistic(resampled_sums(rows, resamples, rng))
    defined = values[~np.isnan(values)]
    if np.isnan(value) or not defined.size:
        return Undefined("The users together have no value of this kind.")
    (interval,) = percentile_intervals(defined[:, None])
    return UserInterval(value, interval.low, interval.high, len(rows))
