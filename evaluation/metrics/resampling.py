"""Metrics of one-plus-random as functions of sums over users, so that F can be bootstrapped over users.

Every user contributes a row of four: hits and cases of T+, hits and cases of T-, at one list length. Functions take
sums of such rows over bootstrapped users, shape (n_samples, 4), and return values of shape (n_samples,); see
`inference.bootstrap.pooled_interval`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]


def recall_of_sums(sums: Floats) -> Floats:
    """Recall of resampled users. Returns a float array, shape (n_samples,), in [0, 1]; NaN without a case of T+.

    Examples
    --------
    >>> recall_of_sums(np.array([[1.0, 2.0, 0.0, 1.0]])).tolist()
    [0.5]
    """
    return _quotient(sums[:, 0], sums[:, 1])


def fallout_of_sums(sums: Floats) -> Floats:
    """Fallout of resampled users. Returns a float array, shape (n_samples,), in [0, 1]; NaN without a case of T-."""
    return _quotient(sums[:, 2], sums[:, 3])


def precision_of_sums(g: float | None = None) -> Statistic:
    """Precision after Raghavan as a function of sums.

    `g` is the generality, in [0, 1]; by default the sums' own share of relevant cases. Returns a function from sums,
    shape (n_samples, 4), to precisions, shape (n_samples,), in [0, 1]; NaN where nothing was retrieved, or where recall
    or fallout is.

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
    """F as a function of sums. Returns a function from sums, shape (n_samples, 4), to F, shape (n_samples,), in [0, 1]:
    0 where nothing was retrieved, NaN where recall or fallout is.

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
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)
