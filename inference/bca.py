"""The bias-corrected and accelerated (BCa) bootstrap interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError, ParameterError
from inference.results import Interval, Result, Undefined

BCA = "BCa interval"
CONFIDENCE = 0.95


@dataclass(frozen=True)
class BcaInterval(Result):
    """A BCa interval with its components."""

    interval: Interval  # the limits, quantiles of type 7 of the resampled values
    # The shares at which those quantiles were taken; .025 and .975 for a percentile interval.
    levels: tuple[float, float]
    bias: float  # z0: median bias of the resampled values, in standard normal units
    acceleration: float  # rate of change of the standard error with the estimate


def bca_interval(
    resampled: ArrayLike,
    estimate: float,
    jackknifed: ArrayLike,
    confidence: float = CONFIDENCE,
    ties: Literal["half", "below"] = "half",
) -> BcaInterval | Undefined:
    r"""Efron's BCa interval from resampled values, shape (resamples,), and jackknifed ones, shape (n,), n >= 2.

    .. math:: \alpha_{1,2} = \Phi\Big(z_0 + \frac{z_0 + z_{\alpha}}{1 - a(z_0 + z_{\alpha})}\Big)

    `ties` says whether resamples equal to the estimate count half towards the bias, as is right for values on a grid,
    or not at all, as in R's boot. Undefined when the observations, and so the resampled values, are all equal, or when
    every resample lies on one side of the estimate. Raises ParameterError for a `confidence` outside (0, 1) and
    DataError for arrays that are empty, of another shape, or not finite. Source: Efron (1987), Journal of the American
    Statistical Association 82(397):171-185; ties as in scipy.stats.bootstrap.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 4.0, 8.0])
    >>> found = bca_interval([2.0, 3.0, 3.5, 4.0, 5.0], values.mean(), (values.sum() - values) / 3)
    >>> round(found.acceleration, 4)
    0.0547
    """
    from scipy import special

    if not 0 < confidence < 1:
        raise ParameterError(f"The confidence is {confidence}: it must lie between 0 and 1.")
    replicates, leave_one_out = (np.asarray(values, dtype=np.float64) for values in (resampled, jackknifed))
    if replicates.ndim != 1 or leave_one_out.ndim != 1 or not replicates.size or leave_one_out.size < 2:
        raise DataError("A BCa interval takes one list of resampled values, and one of two jackknifed ones or more.")
    if not (np.isfinite(replicates).all() and np.isfinite(leave_one_out).all() and np.isfinite(estimate)):
        raise DataError("A BCa interval takes finite values only.")
    distances = leave_one_out.mean() - leave_one_out
    squares = float((distances**2).sum())
    if squares == 0 or replicates.min() == replicates.max():
        return Undefined("All observations are equal: resampling has nothing to vary.", BCA)
    below = np.count_nonzero(replicates < estimate) + (
        np.count_nonzero(replicates == estimate) / 2 if ties == "half" else 0
    )
    share = below / replicates.size
    if not 0 < share < 1:
        return Undefined("Every resample lies on one side of the estimate: its bias cannot be corrected.", BCA)
    bias = float(special.ndtri(share))
    acceleration = float((distances**3).sum()) / (6 * squares**1.5)
    tail = (1 - confidence) / 2
    reached = [bias + float(special.ndtri(level)) for level in (tail, 1 - tail)]
    levels = [float(special.ndtr(bias + z / (1 - acceleration * z))) for z in reached]
    low, high = np.quantile(replicates, levels)
    return BcaInterval(Interval(float(low), float(high)), (levels[0], levels[1]), bias, acceleration)


def bca_of_mean(values: ArrayLike, resampled: ArrayLike, confidence: float = CONFIDENCE) -> BcaInterval | Undefined:
    """The BCa interval of one condition's mean, from its values and the resampled means. Otherwise as `bca_interval`;
    undefined also with fewer than two values.

    Examples
    --------
    >>> bca_of_mean([3.0, 3.0, 3.0], [3.0, 3.0]).reason
    'All observations are equal: resampling has nothing to vary.'
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size < 2:
        return Undefined("A BCa interval needs two observations.", BCA)
    if array.min() == array.max():
        return Undefined("All observations are equal: resampling has nothing to vary.", BCA)
    total = array.sum()
    return bca_interval(resampled, float(total / array.size), (total - array) / (array.size - 1), confidence)
