"""How sure a ranking is: the bootstrap over participants and over users.

Participants are resampled within their condition, users as whole rows (a user counts for every algorithm or
for none). Both give an array of means, shape (resamples, k), from which intervals, rank probabilities and the
spread of tau follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError, ParameterError
from inference.groups import Groups, GroupValues, in_words
from inference.results import Interval, Result, Undefined

Means = NDArray[np.float64]
BOOTSTRAP = "Bootstrap"
RANKS = "Bootstrap of ranks"
TAUS = "Bootstrap of tau-b"
# Sums of integers up to here are exact in a float, so resampled means that are equal on paper are equal here.
LARGEST_EXACT = 2**53
CHUNK = 2_000_000  # cells gathered at a time


def condition_means(groups: GroupValues, resamples: int, rng: np.random.Generator) -> Means | Undefined:
    """Resample the participants of each condition and take the means.

    Parameters
    ----------
    groups : mapping of str to values
        Condition -> observations; integers, floats or fractions, no missing values.
    resamples : int
        >= 1.
    rng : numpy.random.Generator
        Consumed condition by condition, in the order of the data.

    Returns
    -------
    float array, shape (resamples, n_conditions), or Undefined
        Columns in the order of the data. A condition of equal values keeps its mean in every resample.
        Undefined without conditions, or when one of them is empty.

    Raises
    ------
    ParameterError, DataError
        `resamples` < 1; a value that is not a finite number.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 8.3 (several samples).

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
        values = group.points if is_exact else [float(value) for value in group.values()]
        sums = resampled_sums(np.array(values, dtype=np.float64)[:, None], resamples, rng)[:, 0]
        # One division: equal rationals give equal floats whatever the sizes of the conditions.
        columns.append(sums / (group.n * group.scale if is_exact else group.n))
    return np.column_stack(columns)


