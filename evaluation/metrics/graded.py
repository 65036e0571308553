"""Rank-sensitive metrics of the top n, by user: AP, RR, DCG, nDCG, utility.

Unless stated otherwise, every function takes `ranks` (the ranks of each user's relevant items, with gains) and `ns`
(list lengths, each >= 1), and returns an array of shape (n_users, n_lengths), NaN for users without a relevant item.
`evaluation.metrics.list_values` selects a function by a metric's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from evaluation.metrics.ranks import Floats, Ints, Ranks
from evaluation.metrics.top_n import where_relevant

Over = Literal["relevant", "capped", "retrieved", "length"]
Gain = Literal["linear", "exponential"]


def average_precision(ranks: Ranks, ns: Sequence[int], *, over: Over = "relevant") -> Floats:
    r"""Precision at each hit among the first n, added up and divided by `over`; 0 without a hit.

    .. math:: \mathrm{AP} = \frac1m \sum_{j \le n} \mathrm{rel}_j P_j

    `over` sets m: all relevant items of the user (as trec_eval), at most n of them, the hits themselves, or n.

    Examples
    --------
    >>> in_list_b = Ranks.of([0, 0], [4, 5], n_listed=[5])
    >>> average_precision(in_list_b, [5], over="retrieved").round(3).tolist()
    [[0.325]]
    """
    users, positions, _, nth = ranks.hits
    at_hit = nth / positions
    table = np.empty((ranks.n_users, len(ns)))
    for column, n in enumerate(ns):
        is_in = positions <= n
        total = np.bincount(users[is_in], weights=at_hit[is_in], minlength=ranks.n_users)
        match over:
            case "relevant":
                divisor = ranks.n_relevant
            case "capped":
                divisor = np.minimum(ranks.n_relevant, n)
            case "retrieved":
                divisor = np.bincount(users[is_in], minlength=ranks.n_users)
            case _:  # the length
                divisor = np.full(ranks.n_users, n)
        table[:, column] = total / np.maximum(divisor, 1)
    return where_relevant(ranks, table)


def reciprocal_rank(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """1 / rank of the first relevant item among the first n, 0 without one.

    Examples
    --------
    >>> reciprocal_rank(Ranks.of([0, 0], [4, 2], n_listed=[5]), [1, 5]).tolist()
    [[0.0, 0.5]]
    """
    users, positions, _, nth = ranks.hits
    first = np.full(ranks.n_users, np.inf)
    first[users[nth == 1]] = positions[nth == 1]
    return where_relevant(ranks, np.where(first[:, None] <= np.asarray(ns), 1.0 / first[:, None], 0.0))


def dcg(ranks: Ranks, ns: Sequence[int], *, gain: Gain = "linear") -> Floats:
    r"""Discounted cumulative gain of the first n.

    .. math:: \sum_{j \le n} \frac{g_j}{\log_2(j + 1)}

    with g the gain itself (linear), or 2^gain - 1 (exponential). Source: Järvelin & Kekäläinen (2002), TOIS
    20(4):422-446. Deviation: ranks 1 and 2 are discounted differently, as trec_eval does.

    Examples
    --------
    >>> dcg(Ranks.of([0, 0], [1, 3], [3.0, 2.0], n_listed=[5]), [1, 3]).tolist()
    [[3.0, 4.0]]
    """
    users, positions, gains, _ = ranks.hits
    return where_relevant(ranks, _discounted(users, positions, _gained(gains, gain), ranks.n_users, ns))


def ndcg(ranks: Ranks, ns: Sequence[int], *, gain: Gain = "linear") -> Floats:
    """`dcg` as a share of that of the user's relevant items in their best order.

    Source: Järvelin & Kekäläinen (2002), TOIS 20(4):422-446. Deviation: the discount of `dcg`.

    Examples
    --------
    >>> ndcg(Ranks.of([0], [2], n_listed=[3]), [3]).round(4).tolist()
    [[0.6309]]
    """
    gains, best = ranks.best
    ideal = _discounted(ranks.users, best, _gained(gains, gain), ranks.n_users, ns)
    # An ideal of 0 occurs for users without relevant items only, whose values are NaN already.
    return dcg(ranks, ns, gain=gain) / np.where(ideal == 0, 1.0, ideal)


def _gained(gains: Floats, gain: str) -> Floats:
    return np.exp2(gains) - 1.0 if gain == "exponential" else gains


def _discounted(users: Ints, positions: Ints, gains: Floats, n_users: int, ns: Sequence[int]) -> Floats:
    terms = gains / np.log2(np.arange(2, int(positions.max(initial=0)) + 2))[positions - 1]
    columns = [np.bincount(users[positions <= n], weights=terms[positions <= n], minlength=n_users) for n in ns]
    return np.column_stack(columns)


def utility(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """Sum of the gains among the first n, in their unit; NaN for users without an item of positive utility.

    Examples
    --------
    >>> utility(Ranks.of([0, 0], [1, 3], [9.5, 2.0], n_listed=[5]), [2, 3]).tolist()
    [[9.5, 11.5]]
    """
    users, positions, gains, _ = ranks.hits
    columns = [
        np.bincount(users[positions <= n], weights=gains[positions <= n], minlength=ranks.n_users).astype(np.float64)
        for n in ns
    ]
    return where_relevant(ranks, np.column_stack(columns))
