"""Paired tests of algorithms on the same users: the sign test, and what all of these tests share.

`inference.signed_rank` weighs how much better users fare, `inference.friedman` compares all algorithms at once, and
`inference.paired_hits` tests hits where users own several cases. Values are float arrays of shape (n_users,), a metric
of each user in one order of users, higher is better; NaN where a user has no value.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core.errors import DataError
from inference.corrections import Correction, check_alpha, decided
from inference.results import Floats, SignPair, SignTestResult, SignTests, Undefined

SIGN_TEST = "Sign test"
# Values of users are sums of a few float terms: two that differ by less, relative to the largest, are equal on paper.
TIE_WITHIN = 1e-9


def sign_test(a: ArrayLike, b: ArrayLike) -> SignTestResult | Undefined:
    r"""Two-sided sign test: do more users fare better with one algorithm than with the other?

    .. math:: p = \min\left(1, 2^{1-n} \sum_{i=m}^{n} \binom{n}{i}\right), \quad m = \max(n_A, n_B),\ n = n_A + n_B

    Users with a NaN are left out and counted. Ties are dropped and counted: values that differ by at most `TIE_WITHIN`
    times the largest absolute value. Undefined when no user fares better with either. Raises DataError for arrays that
    are not of one dimension and one length, or that hold infinities. Source: Gunawardana & Shani (2009), JMLR
    10:2935-2962, section 4.3, evaluated as a binomial tail, which holds for any number of users where the printed
    powers would underflow.

    Examples
    --------
    >>> result = sign_test([1, 1, 1, 0, 1], [0, 0, 0, 0, 0])
    >>> result.n_a, result.n_b, result.n_ties, result.p
    (4, 0, 1, 0.125)
    """
    from scipy import stats

    first, second = by_algorithm({"the first algorithm": a, "the second algorithm": b}).values()
    tie_within = TIE_WITHIN * largest(first, second)
    difference = (first - second)[~np.isnan(first - second)]
    n_a, n_b = int(np.count_nonzero(difference > tie_within)), int(np.count_nonzero(difference < -tie_within))
    if n_a + n_b == 0:
        return Undefined("Every user has equal values under both algorithms.")
    return SignTestResult(
        n_a=n_a,
        n_b=n_b,
        n_ties=difference.size - n_a - n_b,
        n_left_out=first.size - difference.size,
        p=min(1.0, 2 * float(stats.binom.sf(max(n_a, n_b) - 1, n_a + n_b, 0.5))),
    )


def by_algorithm(values: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """The values of every algorithm, one of each user. Raises DataError as `per_user`, and for different lengths."""
    columns = {name: per_user(of_name, name) for name, of_name in values.items()}
    if len({column.size for column in columns.values()}) > 1:
        raise DataError("The algorithms have values of different numbers of users: give one order of users for all.")
    return columns


def described(columns: Mapping[str, Floats]) -> dict[str, Any]:
    """Means, numbers of users and algorithms without any value, as `PairwiseResult` names them."""
    present = {name: column[~np.isnan(column)] for name, column in columns.items()}
    return {
        "location_name": "mean",
        "locations": {name: float(own.mean()) for name, own in present.items() if own.size},
        "n": {name: int(own.size) for name, own in present.items() if own.size},
        "left_out": tuple(name for name, own in present.items() if not own.size),
    }


def per_user(values: ArrayLike, whose: str) -> Floats:
    """One value a user as floats, NaN kept. Raises DataError, which names `whose` values they are, for text, another
    number of dimensions, or an infinity.

    Examples
    --------
    >>> per_user([1, 2], "the first algorithm").tolist()
    [1.0, 2.0]
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"The values of {whose} are not numbers: give one number a user.") from error
    if array.ndim != 1:
        raise DataError(f"The values of {whose} have {array.ndim} dimensions: give one value a user.")
    if np.isinf(array).any():
        raise DataError(f"The values of {whose} hold an infinity: paired tests need finite values.")
    return array


def largest(*values: Floats) -> float:
    """The largest absolute value, NaN left out; 0 if there is none.

    Examples
    --------
    >>> largest(np.array([1.0, -3.0, np.nan]), np.array([]))
    3.0
    """
    return float(max((np.nanmax(np.abs(array)) for array in values if not np.isnan(array).all()), default=0.0))


def sign_tests_between(
    values: Mapping[str, ArrayLike], correction: Correction = "holm", alpha: float = 0.05
) -> SignTests | Undefined:
    """Two-sided sign tests between every pair of algorithms, adjusted as one family of those that could be tested.

    ``difference`` is the share of users better served by `a` minus the share better served by `b`, of all users with
    both values. ``locations`` are the mean values, for drawing: the test itself does not compare means, and its
    direction may differ from theirs. More users may prefer A to B, B to C, and C to A: these pairs need not form an
    order. Algorithms without any value are left out by name. Undefined with fewer than two algorithms. Raises as
    `sign_test`, and ParameterError for an unknown correction or an `alpha` outside (0, 1).

    Examples
    --------
    >>> found = sign_tests_between({"A": [1] * 9, "B": [0] * 9, "C": [0] * 9})
    >>> [(pair.a, pair.b, pair.difference, pair.p) for pair in found.pairs]
    [('A', 'B', 1.0, 0.0078125), ('A', 'C', 1.0, 0.0078125), ('B', 'C', 0.0, None)]
    """
    check_alpha(alpha)
    columns = by_algorithm(values)
    about = described(columns)
    if len(about["n"]) < 2:
        return Undefined("A comparison needs two algorithms with values of users.")
    pairs = []
    for a, b in combinations(about["n"], 2):
        result = sign_test(columns[a], columns[b])
        if isinstance(result, Undefined):
            n_both = int(np.count_nonzero(~np.isnan(columns[a] - columns[b])))
            counts: dict[str, Any] = {"n_ties": n_both, "n_left_out": columns[a].size - n_both}
            pairs.append(SignPair(a, b, 0.0, None, False, reason=result.reason, **counts))
            continue
        difference = (result.n_a - result.n_b) / (result.n_a + result.n_b + result.n_ties)
        counts = {name: getattr(result, name) for name in ("n_a", "n_b", "n_ties", "n_left_out")}
        pairs.append(SignPair(a, b, difference, None, False, p_unadjusted=result.p, **counts))
    return SignTests(test=f"{SIGN_TEST} ({correction})", alpha=alpha, pairs=decided(pairs, alpha, correction), **about)
