"""Uncertainty of means: the bootstrap over participants and over users.

Participants are resampled within their condition, users as whole rows (a user counts for all algorithms or for none).
Both return means of shape (resamples, k): intervals are computed here, the uncertainty of rankings in
`inference.order_bootstrap`. Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 6 (users),
sections 8.3 (several samples) and 13.3 (percentile intervals).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError, ParameterError
from inference.groups import Groups, GroupValues, in_words
from inference.results import Floats, Interval, Undefined

BOOTSTRAP = "Bootstrap"
# Sums of integers up to here are exact in a float, so resampled means that are equal on paper are equal here.
LARGEST_EXACT = 2**53
CHUNK = 2_000_000  # cells gathered at a time


def condition_means(groups: GroupValues, resamples: int, rng: np.random.Generator) -> Floats | Undefined:
    """Resample the participants of each condition and compute the means: shape (resamples, n_conditions), in the order
    of the data, in which `rng` is consumed too. A condition of equal values keeps its mean in every resample. Undefined
    without conditions, or when one of them is empty. Raises ParameterError when `resamples` is below 1.

    Examples
    --------
    >>> condition_means({"A": [3, 3], "B": [5]}, 2, np.random.default_rng(1)).tolist()
    [[3.0, 5.0], [3.0, 5.0]]
    """
    check_resamples(resamples)
    read = Groups.read(groups)
    if read.left_out:
        return Undefined(f"{in_words(read.left_out)}: no observations to resample.", BOOTSTRAP)
    if not read.members:
        return Undefined("There are no conditions to resample.", BOOTSTRAP)
    largest = max(max(map(abs, group.points)) * group.n for group in read.members)
    is_exact = largest < LARGEST_EXACT and read.members[0].scale < LARGEST_EXACT
    columns = []
    for group in read.members:
        values = group.points if is_exact else group.floats
        sums = resampled_sums(np.array(values, dtype=np.float64)[:, None], resamples, rng)[:, 0]
        # One division: equal rationals give equal floats whatever the sizes of the conditions.
        columns.append(sums / (group.n * group.scale if is_exact else group.n))
    return np.column_stack(columns)


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
        return Undefined("No user has a value under every algorithm.", BOOTSTRAP)
    return resampled_sums(complete, resamples, rng) / len(complete)


def check_resamples(resamples: int) -> None:
    """Raise ParameterError when the number of resamples is below 1."""
    if resamples < 1:
        raise ParameterError(f"The bootstrap was asked for {resamples} resamples: it needs 1 or more.")


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
    if not 0 < confidence < 1:
        raise ParameterError(f"The confidence is {confidence}: it must lie between 0 and 1.")
    array = finite_means(means)
    lows, highs = np.quantile(array, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return tuple(Interval(float(low), float(high)) for low, high in zip(lows, highs, strict=True))


def finite_means(means: ArrayLike) -> Floats:
    """Resampled means as a float array. Raises DataError unless it has two dimensions, a row and finite values only."""
    array = np.asarray(means, dtype=np.float64)
    if array.ndim != 2 or not len(array):
        raise DataError(f"Resampled means of shape {array.shape} cannot be used: give one row a resample.")
    if not np.isfinite(array).all():
        raise DataError("The resampled means hold a value that is not finite.")
    return array
