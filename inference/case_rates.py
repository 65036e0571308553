"""Exact limits for rates over cases, such as recall and fallout, where cases of one user are not independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError
from inference.results import Floats, Undefined

RARE = 10  # events or non-events, below which the clustered variance is too uncertain to stand alone
RARE_CORRELATION = 0.1  # of cases within a user, assumed for rare events


@dataclass(frozen=True)
class RateLimits:
    """Rates over cases with their 95% limits, one of each per algorithm."""

    rates: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    is_rare: tuple[bool, ...]  # fewer than 10 events or non-events


def rate_limits(hits: ArrayLike, n_cases: ArrayLike) -> RateLimits | Undefined:
    r"""Limits by Clopper and Pearson with the effective number of cases, n / deff.

    .. math:: \mathrm{deff} = \max\left(1,
        \frac{\sum_u (h_u - m_u \hat p)^2\, U / (U - 1)}{n \hat p (1 - \hat p)\, n / (n - 1)}\right)

    where user u has :math:`h_u` hits in :math:`m_u` of the n cases and U is the number of users. With fewer than 10
    events or non-events it is at least :math:`1 + .1 (\sum m^2 / \sum m - 1)`, the design effect of an intraclass
    correlation of .1. docs/explanation/operating-characteristics.md shows the coverage. Undefined with fewer than two
    users with cases. `hits`, shape (n_users, n_algorithms), are those of each user's cases, fractions where ties count
    in expectation; `n_cases`, shape (n_users,), are the cases, and users without any are left out. Raises DataError for
    hits that are negative or more than the cases. Sources: Clopper & Pearson (1934), Biometrika 26(4):404-413; for the
    effective sample Korn & Graubard (1998), Survey Methodology 24(2):193-201.

    Examples
    --------
    >>> limits = rate_limits(np.zeros((249, 1)), np.ones(249))
    >>> limits.rates, limits.low, round(limits.high[0], 4), limits.is_rare
    ((0.0,), (0.0,), 0.0147, (True,))
    """
    n_hits, cases = np.asarray(hits, dtype=np.float64), np.asarray(n_cases, dtype=np.float64)
    if not ((n_hits >= 0) & (n_hits <= cases[:, None] * (1 + 1e-9))).all():
        raise DataError("A user's hits are negative, missing or more than the user's cases.")
    n_hits, cases = n_hits[cases > 0], cases[cases > 0]
    n, n_users = cases.sum(), len(cases)
    if n_users < 2:
        return Undefined(f"Limits clustered by user need two users with cases; there are {n_users}.")
    # Sums of fractions may end a rounding beyond the cases.
    events = np.minimum(n_hits.sum(axis=0), n)
    rates = events / n
    clustered = ((n_hits - cases[:, None] * rates) ** 2).sum(axis=0) * n_users / (n_users - 1)
    binomial = n * rates * (1 - rates) * n / max(n - 1, 1)
    least = 1 + RARE_CORRELATION * ((cases**2).sum() / n - 1)
    is_rare = np.minimum(events, n - events) < RARE
    inflation = np.divide(clustered, binomial, out=np.ones_like(rates), where=binomial > 0)
    deff = np.maximum(inflation, np.where(is_rare, least, 1.0))
    low, high = clopper_pearson(events / deff, (n - events) / deff, 0.95)
    return RateLimits(
        rates=tuple(rates.tolist()),
        low=tuple(low.tolist()),
        high=tuple(high.tolist()),
        is_rare=tuple(is_rare.tolist()),
    )


def clopper_pearson(events: ArrayLike, non_events: ArrayLike, confidence: float) -> tuple[Floats, Floats]:
    """The exact limits of the share of events among events and non-events, which may be fractions, elementwise.

    Examples
    --------
    >>> low, high = clopper_pearson([0, 27], [249, 3], 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.735], [0.015, 0.979])
    """
    from scipy import special

    n_events, n_non_events = np.asarray(events, dtype=float), np.asarray(non_events, dtype=float)
    tail = (1 - confidence) / 2
    # With no event the lower limit is 0, with no other case the upper is 1; there the beta distribution has no density.
    low = special.betaincinv(np.where(n_events > 0, n_events, 1.0), n_non_events + 1, tail)
    high = special.betaincinv(n_events + 1, np.where(n_non_events > 0, n_non_events, 1.0), 1 - tail)
    return np.where(n_events > 0, low, 0.0), np.where(n_non_events > 0, high, 1.0)
