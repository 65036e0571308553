"""The bias-corrected and accelerated (BCa) bootstrap interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError
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


def bca_of_mean(values: ArrayLike, resampled: ArrayLike) -> BcaInterval | Undefined:
    r"""Efron's 95% BCa interval of one condition's mean, from its values and the resampled means.

    .. math:: \alpha_{1,2} = \Phi\Big(z_0 + \frac{z_0 + z_{\alpha}}{1 - a(z_0 + z_{\alpha})}\Big)

    Resamples equal to the mean count half towards the bias, as is right for values on a grid. Undefined with fewer than
    two values, when the values or the resampled means are all equal, or when every resample lies on one side of the
    mean. Raises DataError for arrays that are of another shape or not finite, or without resamples. Source: Efron
    (1987), Journal of the American Statistical Association 82(397):171-185; ties as in scipy.stats.bootstrap.

    Examples
    --------
    >>> found = bca_of_mean([1.0, 2.0, 4.0, 8.0], [2.0, 3.0, 3.5, 4.0, 5.0])
    >>> round(found.acceleration, 4)
    0.0547
    """
    from scipy import special

    observed, means = np.asarray(values, dtype=np.float64), np.asarray(resampled, dtype=np.float64)
    if observed.ndim != 1 or means.ndim != 1 or not means.size:
        raise DataError("A BCa interval takes one list of values, and one of resampled means.")
    if not (np.isfinite(observed).all() and np.isfinite(means).all()):
        raise DataError("A BCa interval takes finite values only.")
    if observed.size < 2:
        return Undefined("A BCa interval needs two observations.", BCA)
    if not np.ptp(observed) or not np.ptp(means):
        return Undefined("All observations are equal: resampling has nothing to vary.", BCA)
    mean = observed.sum() / observed.size
    share = (np.count_nonzero(means < mean) + np.count_nonzero(means == mean) / 2) / means.size
    if not 0 < share < 1:
        return Undefined("Every resample lies on one side of the estimate: its bias cannot be corrected.", BCA)
    bias = float(special.ndtri(share))
    # The mean without a value is as far from the mean of all as that value, in units of n - 1.
    distances = observed - mean
    acceleration = float((distances**3).sum()) / (6 * float((distances**2).sum()) ** 1.5)
    reached = [bias + float(special.ndtri(level)) for level in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)]
    levels = [float(special.ndtr(bias + z / (1 - acceleration * z))) for z in reached]
    low, high = np.quantile(means, levels)
    return BcaInterval(Interval(float(low), float(high)), (levels[0], levels[1]), bias, acceleration)
