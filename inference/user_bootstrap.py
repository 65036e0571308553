"""Bootstrap intervals over whole users, for means of users' values and for statistics of sums over users.

Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 13.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError
from inference.bootstrap import check_resamples, percentile_intervals, resampled_sums
from inference.exact import finite
from inference.paired import per_user
from inference.results import Floats, Undefined

Statistic = Callable[[Floats], Floats]


@dataclass(frozen=True)
class UserInterval:
    """A value with its percentile interval over resampled users."""

    value: float  # of the data
    low: float
    high: float
    confidence: float
    resamples: int
    n_undefined: int  # resamples in which there was no value, left out
    # `n_users`, `n_left_out`: users resampled, and those without a value.
    n_users: int
    n_left_out: int


def mean_interval(
    values: ArrayLike, resamples: int, rng: np.random.Generator, confidence: float = 0.95
) -> UserInterval | Undefined:
    """The mean of users' values and its interval; users with NaN are left out and counted. Undefined where no user has
    a value. Raises ParameterError for `resamples` below 1 or a `confidence` outside (0, 1), and DataError for an array
    of other dimensions or with infinities.
    """
    array = per_user(values, "the metric")
    known = array[~np.isnan(array)]
    parts = np.column_stack([known, np.ones(known.size)])
    interval = pooled_interval(parts, lambda sums: np.asarray(sums[:, 0] / sums[:, 1]), resamples, rng, confidence)
    if isinstance(interval, Undefined):
        return interval
    return replace(interval, n_left_out=array.size - known.size)


def pooled_interval(
    parts: ArrayLike,
    statistic: Statistic,
    resamples: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> UserInterval | Undefined:
    """A statistic of sums over users and its interval: pooled recall, F, half-life utility.

    `parts`, shape (n_users, n_parts), is what each user adds to each sum (hits, cases, …), finite. `statistic` takes
    sums of shape (n_samples, n_parts) and returns values of shape (n_samples,), NaN where there is none. Undefined
    without users, or where the data or all resamples have no value. Raises as `mean_interval`, and DataError for parts
    that are not two-dimensional or not finite.

    Examples
    --------
    >>> hits_and_cases = [[1, 2], [2, 4], [3, 6]]
    >>> found = pooled_interval(hits_and_cases, lambda s: s[:, 0] / s[:, 1], 100, np.random.default_rng(1))
    >>> found.value, found.low, found.high
    (0.5, 0.5, 0.5)
    """
    check_resamples(resamples)
    rows = finite(parts, "The parts of the users hold a value that is not finite.")
    if rows.ndim != 2:
        raise DataError(f"The parts have {rows.ndim} dimensions: give one row a user, one column a sum.")
    if not len(rows):
        return Undefined("No user has a value to resample.")
    value = float(statistic(rows.sum(axis=0, keepdims=True))[0])
    values = statistic(resampled_sums(rows, resamples, rng))
    defined = values[~np.isnan(values)]
    if np.isnan(value) or not defined.size:
        return Undefined("The users together have no value of this kind.")
    (interval,) = percentile_intervals(defined[:, None], confidence)
    return UserInterval(
        value=value,
        low=interval.low,
        high=interval.high,
        confidence=confidence,
        resamples=resamples,
        n_undefined=int(values.size - defined.size),
        n_users=len(rows),
        n_left_out=0,
    )
