"""Tests of hits between every pair of algorithms, adjusted as one family."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import DataError, ParameterError
from inference.corrections import Correction, adjust, check_alpha
from inference.paired import per_user
from inference.paired_hits import MCNEMAR, SIGN_FLIP, McNemarResult, SignFlipResult, mcnemar, sign_flip
from inference.results import Pair, PairwiseResult, Undefined

HitTest = Literal["sign-flip", "mcnemar"]
NAMES: Mapping[HitTest, str] = {"sign-flip": SIGN_FLIP, "mcnemar": MCNEMAR}


def hit_tests_between(
    values: Mapping[str, ArrayLike],
    n_cases: ArrayLike,
    test: HitTest = "sign-flip",
    correction: Correction = "holm",
    alpha: float = 0.05,
    *,
    rng: np.random.Generator,
) -> PairwiseResult | Undefined:
    """Two-sided tests of hits between every pair of algorithms.

    `values` holds the mean hit of each user's cases, in one order of users, NaN where a user has none; `n_cases` holds
    the number of these cases, the same for all algorithms. ``difference`` is the hit rate over cases of `a` less that
    of `b`, and ``locations`` are hit rates. The correction covers the pairs that could be tested; pairs draw random
    signs one after another. Undefined with fewer than two algorithms, and for McNemar's test where a user owns several
    cases, or a hit is a fraction because ties count in expectation. Raises ParameterError for an unknown test or
    correction or an `alpha` outside (0, 1), and DataError for numbers of cases that do not fit the values.

    Examples
    --------
    >>> hits = {"A": [1, 1, 1, 0.5], "B": [0, 0, 0, 0.5]}
    >>> found = hit_tests_between(hits, [1, 2, 1, 2], rng=np.random.default_rng(1))
    >>> [(pair.a, pair.b, round(pair.difference, 3), pair.p) for pair in found.pairs]
    [('A', 'B', 0.667, 0.25)]
    """
    if test not in NAMES:
        raise ParameterError(f"The test {test!r} is unknown: choose {' or '.join(NAMES)}.")
    check_alpha(alpha)
    by_name = {name: per_user(of_name, name) for name, of_name in values.items()}
    counts = np.asarray(n_cases, dtype=np.int64)
    if any(array.shape != counts.shape for array in by_name.values()) or (counts < 0).any():
        raise DataError("Each user needs a number of cases, and a value of every algorithm or NaN.")
    if len(by_name) < 2:
        return Undefined("A comparison needs two algorithms with values of users.", NAMES[test])
    has_cases = (counts > 0) & ~np.isnan(np.stack(list(by_name.values()))).any(axis=0)
    users = np.flatnonzero(has_cases)
    owners = np.repeat(users, counts[users])
    # Repeating a user's mean once per case preserves the sum over the cases.
    hits = {name: np.repeat(array[users], counts[users]) for name, array in by_name.items()}
    if test == "mcnemar" and (why_not := _no_mcnemar(owners, hits)):
        return Undefined(why_not, MCNEMAR)
    tests: dict[tuple[str, str], SignFlipResult | McNemarResult | Undefined] = {
        (a, b): mcnemar(owners, hits[a], hits[b]) if test == "mcnemar" else sign_flip(owners, hits[a], hits[b], rng=rng)
        for a, b in combinations(by_name, 2)
    }
    tested = {key: result.p for key, result in tests.items() if not isinstance(result, Undefined)}
    adjusted = dict(zip(tested, adjust(list(tested.values()), correction), strict=True))
    pairs = []
    for (a, b), result in tests.items():
        difference = float(hits[a].mean() - hits[b].mean()) if owners.size else 0.0
        if isinstance(result, Undefined):
            pairs.append(Pair(a, b, difference, None, False, reason=result.reason))
            continue
        p = adjusted[a, b]
        pairs.append(Pair(a, b, difference, p, p < alpha, p_unadjusted=result.p))
    return PairwiseResult(
        test=f"{NAMES[test]} ({correction})",
        alpha=alpha,
        pairs=tuple(pairs),
        location_name="hit rate",
        locations={name: float(of_name.mean()) if owners.size else 0.0 for name, of_name in hits.items()},
        n=dict.fromkeys(hits, len(users)),
    )


def _no_mcnemar(owners: NDArray[np.int64], hits: Mapping[str, NDArray[np.float64]]) -> str:
    """Why McNemar's test does not apply; empty where it does."""
    if len(np.unique(owners)) != owners.size:
        return "McNemar's test needs one case a user; here some own several. Use the sign flips of whole users."
    if not all(np.isin(of_name, (0, 1)).all() for of_name in hits.values()):
        return "McNemar's test needs hits of 0 or 1; here some are fractions, as ties count in expectation."
    return ""
