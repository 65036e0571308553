"""Bootstrap over users, who count for all algorithms or for none: resampled means, and intervals of sums over users.

Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 6 and section 13.3 (percentile intervals).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError
from inference.groups import finite
from inference.paired import per_user
from inference.results import Floats, Interval, Undefined

CONFIDENCE = 0.95
CHUNK = 2_000_000  # cells gathered at a time
Statistic = Callable[[Floats], Floats]


def user_means(values: ArrayLike, resamples: int, rng: np.random.Generator) -> Floats | Undefined:
    """Resample users, the rows of `values`, and take the mean of every algorithm over the same users: shape (resamples,
    n_algorithms).

    Users with a NaN are left out as a whole. Sums run in one order for all columns, so algorithms with equal values
    have equal means in every resample. Undefined when no user has all values, or without algorithms. Raises DataError
    for an array that holds infinities.
    """
    array = np.asarray(values, dtype=np.float64)
    if np.isinf(array).any():
        raise DataError("The values of the users hold an infinity: the bootstrap needs finite values.")
    complete = array[~np.isnan(array).any(axis=1)]
    if not complete.size:
        return Undefined("No user has a value under every algorithm.")
    return resampled_sums(complete, resamples, rng) / len(complete)


def resampled_sums(rows: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Column sums of n of the n rows, drawn with replacement and added row by row: the same bits on every machine.
    `rows` is finite and has at least one row; the sums have shape (resamples, n_columns).
    """
    n = len(rows)
    sums = np.empty((resamples, rows.shape[1]))
    at_once = max(1, CHUNK // max(1, rows.size))
    for start in range(0, resamples, at_once):
        stop = min(start + at_once, resamples)
        indices = rng.integers(n, size=(n, stop - start))
        sums[start:stop] = rows[indices].sum(axis=0)
    return sums


def percentile_intervals(means: ArrayLike) -> tuple[Interval, ...]:
    """95% percentile intervals of resampled values of shape (resamples, k), quantiles of type 7 (Hyndman & Fan 1996).
    Raises DataError as `finite_means`.

    Examples
    --------
    >>> percentile_intervals([[1.0], [2.0], [3.0]])
    (Interval(low=1.05, high=2.95),)
    """
    array = finite_means(means)
    lows, highs = np.quantile(array, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return tuple(Interval(float(low), float(high)) for low, high in zip(lows, highs, strict=True))


def finite_means(means: ArrayLike) -> Floats:
    """Resampled means as a float array. Raises DataError for a value that is not finite."""
    return finite(means, "The resampled means hold a value that is not finite.")


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
