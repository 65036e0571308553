"""Counts of events in conditions: do they vary more than Poisson's distribution allows?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from inference.results import Undefined


@dataclass(frozen=True)
class Overdispersion:
    """The spread of counts within conditions."""

    dispersion: float  # variance over mean; 1 for Poisson's distribution
    p: float  # of a dispersion this large if counts had Poisson's distribution


def overdispersion(counts: Mapping[str, Sequence[int]]) -> Overdispersion | Undefined:
    r"""Pearson's chi-squared statistic of counts around the means of their conditions, over its degrees of freedom.

    .. math:: \hat\varphi = \frac{1}{n - k} \sum_{ij} \frac{(y_{ij} - \bar y_i)^2}{\bar y_i}

    As the dispersion of R's ``glm(count ~ condition, quasipoisson)``; a condition in which nothing happened adds
    nothing. Every condition has a count, each a whole number of at least 0. Undefined with fewer than two conditions,
    without events, with one participant in each condition, or where counts do not vary within conditions. Source:
    McCullagh & Nelder (1989), Generalized Linear Models, section 6.2.3.

    Examples
    --------
    >>> result = overdispersion({"A": [0, 2, 9, 1], "B": [4, 12, 9, 20]})
    >>> round(result.dispersion, 2), round(result.p, 4)
    (4.77, 0.0001)
    """
    from scipy import special

    groups = [np.asarray(values, dtype=np.float64) for values in counts.values()]
    k, n = len(groups), sum(values.size for values in groups)
    if k < 2 or n == k or not any(values.any() for values in groups):
        return Undefined("A comparison of counts needs two conditions, several participants and an event.")
    pearson = sum(((values - values.mean()) ** 2).sum() / values.mean() for values in groups if values.any())
    if not pearson:
        return Undefined("Within every condition all counts are equal.")
    return Overdispersion(float(pearson) / (n - k), float(special.chdtrc(n - k, pearson)))
