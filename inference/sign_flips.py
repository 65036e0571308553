"""The sign-flip null distribution of paired tests."""

from __future__ import annotations

import math

import numpy as np

from core.errors import DataError
from inference.results import Integers

CELLS = 150_000_000  # steps of the exact count; some tenths of a second


def is_countable(weights: Integers) -> bool:
    """Whether `share_at_least` is quick enough for these weights, which are at least 0.

    Examples
    --------
    >>> is_countable(np.arange(1, 401)), is_countable(np.arange(1, 4001))
    (True, False)
    """
    return int(weights.size) * int(weights.sum()) <= CELLS


def share_at_least(weights: Integers, observed: int) -> float:
    r"""Probability that the weights of a random subset, each in it by a fair coin, add up to `observed` or more.

    .. math:: \Pr\Big(\sum_i B_i w_i \ge v\Big), \quad B_i \sim \mathrm{Bernoulli}(\tfrac12)

    Counted exactly, weight by weight, so ties are no trouble; correct to some units of the last digit. Raises DataError
    for a weight below 1.

    Examples
    --------
    >>> share_at_least(np.array([1, 2, 3]), 5)
    0.25
    """
    if weights.size and weights.min() < 1:
        raise DataError(f"A weight is {weights.min()}: weights are 1 or more.")
    shares = np.zeros(int(weights.sum()) + 1)
    shares[0] = 1.0
    reached = 0
    for weight in np.sort(weights).tolist():
        half = shares[: reached + 1] / 2
        shares[: reached + 1] = half
        shares[weight : weight + reached + 1] += half
        reached += weight
    return min(1.0, math.fsum(shares[max(0, observed) :]))
