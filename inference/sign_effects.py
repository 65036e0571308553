"""Effect sizes beside the sign test: the share of tied users, and how often one algorithm serves the others better."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import DataError
from inference.case_rates import clopper_pearson
from inference.results import Interval, Undefined

CONFIDENCE = 0.95


@dataclass(frozen=True)
class SignEffect:
    """How many users have equal values, and which share of the others fares better with the first algorithm."""

    tied: float  # share of all users with both values
    superiority: float  # share of the users without a tie; .5 where neither algorithm is better
    interval: Interval  # of `superiority`, exact


def sign_effect(n_a: int, n_b: int, n_ties: int) -> SignEffect | Undefined:
    """Effect size of a sign test with its exact 95% interval (Clopper and Pearson), from the counts of users.

    The interval excludes .5 where the two-sided sign test is significant at .05. Undefined where all users tie. Raises
    DataError for a negative count. Sources: Cohen (1988), Statistical Power Analysis for the Behavioral Sciences,
    chapter 5 (g = superiority - .5); Clopper & Pearson (1934), Biometrika 26(4):404-413.

    Examples
    --------
    >>> found = sign_effect(8, 2, 30)
    >>> found.tied, found.superiority, round(found.interval.low, 4), round(found.interval.high, 4)
    (0.75, 0.8, 0.4439, 0.9748)
    """
    if min(n_a, n_b, n_ties) < 0:
        raise DataError(f"There are {n_a}, {n_b} and {n_ties} users: a count is 0 or more.")
    n = n_a + n_b
    if n == 0:
        return Undefined("Every user has equal values under both algorithms.")
    low, high = clopper_pearson(n_a, n_b, CONFIDENCE)
    return SignEffect(n_ties / (n + n_ties), n_a / n, Interval(float(low), float(high)))
