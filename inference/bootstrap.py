"""Uncertainty of means: the bootstrap over users, who count for all algorithms or for none.

Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 6 and section 13.3 (percentile intervals).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError, ParameterError
from inference.corrections import check_confidence
from inference.exact import finite
from inference.results import Floats, Interval, Undefined

CHUNK = 2_000_000  # cells gathered at a time


def user_means(values: ArrayLike, resamples: int, rng: np.random.Generator) -> Floats | Undefined:
    """Resample users, the rows of `values`, and take the mean of every algorithm over the same users: shape (resamples,
    n_algorithms).

    Users with a NaN are left out as a whole. Sums run in one order for all columns, so algorithms with equal values
    have equal means in every resample. Undefined when no user has all values, or without algorithms. Raises
    ParameterError when `resamples` is below 1, and DataError for an array that is not of two dimensions or that holds
    infinities.
    """
    check_resamples(resamples)
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise DataError(f"The values have {array.ndim} dimensions: give one row a user, one column an algorithm.")
    if np.isinf(array).any():
        raise DataError("The values of the users hold an infinity: the bootstrap needs finite values.")
    complete = array[~np.isnan(array).any(axis=1)]
    if not complete.size:
        return Undefined("No user has a value under every algorithm.")
    return resampled_sums(complete, resamples, rng) / len(complete)


def check_resamples(resamples: int) -> None:
    """Raise ParameterError when the number of resamples is below 1."""
    if resamples < 1:
        raise ParameterError(f"There are {resamples} resamples: at least 1 is needed.")


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


def percentile_intervals(means: ArrayLike, confidence: float = 0.95) -> tuple[Interval, ...]:
    """Percentile intervals of resampled values of shape (resamples, k), quantiles of type 7 (Hyndman & Fan 1996).
    Raises ParameterError for a `confidence` outside (0, 1) and DataError as `finite_means`.

    Examples
    --------
    >>> percentile_intervals([[1.0], [2.0], [3.0]], 0.5)
    (Interval(low=1.5, high=2.5),)
    """
    check_confidence(confidence)
    array = finite_means(means)
    lows, highs = np.quantile(array, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return tuple(Interval(float(low), float(high)) for low, high in zip(lows, highs, strict=True))


def finite_means(means: ArrayLike) -> Floats:
    """Resampled means as a float array. Raises DataError unless it has two dimensions, a row and finite values only."""
    array = finite(means, "The resampled means hold a value that is not finite.")
    if array.ndim != 2 or not len(array):
        raise DataError(f"Resampled means of shape {array.shape} cannot be used: give one row a resample.")
    return array
