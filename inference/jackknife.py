"""Standard errors of any statistic of a sample of users: the jackknife that leaves out one group of users at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError
from inference.exact import finite
from inference.results import Interval
from inference.t_tests import t_test


@dataclass(frozen=True)
class StudentEstimate:
    """A statistic with its standard error."""

    value: float  # of the whole sample
    standard_error: float
    df: float  # degrees of freedom of the standard error; of the jackknife groups less one

    def interval(self, confidence: float = 0.95) -> Interval:
        """The interval of Student's t around the value.

        Examples
        --------
        >>> StudentEstimate(0.5, 0.0, 19).interval()
        Interval(low=0.5, high=0.5)
        """
        return t_test(self.value, self.standard_error, self.df, confidence)[1]


def group_jackknife(value: float, leave_one_out: ArrayLike) -> StudentEstimate:
    r"""The jackknife over groups of about equal size, from the statistic of the sample without each group in turn.

    .. math:: SE^2 = \frac{G - 1}{G} \sum_g \left(\theta_{(g)} - \bar\theta_{(\cdot)}\right)^2

    Raises DataError for fewer than two groups or a value that is not finite. Sources: Efron & Tibshirani (1993), An
    Introduction to the Bootstrap, chapter 11; for groups Kott (2001), Journal of Official Statistics 17:521-526.

    Examples
    --------
    Groups of one and the mean give the usual standard error, s / sqrt(n).

    >>> sample = np.array([1.0, 2.0, 3.0, 6.0])
    >>> found = group_jackknife(sample.mean(), [np.delete(sample, i).mean() for i in range(4)])
    >>> bool(np.isclose(found.standard_error, sample.std(ddof=1) / 2)), found.df
    (True, 3)
    """
    needed = "The jackknife needs a finite statistic of the sample and without each group."
    values, value = finite(leave_one_out, needed), float(finite(value, needed))
    n_groups = len(values)
    if n_groups < 2:
        raise DataError("The jackknife needs the statistic without each of at least 2 groups.")
    variance = (n_groups - 1) / n_groups * float(((values - values.mean()) ** 2).sum())
    return StudentEstimate(value=value, standard_error=float(np.sqrt(variance)), df=n_groups - 1)
