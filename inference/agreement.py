"""Agreement of two measures over the same few algorithms: rank correlation with exact p, and pairwise verdicts.

No p value is approximated by a normal or t distribution. Up to eight algorithms all orders are enumerated: with seven,
a perfect order has p = 2 / 5040. More algorithms are counted exactly where no values are tied, and otherwise compared
under 100,000 seeded random orders.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np

from core.errors import DataError, ParameterError
from inference.corrections import check_alpha
from inference.exact import Number, exact
from inference.partial_order import PartialOrder
from inference.permutations import (
    MOST_PERMUTED,
    SAMPLED,
    Null,
    codes,
    concordance_without_ties,
    directions,
    doubled_ranks,
    permuted_concordance,
    permuted_products,
)
from inference.results import AgreementResult, PairDirections, Result, Undefined

KENDALL = "Kendall's tau-b"
SPEARMAN = "Spearman's rho"
DIRECTIONS = "Agreement of pair directions"
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
    drawn at random with a fixed seed, with its standard error in ``p_error``. `alpha`, in (0, 1), is the level for
    ``smallest_detectable``. Undefined with fewer than two algorithms, or when a measure is constant. Raises
    ParameterError or DataError for another `alpha`, lists of different length, or values that are not finite. Source:
    Kendall (1945), Biometrika 33(3):239-251.

    Examples
    --------
    >>> result = kendall([1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 7, 6])
    >>> round(result.coefficient, 3), round(result.p, 4), round(result.smallest_detectable, 3)
    (0.905, 0.0028, 0.714)
    """
    check_alpha(alpha)
    read = _read(x, y, KENDALL)
    if isinstance(read, Undefined):
        return read
    of_x, of_y = directions(read.x), directions(read.y)
    s = int((of_x * of_y).sum())
    scale = math.sqrt(int(np.count_nonzero(of_x)) * int(np.count_nonzero(of_y)))
    if read.is_counted:
        null = concordance_without_ties(read.n)
    else:
        concordant, discordant = permuted_concordance(read.x, read.y)
        null = Null.of(concordant - discordant)
    return _tested(s, scale, null, read.method, n=read.n, alpha=alpha)


def smallest_exact_p(n: int) -> float:
    """The smallest two-sided p that a rank correlation of `n` algorithms can have.

    Without ties two of the n! orders are as far from 0 as a perfect one; ties only make it larger. Raises
    ParameterError when `n` is below 2.

    Examples
    --------
    >>> [round(smallest_exact_p(n), 4) for n in (3, 4, 5, 7)]
    [0.3333, 0.0833, 0.0167, 0.0004]
    """
    if n < 2:
        raise ParameterError(f"A rank correlation takes at least two algorithms; got {n}.")
    return 2 / math.factorial(n)


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
    check_alpha(alpha)
    read = _read(x, y, SPEARMAN)
    if isinstance(read, Undefined):
        return read
    n = read.n
    ranks_x, ranks_y = doubled_ranks(read.x), doubled_ranks(read.y)
    # Both lists of doubled ranks sum to n (n + 1); times n, the covariance is an integer.
    middle = (n * (n + 1)) ** 2
    covariance = n * int(ranks_x @ ranks_y) - middle
    scale = math.sqrt((n * int(ranks_x @ ranks_x) - middle) * (n * int(ranks_y @ ranks_y) - middle))
    null = Null.of(n * permuted_products(ranks_x, ranks_y) - middle)
    return _tested(covariance, scale, null, PERMUTED if n <= MOST_PERMUTED else SAMPLED, n=n, alpha=alpha)


def pair_directions(x: Iterable[Number], y: Iterable[Number]) -> PairDirections | Undefined:
    """Count the concordant pairs of algorithms of two measures.

    The pairs are not independent, so p is not a binomial one: it is the share of all orders of the algorithms that
    agree in at least as many pairs. In both measures the larger value is better. Methods and errors are those of
    `kendall`, one-sided. Raises DataError for lists of different length or with values that are not finite.

    Examples
    --------
    >>> result = pair_directions([1, 2, 3], [1, 3, 2])
    >>> result.same, result.opposite, result.n_pairs, result.p
    (2, 1, 3, 0.5)
    """
    read = _read(x, y, DIRECTIONS)
    if isinstance(read, Undefined):
        return read
    products = directions(read.x) * directions(read.y)
    same, opposite = int((products > 0).sum()), int((products < 0).sum())
    if read.is_counted:
        p = concordance_without_ties(read.n).share_at_least(same - opposite)
    else:
        p = Null.of(permuted_concordance(read.x, read.y)[0]).share_at_least(same)
    return PairDirections(same, opposite, products.size - same - opposite, products.size, p, read.method)


