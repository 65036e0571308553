"""Agreement of two measures over the same few algorithms: rank correlation with exact p, and pairwise verdicts.

No p value is approximated by a normal or t distribution. Up to eight algorithms all orders are enumerated: with seven,
a perfect order has p = 2 / 5040. More algorithms are counted exactly where no values are tied, and otherwise compared
under 100,000 seeded random orders.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from inference.exact import Number, exact
from inference.permutations import (
    MOST_PERMUTED,
    SAMPLED,
    Null,
    concordance_without_ties,
    pair_places,
    permuted_concordance,
    permuted_products,
)
from inference.results import AgreementResult, Integers, Undefined

MOST_COUNTED = 50  # algorithms without ties

PERMUTED = "exact permutation"
COUNTED = "exact"


def kendall(x: Iterable[Number], y: Iterable[Number], alpha: float = 0.05) -> AgreementResult | Undefined:
    r"""Kendall's rank correlation tau-b.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(N - T_x)(N - T_y)}}

    with C concordant and D discordant of the N pairs, and T the pairs tied on a measure. The two measures are of the
    same algorithms in the same order, finite. Equal values are ties, so pass means that were rounded once, as
    `inference.descriptive` does. Up to 8 algorithms p is the share of all orders with an absolute tau at least as
    large. With more it is exact without ties (up to 50), else the share of 100,000 orders, the observed one and 99,999
    drawn at random with a fixed seed. `alpha` is the level for ``smallest_detectable``. Undefined with fewer than two
    algorithms, or when a measure is constant. Raises DataError for values that are not finite. Source: Kendall (1945),
    Biometrika 33(3):239-251.

    Examples
    --------
    >>> result = kendall([1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 7, 6])
    >>> round(result.coefficient, 3), round(result.p, 4), round(result.smallest_detectable, 3)
    (0.905, 0.0028, 0.714)
    """
    read = _read(x, y)
    if isinstance(read, Undefined):
        return read
    n, (first, second) = len(read[0]), pair_places(len(read[0]))
    of_x, of_y = (np.sign(coded[second] - coded[first]) for coded in read)
    scale = math.sqrt(int(np.count_nonzero(of_x)) * int(np.count_nonzero(of_y)))
    has_ties = min(np.count_nonzero(of_x), np.count_nonzero(of_y)) < len(first)
    if MOST_PERMUTED < n <= MOST_COUNTED and not has_ties:
        return _tested(int(of_x @ of_y), scale, concordance_without_ties(n), COUNTED, n=n, alpha=alpha)
    null = Null.of(permuted_concordance(*read))
    return _tested(int(of_x @ of_y), scale, null, _method(n), n=n, alpha=alpha)


def spearman(x: Iterable[Number], y: Iterable[Number], alpha: float = 0.05) -> AgreementResult | Undefined:
    """Spearman's rank correlation: Pearson's of the mean ranks.

    Parameters, result and errors as for `kendall`; with more than 8 algorithms p is always the share of 100,000 orders.
    Source: Spearman (1904), American Journal of Psychology 15(1):72-101.

    Examples
    --------
    >>> result = spearman([1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7])
    >>> result.coefficient, round(result.p * 5040)
    (1.0, 2)
    """
    from scipy import stats

    read = _read(x, y)
    if isinstance(read, Undefined):
        return read
    n = len(read[0])
    # Mean ranks times two are integers, and both lists of them sum to n (n + 1); times n, so is the covariance.
    ranks_x, ranks_y = (np.rint(2 * stats.rankdata(coded)).astype(np.int64) for coded in read)
    middle = (n * (n + 1)) ** 2
    covariance = n * int(ranks_x @ ranks_y) - middle
    scale = math.sqrt((n * int(ranks_x @ ranks_x) - middle) * (n * int(ranks_y @ ranks_y) - middle))
    null = Null.of(n * permuted_products(ranks_x, ranks_y) - middle)
    return _tested(covariance, scale, null, _method(n), n=n, alpha=alpha)


def _method(n: int) -> str:
    return PERMUTED if n <= MOST_PERMUTED else SAMPLED


def _read(x: Iterable[Number], y: Iterable[Number]) -> tuple[Integers, Integers] | Undefined:
    """Both measures as small integers: only order and ties count."""
    first = [exact(value, "the first measure") for value in x]
    second = [exact(value, "the second measure") for value in y]
    if len(first) < 2:
        return Undefined(f"A comparison of orders needs two algorithms; there are {len(first)}.")
    of_x, of_y = (np.unique(np.array(values), return_inverse=True)[1] for values in (first, second))
    for coded, which in ((of_x, "first"), (of_y, "second")):
        if not coded.any():
            return Undefined(f"All algorithms have the same value on the {which} measure.")
    return of_x, of_y


def _tested(statistic: int, scale: float, null: Null, method: str, *, n: int, alpha: float) -> AgreementResult:
    smallest = null.smallest_with_tail_below(alpha)
    return AgreementResult(
        coefficient=_bounded(statistic / scale),
        p=null.share_at_least(abs(statistic)),
        p_method=method,
        n=n,
        smallest_detectable=None if smallest is None else _bounded(smallest / scale),
    )


def _bounded(coefficient: float) -> float:
    """Keep a rounding error from stepping over 1."""
    return max(-1.0, min(1.0, coefficient))
