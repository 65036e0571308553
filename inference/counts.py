"""Counts of events compared between conditions, where they vary more than Poisson's distribution allows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.errors import DataError
from inference.corrections import holm
from inference.results import Interval, Undefined
from inference.t_tests import t_test

ALPHA = 0.05  # of the family of pairs


@dataclass(frozen=True)
class CountMean:
    """The mean count of a condition."""

    condition: str
    n: int
    mean: float
    interval: Interval | None  # 95%; None without events


@dataclass(frozen=True)
class CountPair:
    """The ratio of two conditions' mean counts, `a` over `b`; None where one has no events."""

    a: str
    b: str
    ratio: float | None
    interval: Interval | None  # 95%, of this pair alone
    p_unadjusted: float | None
    p: float | None  # adjusted by Holm over the pairs that could be tested
    is_significant: bool = False


@dataclass(frozen=True)
class CountResult:
    """Counts of conditions compared by a quasi-Poisson model."""

    dispersion: float  # variance over mean within conditions; 1 for Poisson's distribution
    p_poisson: float  # of a dispersion this large if counts had Poisson's distribution
    f: float
    p: float
    df_between: int
    df_within: int
    means: tuple[CountMean, ...]
    pairs: tuple[CountPair, ...]


def quasi_poisson(counts: Mapping[str, Sequence[int]]) -> CountResult | Undefined:
    r"""Compare mean counts whose variance is a multiple of the mean.

    .. math:: \hat\varphi = \frac{1}{n - k} \sum_{ij} \frac{(y_{ij} - \bar y_i)^2}{\bar y_i}, \quad
              F = \frac{2 \sum_i n_i \bar y_i \log(\bar y_i / \bar y)}{(k - 1) \hat\varphi}

    As R's ``glm(count ~ condition, quasipoisson)`` with ``anova(test = "F")``; pairs by t tests of log ratios;
    overdispersion by Pearson's chi-squared statistic. A condition in which nothing happened adds to F, but has no
    ratio. Undefined with fewer than two conditions, without events, with one participant in each condition, or where
    counts do not vary within conditions. Raises DataError for an empty condition or a value that is not a whole number
    of at least 0. Source: McCullagh & Nelder (1989), Generalized Linear Models, section 6.2.3.

    Examples
    --------
    >>> result = quasi_poisson({"A": [0, 2, 9, 1], "B": [4, 12, 9, 20]})
    >>> round(result.dispersion, 2), round(result.p, 3), round(result.pairs[0].ratio, 2)
    (4.77, 0.085, 0.27)
    """
    from scipy import special

    groups = {name: np.asarray(values, dtype=np.float64) for name, values in counts.items()}
    for name, values in groups.items():
        if not values.size or not (np.isfinite(values) & (values >= 0) & (values == np.floor(values))).all():
            raise DataError(f"The counts of condition {name!r} are not whole numbers of at least 0, or there is none.")
    k, n = len(groups), sum(values.size for values in groups.values())
    totals = {name: float(values.sum()) for name, values in groups.items()}
    if k < 2 or n == k or not any(totals.values()):
        return Undefined("A comparison of counts needs two conditions, several participants and an event.")
    pearson = sum(((of - of.mean()) ** 2).sum() / of.mean() for name, of in groups.items() if totals[name])
    if not pearson:
        return Undefined("Within every condition all counts are equal.")
    dispersion, overall = float(pearson) / (n - k), sum(totals.values()) / n
    deviance = 2 * sum(totals[name] * math.log(of.mean() / overall) for name, of in groups.items() if totals[name])
    f = max(deviance, 0.0) / (k - 1) / dispersion

    means = []
    for name, of in groups.items():
        log_interval = None
        if totals[name]:
            log_interval = t_test(math.log(of.mean()), math.sqrt(dispersion / totals[name]), n - k)[1]
        means.append(CountMean(name, of.size, float(of.mean()), _exp(log_interval)))
    tested = {
        (a, b): (
            log_ratio := math.log(groups[a].mean() / groups[b].mean()),
            *t_test(log_ratio, math.sqrt(dispersion * (1 / totals[a] + 1 / totals[b])), n - k),
        )
        for a, b in combinations(groups, 2)
        if totals[a] and totals[b]
    }
    adjusted = dict(zip(tested, holm([p for _log_ratio, p, _interval in tested.values()]), strict=True))
    pairs = []
    for a, b in combinations(groups, 2):
        if (a, b) not in tested:
            pairs.append(CountPair(a, b, None, None, None, None))
            continue
        log_ratio, alone, interval = tested[a, b]
        p = adjusted[a, b]
        pairs.append(CountPair(a, b, math.exp(log_ratio), _exp(interval), alone, p, p < ALPHA))
    p = float(special.fdtrc(k - 1, n - k, f))
    p_poisson = float(special.chdtrc(n - k, pearson))
    return CountResult(dispersion, p_poisson, f, p, k - 1, n - k, tuple(means), tuple(pairs))


def _exp(interval: Interval | None) -> Interval | None:
    return None if interval is None else Interval(math.exp(interval.low), math.exp(interval.high))
