"""Metrics of one-plus-random as functions of sums over users, so that users can be resampled: F has no other way.

With `inference.user_bootstrap`: ``pooled_interval(user_parts(result, n), f_of_sums(g), …)``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from core.errors import ParameterError
from evaluation.metrics.ranking import RankingResult

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]


def user_parts(result: RankingResult, n: int) -> Floats:
    """What each user adds: hits and cases of T+, hits and cases of T-, for lists of n.

    Parameters
    ----------
    result : RankingResult
    n : int
        One of the list lengths measured.

    Returns
    -------
    float array, shape (n_users_with_a_case, 4)
        By user, ascending.

    Raises
    ------
    ParameterError
        `n` was not measured.

    Examples
    --------
    >>> from evaluation.metrics.ranking import measure_ranking
    >>> result = measure_ranking(np.array([0, 0, 1]), np.array([True, True, False]), np.array([0, 8, 9]),
    ...                          np.array([0, 0, 0]), [5])
    >>> user_parts(result, 5).tolist()
    [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    if n not in result.ns:
        raise ParameterError(f"List length {n} was not measured; {list(result.ns)} were.")
    column = result.ns.index(n)
    users = np.union1d(result.user_recall.groups, result.user_fallout.groups)
    parts = np.zeros((len(users), 4))
    for first, means in ((0, result.user_recall), (2, result.user_fallout)):
        rows = np.searchsorted(users, means.groups)
        parts[rows, first] = means.values[:, column] * means.n_cases
        parts[rows, first + 1] = means.n_cases
    return parts


def recall_of_sums(sums: Floats) -> Floats:
    """Recall of resampled users.

    Parameters
    ----------
    sums : float array, shape (n_samples, 4)
        Sums of rows of `user_parts`.

    Returns
    -------
    float array, shape (n_samples,)
        In [0, 1]; NaN without a case of T+.

    Examples
    --------
    >>> recall_of_sums(np.array([[1.0, 2.0, 0.0, 1.0]])).tolist()
    [0.5]
    """
    return _quotient(sums[:, 0], sums[:, 1])


def fallout_of_sums(sums: Floats) -> Floats:
    """Fallout of resampled users.

    Parameters
    ----------
    sums : float array, shape (n_samples, 4)
        Sums of rows of `user_parts`.

    Returns
    -------
    float array, shape (n_samples,)
        In [0, 1]; NaN without a case of T-.

    Examples
    --------
    >>> fallout_of_sums(np.array([[1.0, 2.0, 0.0, 1.0]])).tolist()
    [0.0]
    """
    return _quotient(sums[:, 2], sums[:, 3])


def precision_of_sums(g: float | None = None) -> Statistic:
    """Precision after Raghavan as a function of sums of `user_parts`.

    Parameters
    ----------
    g : float, optional
        Generality, in [0, 1]; by default the sums' own share of relevant cases.

    Returns
    -------
    callable
        From sums, shape (n_samples, 4), to precisions, shape (n_samples,), in [0, 1]; NaN where nothing was
        retrieved, or where recall or fallout is.

    References
    ----------
    As for `evaluation.metrics.ranking.measure_ranking`.

    Examples
    --------
    >>> precision_of_sums(0.5)(np.array([[1.0, 2.0, 1.0, 4.0]])).tolist()
    [0.6666666666666666]
    """

    def statistic(sums: Floats) -> Floats:
        general = _quotient(sums[:, 1], sums[:, 1] + sums[:, 3]) if g is None else g
        hit = recall_of_sums(sums) * general
        return _quotient(hit, hit + fallout_of_sums(sums) * (1.0 - general))

    return statistic


def f_of_sums(g: float | None = None) -> Statistic:
    """F as a function of sums of `user_parts`.

    Parameters
    ----------
    g : float, optional
        As for `precision_of_sums`.

    Returns
    -------
    callable
        From sums, shape (n_samples, 4), to F, shape (n_samples,), in [0, 1]: 0 where nothing was retrieved, NaN where
        recall or fallout is.

    Examples
    --------
    >>> f_of_sums(0.5)(np.array([[1.0, 2.0, 1.0, 4.0], [0.0, 2.0, 0.0, 4.0]])).round(4).tolist()
    [0.5714, 0.0]
    """

    def statistic(sums: Floats) -> Floats:
        recalls = recall_of_sums(sums)
        precisions = np.nan_to_num(precision_of_sums(g)(sums))
        harmonic = np.nan_to_num(_quotient(2 * precisions * recalls, precisions + recalls))
        return np.where(np.isnan(recalls) | np.isnan(fallout_of_sums(sums)), np.nan, harmonic)

    return statistic


def _quotient(above: Floats, below: Floats) -> Floats:
    """The quotient, NaN where there is nothing below."""
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)