@dataclass(frozen=True)
class _Coded:
    """Two measures as small integers: only order and ties matter."""

    x: list[int]
    y: list[int]

    @property
    def n(self) -> int:
        return len(self.x)

    @property
    def is_counted(self) -> bool:
        """Without ties the distribution of tau is known without going through the orders."""
        has_ties = min(len(set(self.x)), len(set(self.y))) < self.n
        return MOST_PERMUTED < self.n <= MOST_COUNTED and not has_ties

    @property
    def method(self) -> str:
        if self.is_counted:
            return COUNTED
        return PERMUTED if self.n <= MOST_PERMUTED else SAMPLED


def _read(x: Iterable[Number], y: Iterable[Number], procedure: str) -> _Coded | Undefined:
    first = [exact(value, "the first measure") for value in x]
    second = [exact(value, "the second measure") for value in y]
    if len(first) != len(second):
        raise DataError(f"There are {len(first)} algorithms on one side and {len(second)} on the other.")
    if len(first) < 2:
        return Undefined(f"A comparison of orders needs two algorithms; there are {len(first)}.", procedure)
    for values, which in ((first, "first"), (second, "second")):
        if len(set(values)) == 1:
            return Undefined(f"All algorithms have the same value on the {which} measure.", procedure)
    return _Coded(codes(first), codes(second))


def _tested(statistic: int, scale: float, null: Null, method: str, *, n: int, alpha: float) -> AgreementResult:
    distances = null.distances()
    smallest = distances.smallest_with_tail_below(alpha)
    return AgreementResult(
        coefficient=_bounded(statistic / scale),
        p=distances.share_at_least(abs(statistic)),
        p_method=method,
        n=n,
        smallest_detectable=None if smallest is None else _bounded(smallest / scale),
    )


def _bounded(coefficient: float) -> float:
    """Keep a rounding error from stepping over 1."""
    return max(-1.0, min(1.0, coefficient))


class Verdict(StrEnum):
    """Agreement of two partial orders on one pair."""

    AGREED = "agreed"
    PERCEIVED_ONLY = "perceived only"
    OBJECTIVE_ONLY = "objective only"
    CONTRADICTED = "contradicted"
    NEITHER = "neither"


@dataclass(frozen=True)
class PairVerdict(Result):
    """One pair of algorithms under two partial orders."""

    # `a`, `b`: the pair; `a` is the better one by the participants if they differ significantly, else the better one
    # by the metric
    a: str
    b: str
    # significant in the same direction on both sides, on one side, in opposite directions, or on neither
    verdict: Verdict
    # `perceived_p`, `objective_p`: the adjusted p of either side, None where the pair was not tested
    perceived_p: float | None
    objective_p: float | None


@dataclass(frozen=True)
class OrdersCompared(Result):
    """Two partial orders, pair by pair."""

    pairs: tuple[PairVerdict, ...]  # every pair of the algorithms that both orders hold, in the first one's order
    counts: dict[str, int]  # number of pairs by verdict, all five verdicts present
    left_out: tuple[str, ...]  # algorithms that only one of the orders holds

    def of(self, verdict: Verdict) -> tuple[PairVerdict, ...]:
        """Select the pairs with one verdict."""
        return tuple(pair for pair in self.pairs if pair.verdict is verdict)


def orders_compared(perceived: PartialOrder, objective: PartialOrder) -> OrdersCompared:
    """Compare the significant differences of participants and of a metric, pair by pair.

    In both orders, by direct comparisons, the better one dominates.

    Examples
    --------
    >>> from inference.partial_order import partial_order
    >>> from inference.results import Pair
    >>> people = partial_order({"TopPop": 3.6, "LSA": 3.0}, [Pair("TopPop", "LSA", 0.6, 0.01, True)])
    >>> recall = partial_order({"TopPop": 0.2, "LSA": 0.3}, [Pair("TopPop", "LSA", -0.1, 0.02, True)])
    >>> [str(pair.verdict) for pair in orders_compared(people, recall).pairs]
    ['contradicted']
    """
    shared = [name for name in perceived.names if name in objective.names]
    pairs = tuple(_verdict(a, b, perceived, objective) for a, b in combinations(shared, 2))
    counts = Counter(pair.verdict for pair in pairs)
    return OrdersCompared(
        pairs=pairs,
        counts={str(verdict): counts[verdict] for verdict in Verdict},
        left_out=tuple(name for name in dict.fromkeys(perceived.names + objective.names) if name not in shared),
    )


def _verdict(a: str, b: str, perceived: PartialOrder, objective: PartialOrder) -> PairVerdict:
    by_people, by_metric = _direction(a, b, perceived), _direction(a, b, objective)
    if by_people * by_metric:
        verdict = Verdict.AGREED if by_people == by_metric else Verdict.CONTRADICTED
    elif by_people or by_metric:
        verdict = Verdict.PERCEIVED_ONLY if by_people else Verdict.OBJECTIVE_ONLY
    else:
        verdict = Verdict.NEITHER
    first, second = (b, a) if (by_people or by_metric) < 0 else (a, b)
    return PairVerdict(first, second, verdict, perceived.p_of(a, b), objective.p_of(a, b))


def _direction(a: str, b: str, order: PartialOrder) -> int:
    return (b in order.dominates[a]) - (a in order.dominates[b])
