"""Paired tests of hits: by sign flips of whole users, and McNemar's where each user owns one case."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from inference.corrections import Correction, decided
from inference.paired import by_algorithm, is_countable, share_at_least, sign_test
from inference.results import Floats, Pair, PairwiseResult, Undefined

SIGN_FLIP = "Sign-flip permutation by user"
MCNEMAR = "McNemar"
HitTest = Literal["sign-flip", "mcnemar"]
NAMES: Mapping[HitTest, str] = {"sign-flip": SIGN_FLIP, "mcnemar": MCNEMAR}
RESAMPLES = 20_000
CELLS = 4_000_000  # signs drawn at a time
SAME = 1e-9  # hits in expectation are fractions; sums that differ by less are equal on paper


def flip_sums(sums: Floats, *, rng: np.random.Generator) -> tuple[float, str]:
    r"""Do two algorithms' hits differ, where cases of one user are not independent? Two-sided p, and its method.

    Under the null hypothesis the two algorithms could change places for any user, all the user's cases at once:

    .. math:: T = \sum_u s_u d_u, \quad s_u = \pm 1

    `sums` of shape (n_users,) holds each user's hits under the first algorithm less those under the second, d. Counted
    over all signs ("exact") where these are whole numbers, over 20,000 "random signs" otherwise, with the observed ones
    as one more; 1 where all are 0. Sources: Fisher (1935), The Design of Experiments, section 21; for the observed
    signs among the random ones Phipson & Smyth (2010), Statistical Applications in Genetics and Molecular Biology
    9(1):39.

    Examples
    --------
    >>> flip_sums(np.array([1.0, 2.0, -1.0, 0.0]), rng=np.random.default_rng(1))
    (0.75, 'exact')
    """
    differing = sums[np.abs(sums) > SAME]
    observed = abs(float(differing.sum()))
    whole = np.rint(differing)
    weights = np.abs(whole).astype(np.int64)
    # Fractions, as ties in expectation give, have too many different sums to be counted.
    if (np.abs(differing - whole) <= SAME).all() and is_countable(weights):
        # A sum with signs is twice the sum of those that are +, less all of them.
        least = math.ceil((round(observed) + int(weights.sum())) / 2)
        return min(1.0, 2 * share_at_least(weights, least)), "exact"
    # Random signs that give a sum at least as far out as the observed one, which is one of them.
    sizes, n_beyond = np.abs(differing), 1
    at_once = max(1, CELLS // sizes.size)
    for start in range(0, RESAMPLES, at_once):
        signs = rng.integers(2, size=(min(at_once, RESAMPLES - start), sizes.size), dtype=np.int8)
        # The tolerance keeps sums that equal the observed one on paper among those at least as far out.
        n_beyond += int(np.count_nonzero(np.abs(2 * (signs @ sizes) - sizes.sum()) >= observed - SAME))
    return n_beyond / (1 + RESAMPLES), "random signs"


def hit_tests_between(
    values: Mapping[str, ArrayLike],
    n_cases: ArrayLike,
    test: HitTest = "sign-flip",
    correction: Correction = "holm",
    alpha: float = 0.05,
    *,
    rng: np.random.Generator,
) -> PairwiseResult | Undefined:
    """Two-sided tests of hits between every pair of algorithms, adjusted as one family.

    `values` holds the mean hit of each user's cases, in one order of users, NaN where a user has none; `n_cases` holds
    the number of these cases, the same for all algorithms. ``difference`` is the hit rate over cases of `a` less that
    of `b`, and ``locations`` are hit rates. The correction covers the pairs that could be tested; pairs draw random
    signs one after another. McNemar's exact test is the sign test of users who own one case each. Undefined with fewer
    than two algorithms, and for McNemar's test where a user owns several cases, or a hit is a fraction because ties
    count in expectation. Raises ParameterError for an unknown correction, and DataError as
    `inference.paired.by_algorithm`. Source: McNemar (1947), Psychometrika 12(2):153-157; for sign flips see
    `flip_sums`.

    Examples
    --------
    >>> hits = {"A": [1, 1, 1, 0.5], "B": [0, 0, 0, 0.5]}
    >>> found = hit_tests_between(hits, [1, 2, 1, 2], rng=np.random.default_rng(1))
    >>> [(pair.a, pair.b, round(pair.difference, 3), pair.p) for pair in found.pairs]
    [('A', 'B', 0.667, 0.25)]
    """
    by_name = by_algorithm(values)
    counts = np.asarray(n_cases, dtype=np.int64)
    if len(by_name) < 2:
        return Undefined("A comparison needs two algorithms with values of users.")
    has_cases = (counts > 0) & ~np.isnan(np.stack(list(by_name.values()))).any(axis=0)
    counts = counts[has_cases]
    hits = {name: array[has_cases] * counts for name, array in by_name.items()}
    if test == "mcnemar" and (counts > 1).any():
        reason = "McNemar's test needs one case a user; here some own several. Use the sign flips of whole users."
        return Undefined(reason)
    if test == "mcnemar" and not all(np.isin(of_name, (0, 1)).all() for of_name in hits.values()):
        reason = "McNemar's test needs hits of 0 or 1; here some are fractions, as ties count in expectation."
        return Undefined(reason)
    n = max(int(counts.sum()), 1)
    pairs = []
    for a, b in combinations(by_name, 2):
        pair = Pair(a, b, float((hits[a] - hits[b]).sum() / n), None, False)
        pairs.append(_tested(pair, hits[a], hits[b], test, rng))
    return PairwiseResult(
        test=f"{NAMES[test]} ({correction})",
        alpha=alpha,
        pairs=decided(pairs, alpha, correction),
        locations={name: float(of_name.sum() / n) for name, of_name in hits.items()},
        n=dict.fromkeys(hits, len(counts)),
    )


def _tested(pair: Pair, a: Floats, b: Floats, test: HitTest, rng: np.random.Generator) -> Pair:
    if test == "mcnemar":
        result = sign_test(a, b)
        if isinstance(result, Undefined):
            return replace(pair, reason=result.reason)
        return replace(pair, p_unadjusted=result.p)
    if not (np.abs(a - b) > SAME).any():
        return replace(pair, reason="Every user has equally many hits under both algorithms.")
    return replace(pair, p_unadjusted=flip_sums(a - b, rng=rng)[0])
