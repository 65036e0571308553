"""Estimates of a sample for claims, at any confidence: a mean, a median, a share, a correlation, an effect size, and
any statistic with the jackknife that leaves out one group of users at a time.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError
from inference.anova import noncentral_f_limits
from inference.average_advantage import MeanEstimates
from inference.case_rates import clopper_pearson
from inference.claims import Estimate
from inference.groups import finite
from inference.results import Floats, Interval, WelchResult
from inference.t_tests import t_test


def student_estimate(value: float, standard_error: float, df: float) -> Estimate:
    """A statistic with the interval of Student's t by its standard error, which has `df` degrees of freedom.

    Examples
    --------
    >>> student_estimate(0.5, 0.0, 19).interval(0.95)
    Interval(low=0.5, high=0.5)
    """
    return Estimate(value, lambda confidence: t_test(value, standard_error, df, confidence)[1])


def contrast_of_means(means: MeanEstimates, weights: dict[str, float]) -> Estimate:
    """A weighted sum of means, with Welch and Satterthwaite's degrees of freedom.

    Examples
    --------
    >>> means = MeanEstimates.independent({"A": 3.6, "B": 3.1}, [0.6, 0.5], [30, 30])
    >>> estimate = contrast_of_means(means, {"A": 1.0, "B": -1.0})
    >>> round(estimate.value, 2), round(estimate.interval(0.95).low, 3)
    (0.5, 0.214)
    """
    contrast = np.array([weights.get(name, 0.0) for name in means.names])
    variance = float(contrast @ means.covariance @ contrast)
    df = means.df(contrast) if variance else math.inf
    return student_estimate(float(contrast @ means.means), math.sqrt(variance), df)


def median_estimate(values: Floats, low: float, high: float) -> Estimate:
    """The median of a sample, shape (n,), with the largest pair of order statistics that has the confidence.

    No shape of the distribution is assumed; ties make it wider than it need be. The ends of the scale, `low` and
    `high`, take the place of order statistics where the sample is too small for the confidence. Source: David &
    Nagaraja (2003), Order Statistics, section 7.1.

    Examples
    --------
    >>> median_estimate(np.arange(1.0, 31), low=0, high=99).interval(0.95)
    Interval(low=10.0, high=21.0)
    """
    n, ordered = len(values), np.sort(values)

    def interval(confidence: float) -> Interval:
        from scipy import stats

        # Values below the median are Binomial(n, 1/2) in number; `at` or fewer are less likely than the tail.
        at = int(stats.binom.ppf((1 - confidence) / 2, n, 0.5)) - 1
        return Interval(float(ordered[at]), float(ordered[n - 1 - at])) if at >= 0 else Interval(low, high)

    return Estimate(float(np.median(values)), interval)


def share_estimate(values: Floats) -> Estimate:
    """A share of participants, of values 0 or 1, with Clopper and Pearson's exact interval.

    Examples
    --------
    >>> interval = share_estimate(np.array([1.0] * 27 + [0.0] * 3)).interval(0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.735, 0.979)
    """
    events = values.sum()

    def interval(confidence: float) -> Interval:
        low, high = clopper_pearson(events, len(values) - events, confidence)
        return Interval(float(low), float(high))

    return Estimate(float(values.mean()), interval)


def correlation_estimate(r: float, n: int) -> Estimate:
    """Pearson's correlation of `n` pairs of values, at least 4, with Fisher's interval.

    Examples
    --------
    >>> interval = correlation_estimate(0.8, 210).interval(0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.745, 0.844)
    """

    def interval(confidence: float) -> Interval:
        from scipy import special

        z = math.atanh(max(min(r, 1 - 1e-12), 1e-12 - 1))
        half = float(special.ndtri((1 + confidence) / 2)) / math.sqrt(n - 3)
        return Interval(math.tanh(z - half), math.tanh(z + half))

    return Estimate(r, interval)


def effect_estimate(test: WelchResult) -> Estimate:
    r"""Cohen's f of Welch's test, :math:`f = \sqrt{\lambda / n}`, :math:`\lambda` the noncentrality of F.

    It is 0 where F is below 1. Its interval has the tail 1 - confidence on each side, so that its lower limit is above
    0 exactly where the test is significant; the upper one is infinite where a condition was left out or F is too large.
    Source: Steiger (2004), Psychological Methods 9(2):164-182.

    Examples
    --------
    >>> test = WelchResult(2.5, 0.028, df_between=6, df_within=90.0, n=210, n_conditions=7, left_out=())
    >>> effect = effect_estimate(test)
    >>> effect.interval(0.95).low > 0, effect.interval(0.98).low, round(effect.interval(0.95).high, 2)
    (True, 0.0, 0.35)
    """
    value = math.sqrt(max(0.0, test.df_between * (test.f - 1)) / test.n)

    def interval(confidence: float) -> Interval:
        limits = noncentral_f_limits(test.f, test.df_between, test.df_within, 2 * confidence - 1)
        if limits is None:
            return Interval(value, math.inf)
        low, high = (math.sqrt(limit / test.n) for limit in (limits.low, limits.high))
        return Interval(low, math.inf if test.left_out else high)

    return Estimate(value, interval)


def group_jackknife(value: float, leave_one_out: ArrayLike) -> Estimate:
    r"""The jackknife over groups of about equal size, from the statistic of the sample without each group in turn.

    .. math:: SE^2 = \frac{G - 1}{G} \sum_g \left(\theta_{(g)} - \bar\theta_{(\cdot)}\right)^2

    The interval is that of Student's t with G - 1 degrees of freedom. Raises DataError for fewer than two groups or a
    value that is not finite. Sources: Efron & Tibshirani (1993), An Introduction to the Bootstrap, chapter 11; for
    groups Kott (2001), Journal of Official Statistics 17:521-526.

    Examples
    --------
    Groups of one and the mean give the usual standard error, s / sqrt(n).

    >>> sample = np.array([1.0, 2.0, 3.0, 6.0])
    >>> found = group_jackknife(sample.mean(), [np.delete(sample, i).mean() for i in range(4)])
    >>> usual = student_estimate(3.0, sample.std(ddof=1) / 2, 3)
    >>> bool(np.isclose(found.interval(0.95).high, usual.interval(0.95).high))
    True
    """
    needed = "The jackknife needs a finite statistic of the sample and without each group."
    values, value = finite(leave_one_out, needed), float(finite(value, needed))
    n_groups = len(values)
    if n_groups < 2:
        raise DataError("The jackknife needs the statistic without each of at least 2 groups.")
    variance = (n_groups - 1) / n_groups * float(((values - values.mean()) ** 2).sum())
    return student_estimate(value, float(np.sqrt(variance)), n_groups - 1)
