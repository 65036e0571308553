"""Whether two rankings name the same first few: their overlap beside what chance would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from core.errors import DataError, ParameterError
from inference.results import Result


@dataclass(frozen=True)
class TopOverlap(Result):
    """The overlap of the first `k` of two rankings.

    Attributes
    ----------
    k, n : int
        How many of how many.
    overlap : int
        Names that both have among their first `k`.
    share : float
        The same over `k`, in [0, 1].
    jaccard : float
        The same over the names that either has there.
    expected_by_chance : float
        Overlap to expect of two orders that have nothing to do with each other: k² / n.
    p : float
        Probability of at least this overlap by chance, hypergeometric.
    average_overlap : float
        Mean of the shares at every depth from 1 to `k`: the top weighs most.
    """

    k: int
    n: int
    overlap: int
    share: float
    jaccard: float
    expected_by_chance: float
    p: float
    average_overlap: float


def top_overlap(first: Sequence[str], second: Sequence[str], k: int) -> TopOverlap:
    """Compare the first `k` names of two rankings of the same names.

    Parameters
    ----------
    first, second : sequence of str, length n
        Best first; the same names in both, each once.
    k : int
        In 1..n.

    Returns
    -------
    TopOverlap

    Raises
    ------
    ParameterError, DataError
        `k` out of range; rankings of different names, or with a name twice.

    References
    ----------
    Average overlap: Wu & Crestani (2003); Webber, Moffat & Zobel (2010), ACM TOIS 28(4), section 2.2.

    Examples
    --------
    >>> found = top_overlap(["A", "B", "C", "D"], ["B", "A", "D", "C"], 2)
    >>> found.overlap, found.expected_by_chance, round(found.p, 4)
    (2, 1.0, 0.1667)
    """
    n = len(first)
    if set(first) != set(second) or len(set(first)) != n or len(second) != n:
        raise DataError("Two rankings can be compared when both hold the same names, each once.")
    if not 1 <= k <= n:
        raise ParameterError(f"The first {k} of {n} cannot be taken: choose 1 to {n}.")
    shared = [len(set(first[:depth]) & set(second[:depth])) for depth in range(1, k + 1)]
    overlap = shared[-1]
    ways = sum(comb(k, same) * comb(n - k, k - same) for same in range(overlap, k + 1))
    return TopOverlap(
        k=k,
        n=n,
        overlap=overlap,
        share=overlap / k,
        jaccard=overlap / (2 * k - overlap),
        expected_by_chance=k * k / n,
        p=float(Fraction(ways, comb(n, k))),
        average_overlap=float(sum(Fraction(same, depth) for depth, same in enumerate(shared, start=1)) / k),
    )
