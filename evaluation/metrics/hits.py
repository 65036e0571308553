"""Hits: the probability that a test item is in the top n, from the counts of candidates above it and tied with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Ties = Literal["expected", "worst", "best"]
Ints = NDArray[np.integer[Any]]


def _hits(above: Ints, tied: Ints, n: int, ties: Ties) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the hit of each case as a fraction: numerators and denominators."""
    above = above.astype(np.int64)
    together = tied.astype(np.int64) + 1  # the test item shares its score with the tied candidates
    if ties == "expected":
        return np.clip(n - above, 0, together), together
    last = above + together - 1 if ties == "worst" else above
    return (last < n).astype(np.int64), np.ones_like(above)


@dataclass(frozen=True, slots=True)
class GroupMeans:
    """Mean hit probability of groups of cases."""

    groups: Ints  # shape (n_groups,); groups that have a case, ascending
    n_cases: NDArray[np.int64]  # shape (n_groups,)
    values: NDArray[np.float64]  # shape (n_groups, n_lengths); in [0, 1], never NaN


def mean_hits(groups: Ints, above: Ints, tied: Ints, ns: Sequence[int], *, ties: Ties = "expected") -> GroupMeans:
    r"""Mean hit probability of each group (a user, or all users), at every n.

    .. math:: h = \min\Big(1, \max\Big(0, \frac{n - a}{t + 1}\Big)\Big)

    is the probability that a test item is in the top n, with *a* candidates above it and *t* tied with it in random
    order. "worst" ranks the test item below the tied candidates, "best" above them.

    Hits are added as whole numbers per denominator and rounded once. So a mean does not depend on the order of cases,
    algorithms with the same hits are tied to the last bit, and a constant scorer gets exactly n/1001.

    `groups`: int array, shape (n_cases,); the group of each case, >= 0. `above`, `tied`: int array, shape (n_cases,);
    candidates above the test item, and tied with it.

    Examples
    --------
    >>> means = mean_hits(np.array([7, 3, 7]), np.array([0, 9, 5]), np.array([0, 0, 0]), [5])
    >>> means.groups.tolist(), means.values.tolist()
    ([3, 7], [[0.0], [0.5]])
    """
    if len(groups) == 0:
        empty = np.zeros(0, dtype=np.int64)
        return GroupMeans(groups=empty, n_cases=empty, values=np.zeros((0, len(ns))))
    # Sorted by denominator within groups, so that fractions of one denominator are added as whole numbers.
    order = np.lexsort((tied, groups))
    groups, above, tied = groups[order], above[order], tied[order]
    is_new_group = np.concatenate([[True], groups[1:] != groups[:-1]])
    starts = np.flatnonzero(is_new_group)
    n_cases = np.diff(np.append(starts, len(groups)))
    # Runs of one denominator within a group.
    shares = np.flatnonzero(is_new_group | np.concatenate([[True], tied[1:] != tied[:-1]]))
    share_group = np.searchsorted(starts, shares, side="right") - 1
    group_shares = np.searchsorted(shares, starts)
    values = np.empty((len(starts), len(ns)), dtype=np.float64)
    for column, n in enumerate(ns):
        hits, of = _hits(above, tied, n, ties)
        # Whole hits apart from fractions, so that 10/10 adds to 1/1 exactly.
        whole = hits // of
        fractions = np.add.reduceat(hits - whole * of, shares) / (of[shares] * n_cases[share_group])
        means = np.add.reduceat(whole, starts) / n_cases + np.add.reduceat(fractions, group_shares)
        values[:, column] = np.minimum(means, 1.0)
    return GroupMeans(groups=groups[starts], n_cases=n_cases, values=values)