def user_means(values: ArrayLike, resamples: int, rng: np.random.Generator) -> Means | Undefined:
    """Resample users and take the mean of every algorithm over the same users.

    Parameters
    ----------
    values : float array, shape (n_users, n_algorithms)
        A metric of each user under each algorithm. Users with a NaN are left out as a whole.
    resamples : int
        >= 1.
    rng : numpy.random.Generator

    Returns
    -------
    float array, shape (resamples, n_algorithms), or Undefined
        Sums run in one order for all columns, so algorithms with equal values have equal means in every
        resample. Undefined when no user has all values, or without algorithms.

    Raises
    ------
    ParameterError, DataError
        `resamples` < 1; an array that is not of two dimensions or that holds infinities.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 6.

    Examples
    --------
    >>> user_means([[0.5, 1.0], [0.5, 1.0]], 2, np.random.default_rng(1)).tolist()
    [[0.5, 1.0], [0.5, 1.0]]
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
    """Refuse a number of resamples below 1.

    Parameters
    ----------
    resamples : int
        Resamples asked for.

    Raises
    ------
    ParameterError
        Fewer than 1.
    """
    if resamples < 1:
        raise ParameterError(f"The bootstrap was asked for {resamples} resamples: it needs 1 or more.")


def resampled_sums(rows: Means, resamples: int, rng: np.random.Generator) -> Means:
    """Column sums of resampled rows, added row by row: the same bits on every machine.

    Parameters
    ----------
    rows : float array, shape (n, n_columns)
        Finite; at least one row.
    resamples : int
        >= 1.
    rng : numpy.random.Generator
        The only source of randomness.

    Returns
    -------
    float array, shape (resamples, n_columns)
        In the unit of the rows, each the sum of n of them drawn with replacement.
    """
    n = len(rows)
    sums = np.empty((resamples, rows.shape[1]))
    at_once = max(1, CHUNK // max(1, rows.size))
    for start in range(0, resamples, at_once):
        stop = min(start + at_once, resamples)
        drawn = rng.integers(n, size=(n, stop - start))
        sums[start:stop] = rows[drawn].sum(axis=0)
    return sums


def percentile_intervals(means: ArrayLike, confidence: float = 0.95) -> tuple[Interval, ...]:
    """Percentile intervals of resampled values, quantiles of type 7.

    Parameters
    ----------
    means : float array, shape (resamples, k)
        Finite.
    confidence : float
        In (0, 1).

    Returns
    -------
    tuple of Interval, length k

    Raises
    ------
    ParameterError, DataError
        `confidence` outside (0, 1); an array that is not of two dimensions, is empty, or is not finite.

    References
    ----------
    Efron & Tibshirani (1993), section 13.3; Hyndman & Fan (1996), definition 7.

    Examples
    --------
    >>> percentile_intervals([[1.0], [2.0], [3.0]], 0.5)
    (Interval(low=1.5, high=2.5),)
    """
    if not 0 < confidence < 1:
        raise ParameterError(f"The confidence is {confidence}: it has to lie between 0 and 1.")
    array = _finite(means)
    lows, highs = np.quantile(array, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return tuple(Interval(float(low), float(high)) for low, high in zip(lows, highs, strict=True))


def _finite(means: ArrayLike) -> Means:
    array = np.asarray(means, dtype=np.float64)
    if array.ndim != 2 or not len(array):
        raise DataError(f"Resampled means of shape {array.shape} cannot be used: give one row a resample.")
    if not np.isfinite(array).all():
        raise DataError("The resampled means hold a value that is not finite.")
    return array


@dataclass(frozen=True)
class RankProbabilities(Result):
    """How often each condition or algorithm comes at each rank.

    Attributes
    ----------
    names : tuple of str
        In the order of the columns.
    probabilities : tuple of tuple of float
        Row = condition, column = rank from the best; rows and columns sum to 1. A tie shares its ranks.
    mean_ranks : tuple of float
        Mean rank of each condition, 1 for the best.
    resamples : int
        Resamples counted.
    """

    names: tuple[str, ...]
    probabilities: tuple[tuple[float, ...], ...]
    mean_ranks: tuple[float, ...]
    resamples: int

    def best(self) -> dict[str, float]:
        """Probability of each condition to be the best."""
        return {name: row[0] for name, row in zip(self.names, self.probabilities, strict=True)}


def rank_probabilities(
    groups: GroupValues, resamples: int, rng: np.random.Generator, higher_is_better: bool = True
) -> RankProbabilities | Undefined:
    """Probability of each rank of each condition, by resampling participants.

    Parameters and errors as for `condition_means`.

    Examples
    --------
    >>> found = rank_probabilities({"A": [5, 5], "B": [3, 3]}, 100, np.random.default_rng(1))
    >>> found.probabilities
    ((1.0, 0.0), (0.0, 1.0))
    """
    means = condition_means(groups, resamples, rng)
    if isinstance(means, Undefined):
        return Undefined(means.reason, RANKS)
    return rank_distribution(means, tuple(groups), higher_is_better)


def rank_distribution(means: ArrayLike, names: Sequence[str], higher_is_better: bool = True) -> RankProbabilities:
    """Count the ranks of every column over the resamples.

    Parameters
    ----------
    means : float array, shape (resamples, k)
        Resampled means, finite.
    names : sequence of str, length k
        Conditions or algorithms.
    higher_is_better : bool
        Whether rank 1 goes to the largest mean.

    Returns
    -------
    RankProbabilities

    Raises
    ------
    DataError
        Names that do not match the columns; an array that is not of two dimensions, is empty, or not finite.

    Examples
    --------
    >>> rank_distribution([[2.0, 1.0], [1.0, 1.0]], ["A", "B"]).best()
    {'A': 0.75, 'B': 0.25}
    """
    array = _finite(means)
    resamples, k = array.shape
    if len(names) != k:
        raise DataError(f"There are {len(names)} names for {k} columns of means.")
    signed = array if higher_is_better else -array
    above = (signed[:, None, :] > signed[:, :, None]).sum(axis=2)
    tied = (signed[:, None, :] == signed[:, :, None]).sum(axis=2)
    ranks = np.arange(k)
    # A tie of t at place r takes the ranks r to r + t - 1, each with probability 1 / t.
    takes = (ranks >= above[:, :, None]) & (ranks < (above + tied)[:, :, None])
    shares = (takes / tied[:, :, None]).sum(axis=0) / resamples
    return RankProbabilities(
        names=tuple(names),
        probabilities=tuple(tuple(row) for row in shares.tolist()),
        mean_ranks=tuple((1 + above + (tied - 1) / 2).mean(axis=0).tolist()),
        resamples=resamples,
    )


@dataclass(frozen=True)
class TauDistribution(Result):
    """Kendall's tau-b between two measures, resample by resample.

    It shrinks toward 0 against the tau of the data, because resampling adds noise to both rankings.

    Attributes
    ----------
    mean, median : float
        Over the resamples in which tau is defined.
    ci_low, ci_high : float
        95 % percentile interval.
    share_positive : float
        Share of resamples with tau above 0.
    distribution : tuple of (float, float)
        Each value of tau that occurred, ascending, with its share.
    n_defined, n_undefined : int
        Resamples with a tau, and those in which one measure was the same for all.
    """

    mean: float
    median: float
    ci_low: float
    ci_high: float
    share_positive: float
    distribution: tuple[tuple[float, float], ...]
    n_defined: int
    n_undefined: int


def tau_distribution(x_means: ArrayLike, y_means: ArrayLike) -> TauDistribution | Undefined:
    """Kendall's tau-b of two sets of resampled means, row by row.

    Parameters
    ----------
    x_means, y_means : float array, shape (resamples, k)
        Two independent bootstraps of the same k conditions in one order, finite.

    Returns
    -------
    TauDistribution or Undefined
        Undefined when tau is undefined in every resample (always so for k < 2).

    Raises
    ------
    DataError
        Arrays of different shape, not of two dimensions, empty, or not finite.

    References
    ----------
    Kendall (1945), Biometrika 33(3):239-251.

    Examples
    --------
    >>> tau_distribution([[1, 2, 3], [1, 2, 3]], [[1, 2, 3], [1, 3, 2]]).mean.__round__(4)
    0.6667
    """
    x, y = _finite(x_means), _finite(y_means)
    if x.shape != y.shape:
        raise DataError(f"The two bootstraps have the shapes {x.shape} and {y.shape}: they have to match.")
    first, second = np.triu_indices(x.shape[1], 1)
    of_x, of_y = np.sign(x[:, second] - x[:, first]), np.sign(y[:, second] - y[:, first])
    scale = np.count_nonzero(of_x, axis=1) * np.count_nonzero(of_y, axis=1)
    is_defined = scale > 0
    if not is_defined.any():
        return Undefined("In every resample one measure is the same for all: there is no tau.", TAUS)
    taus = (of_x * of_y).sum(axis=1)[is_defined] / np.sqrt(scale[is_defined])
    values, counts = np.unique(taus, return_counts=True)
    (interval,) = percentile_intervals(taus[:, None])
    return TauDistribution(
        mean=float(taus.mean()),
        median=float(np.median(taus)),
        ci_low=interval.low,
        ci_high=interval.high,
        share_positive=float(np.count_nonzero(taus > 0) / taus.size),
        distribution=tuple(zip(values.tolist(), (counts / taus.size).tolist(), strict=True)),
        n_defined=int(taus.size),
        n_undefined=int(is_defined.size - taus.size),
    )
