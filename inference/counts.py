"""Counts of events: whether they vary more within conditions than Poisson's distribution allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import DataError
from inference.results import Undefined


@dataclass(frozen=True)
class Overdispersion:
    """How counts vary within conditions."""

    dispersion: float  # variance over mean within conditions; 1 for Poisson's distribution
    p: float  # of a dispersion this large if counts had Poisson's distribution


def overdispersion(counts: Mapping[str, Sequence[int]]) -> Overdispersion | Undefined:
    r"""Compare the variance of counts within conditions with their means, by Pearson's chi-squared statistic.

    .. math:: \hat\varphi = \frac{1}{n - k} \sum_{ij} \frac{(y_{ij} - \bar y_i)^2}{\bar y_i}

    Undefined with fewer than two conditions, without events, with one participant in each condition, or where counts do
    not vary within conditions. Raises DataError for an empty condition or a value that is not a whole number of at
    least 0. Source: McCullagh & Nelder (1989), Generalized Linear Models, section 6.2.3.

    Examples
    --------
    >>> result = overdispersion({"A": [0, 2, 9, 1], "B": [4, 12, 9, 20]})
    >>> round(result.dispersion, 2), round(result.p, 5)
    (4.77, 7e-05)
    """
    from scipy import special

    groups = {name: np.asarray(values, dtype=np.float64) for name, values in counts.items()}
    for name, values in groups.items():
        if not values.size or not (np.isfinite(values) & (values >= 0) & (values == np.floor(values))).all():
            raise DataError(f"The counts of condition {name!r} are not whole numbers of at least 0, or there is none.")
    df = sum(values.size for values in groups.values()) - len(groups)
    if len(groups) < 2 or not df or not any(values.any() for values in groups.values()):
        return Undefined("A comparison of counts needs two conditions, several participants and an event.")
    pearson = float(sum(((of - of.mean()) ** 2).sum() / of.mean() for of in groups.values() if of.any()))
    if not pearson:
        return Undefined("Within every condition all counts are equal.")
    return Overdispersion(pearson / df, float(special.chdtrc(df, pearson)))
