"""Metrics of lists of n, by user: precision, recall, F, hit rate, AP, RR, DCG, nDCG, utility, false positives.

Every function takes `Ranks` and list lengths and gives an array of shape (n_users, n_lengths) with NaN where
a user has no value; `user_values` and `overall` do so by a metric's name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.errors import ParameterError
from evaluation.metrics.half_life import half_life
from evaluation.metrics.ranks import Floats, Ints, Ranks, check_ns
from evaluation.metrics.registry import Metric

Over = Literal["relevant", "capped", "retrieved"]
Gain = Literal["linear", "exponential"]


def _hits(ranks: Ranks, ns: Sequence[int]) -> Ints:
    """Relevant items among the first n of each user, at every n."""
    check_ns(ns)
    users, places = ranks.found[0], ranks.found[1]
    columns = [np.bincount(users[places <= n], minlength=ranks.n_users) for n in ns]
    return np.column_stack(columns)


def _where_relevant(ranks: Ranks, values: ArrayLike) -> Floats:
    """The values, NaN for users without a relevant item."""
    table = np.array(values, dtype=np.float64)
    table[ranks.n_relevant == 0] = np.nan
    return table


def precision(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """Share of the first n places that hold a relevant item; a short list is divided by n all the same.

    Examples
    --------
    >>> precision(Ranks.of([0, 0], [1, 4], n_listed=[5]), [1, 5]).tolist()
    [[1.0, 0.4]]
    """
    return _where_relevant(ranks, _hits(ranks, ns) / np.asarray(ns))


def recall(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """Share of the relevant items that are among the first n.

    Examples
    --------
    >>> recall(Ranks.of([0, 0], [1, 4], n_listed=[5]), [1, 5]).tolist()
    [[0.5, 1.0]]
    """
    return _where_relevant(ranks, _hits(ranks, ns) / np.maximum(ranks.n_relevant, 1)[:, None])


def hit_rate(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """1 where a relevant item is among the first n, else 0.

    Examples
    --------
    >>> hit_rate(Ranks.of([0, 1], [3, 0], n_listed=[5, 5]), [2, 3]).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return _where_relevant(ranks, _hits(ranks, ns) > 0)


def f_beta(ranks: Ranks, ns: Sequence[int], *, beta: float = 1.0) -> Floats:
    r"""Weighted harmonic mean of each user's precision and recall, 0 where both are 0.

    .. math:: F_\beta = \frac{(1 + \beta^2) P r}{\beta^2 P + r}

    Raises
    ------
    ParameterError
        `beta` is not a positive number.

    References
    ----------
    van Rijsbergen (1979), Information Retrieval, chapter 7.

    Examples
    --------
    >>> f_beta(Ranks.of([0, 0], [1, 2], n_listed=[8]), [8]).tolist()
    [[0.4]]
    """
    return f_of(precision(ranks, ns), recall(ranks, ns), beta)


def f_of(precisions: Floats, recalls: Floats, beta: float) -> Floats:
    """F of precisions and recalls, element by element; NaN where one of them is.

    Examples
    --------
    >>> f_of(np.array([0.5, 0.0]), np.array([0.5, 0.0]), 2.0).tolist()
    [0.5, 0.0]
    """
    if not 0 < beta < math.inf:
        raise ParameterError(f"beta is {beta!r}: it has to be a number above 0.")
    below = beta**2 * precisions + recalls
    return (1 + beta**2) * precisions * recalls / np.where(below == 0, 1.0, below)


def average_precision(ranks: Ranks, ns: Sequence[int], *, over: Over = "relevant") -> Floats:
    r"""Precision at each hit among the first n, added up and divided by `over`; 0 without a hit.

    .. math:: \mathrm{AP} = \frac1m \sum_{j \le n} \mathrm{rel}_j P_j

    Parameters
    ----------
    ranks : Ranks
    ns : sequence of int
    over : {"relevant", "capped", "retrieved"}
        m: all relevant items of the user (as trec_eval), at most n of them, or the hits themselves.

    Raises
    ------
    ParameterError
        Another `over`.

    Examples
    --------
    >>> in_list_b = Ranks.of([0, 0], [4, 5], n_listed=[5])
    >>> average_precision(in_list_b, [5], over="retrieved").round(3).tolist()
    [[0.325]]
    """
    check_ns(ns)
    users, places, _, nth = ranks.found
    at_hit = nth / places
    table = np.empty((ranks.n_users, len(ns)))
    for column, n in enumerate(ns):
        is_in = places <= n
        total = np.bincount(users[is_in], weights=at_hit[is_in], minlength=ranks.n_users)
        match over:
            case "relevant":
                divisor = ranks.n_relevant
            case "capped":
                divisor = np.minimum(ranks.n_relevant, n)
            case "retrieved":
                divisor = np.bincount(users[is_in], minlength=ranks.n_users)
            case _:
                raise ParameterError(f"AP is over 'relevant', 'capped' or 'retrieved' items, not {over!r}.")
        table[:, column] = total / np.maximum(divisor, 1)
    return _where_relevant(ranks, table)


def reciprocal_rank(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """1 / rank of the first relevant item among the first n, 0 without one.

    Examples
    --------
    >>> reciprocal_rank(Ranks.of([0, 0], [4, 2], n_listed=[5]), [1, 5]).tolist()
    [[0.0, 0.5]]
    """
    check_ns(ns)
    users, places, _, nth = ranks.found
    first = np.full(ranks.n_users, np.inf)
    first[users[nth == 1]] = places[nth == 1]
    return _where_relevant(ranks, np.where(first[:, None] <= np.asarray(ns), 1.0 / first[:, None], 0.0))


def dcg(ranks: Ranks, ns: Sequence[int], *, gain: Gain = "linear") -> Floats:
    r"""Discounted cumulative gain of the first n.

    .. math:: \sum_{j \le n} \frac{g_j}{\log_2(j + 1)}

    with g the gain itself (linear), or 2^gain - 1 (exponential).

    References
    ----------
    Järvelin & Kekäläinen (2002), TOIS 20(4):422-446. Deviation: ranks 1 and 2 are discounted differently, as
    trec_eval does.

    Examples
    --------
    >>> dcg(Ranks.of([0, 0], [1, 3], [3.0, 2.0], n_listed=[5]), [1, 3]).tolist()
    [[3.0, 4.0]]
    """
    check_ns(ns)
    users, places, gains, _ = ranks.found
    return _where_relevant(ranks, _discounted(users, places, _gained(gains, gain), ranks.n_users, ns))


def ndcg(ranks: Ranks, ns: Sequence[int], *, gain: Gain = "linear") -> Floats:
    """`dcg` as a share of that of the user's relevant items in their best order.

    Examples
    --------
    >>> ndcg(Ranks.of([0], [2], n_listed=[3]), [3]).round(4).tolist()
    [[0.6309]]
    """
    check_ns(ns)
    gains, best = ranks.best
    ideal = _discounted(ranks.users, best, _gained(gains, gain), ranks.n_users, ns)
    return dcg(ranks, ns, gain=gain) / np.where(ideal == 0, 1.0, ideal)


def _gained(gains: Floats, gain: str) -> Floats:
    if gain == "linear":
        return gains
    if gain == "exponential":
        return np.exp2(gains) - 1.0
    raise ParameterError(f"The gain is 'linear' or 'exponential', not {gain!r}.")


def _discounted(users: Ints, places: Ints, gains: Floats, n_users: int, ns: Sequence[int]) -> Floats:
    terms = gains / np.log2(np.arange(2, int(places.max(initial=0)) + 2))[places - 1]
    columns = [np.bincount(users[places <= n], weights=terms[places <= n], minlength=n_users) for n in ns]
    return np.column_stack(columns)


def utility(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """Sum of the gains among the first n, in their unit.

    Examples
    --------
    >>> utility(Ranks.of([0, 0], [1, 3], [9.5, 2.0], n_listed=[5]), [2, 3]).tolist()
    [[9.5, 11.5]]
    """
    check_ns(ns)
    users, places, gains, _ = ranks.found
    columns = [
        np.bincount(users[places <= n], weights=gains[places <= n], minlength=ranks.n_users).astype(np.float64)
        for n in ns
    ]
    return _where_relevant(ranks, np.column_stack(columns))


def false_positive_rate(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """Share of the irrelevant candidates that are among the first n; NaN without such a candidate.

    Raises
    ------
    ParameterError
        The ranks do not say how many candidates there were.

    Examples
    --------
    >>> false_positive_rate(Ranks.of([0], [1], n_listed=[5], n_candidates=[11]), [5]).tolist()
    [[0.4]]
    """
    if ranks.n_candidates is None:
        raise ParameterError("The false-positive rate needs the number of candidates of each user.")
    n_wrong = (ranks.n_candidates - ranks.n_relevant)[:, None]
    shown = np.minimum(ranks.n_listed[:, None], np.asarray(ns)) - _hits(ranks, ns)
    return _where_relevant(ranks, np.where(n_wrong > 0, shown / np.maximum(n_wrong, 1), np.nan))


def false_discovery_rate(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """Share of the first n (or of a shorter list) that is not relevant; NaN for an empty list.

    Examples
    --------
    >>> false_discovery_rate(Ranks.of([0], [1], n_listed=[4]), [2, 5]).tolist()
    [[0.5, 0.75]]
    """
    hits = _hits(ranks, ns)
    shown = np.minimum(ranks.n_listed[:, None], np.asarray(ns))
    return _where_relevant(ranks, np.where(shown > 0, (shown - hits) / np.maximum(shown, 1), np.nan))


_BY_KEY = {
    "precision": precision,
    "recall": recall,
    "hit-rate": hit_rate,
    "rr": reciprocal_rank,
    "utility": utility,
    "fpr": false_positive_rate,
    "fdr": false_discovery_rate,
}
LISTED = (*_BY_KEY, "f-beta", "ap", "dcg", "ndcg", "half-life")


def user_values(metric: Metric, ranks: Ranks) -> Floats:
    """A metric's value of every user, shape (n_users,); NaN where a user has none.

    Raises
    ------
    ParameterError
        The metric is none of `LISTED`; recall with another rule for ties than "expected", as a list has
        no ties left.

    Examples
    --------
    >>> from evaluation.metrics.registry import metric
    >>> user_values(metric("ap@5"), Ranks.of([0, 0], [4, 5], n_listed=[5])).round(3).tolist()
    [0.325]
    """
    if metric.key not in LISTED:
        raise ParameterError(f"{metric} is no metric of one list a user; those are {', '.join(LISTED)}.")
    if metric.ties != "expected":
        raise ParameterError(f"{metric} says how ties count, but there are none in a finished list.")
    ns = [metric.n or 1]
    match metric.key:
        case "f-beta":
            return f_beta(ranks, ns, beta=float(metric.option("beta")))[:, 0]
        case "ap":
            return average_precision(ranks, ns, over=str(metric.option("over")))[:, 0]  # type: ignore[arg-type]
        case "dcg":
            return dcg(ranks, ns, gain=str(metric.option("gain")))[:, 0]  # type: ignore[arg-type]
        case "ndcg":
            return ndcg(ranks, ns, gain=str(metric.option("gain")))[:, 0]  # type: ignore[arg-type]
        case "half-life":
            alpha, default = float(metric.option("alpha")), float(metric.option("default"))
            return half_life(ranks, alpha=alpha, default=default).user_values
        case _:
            return _BY_KEY[metric.key](ranks, ns)[:, 0]


@dataclass(frozen=True, slots=True)
class Overall:
    """One value for everyone.

    Parameters
    ----------
    value : float or None
        None where no user has a value.
    n_users : int
        Users who have one.
    n_empty : int
        Users who have none, left out.
    """

    value: float | None
    n_users: int
    n_empty: int


def mean_of_users(values: Floats) -> Overall:
    """The mean over users who have a value.

    Examples
    --------
    >>> mean_of_users(np.array([0.5, np.nan, 1.0]))
    Overall(value=0.75, n_users=2, n_empty=1)
    """
    known = values[~np.isnan(values)]
    mean = math.fsum(known.tolist()) / len(known) if len(known) else None
    return Overall(value=mean, n_users=len(known), n_empty=len(values) - len(known))


def overall(metric: Metric, ranks: Ranks) -> Overall:
    """The metric of all users together: the mean of theirs, but for half-life utility (one ratio of sums) and F of
    the means.

    Raises
    ------
    ParameterError
        As for `user_values`.

    Examples
    --------
    >>> from evaluation.metrics.registry import metric
    >>> overall(metric("recall@5"), Ranks.of([0, 1], [4, 0], n_listed=[5, 5, 5]))
    Overall(value=0.5, n_users=2, n_empty=1)
    """
    values = user_values(metric, ranks)
    found = mean_of_users(values)
    if found.value is None:
        return found
    value: float | None = found.value
    if metric.key == "half-life":
        value = half_life(ranks, alpha=float(metric.option("alpha")), default=float(metric.option("default"))).value
    elif metric.key == "f-beta" and metric.option("of") == "means":
        ns = [metric.n or 1]
        means = [mean_of_users(kind(ranks, ns)[:, 0]).value for kind in (precision, recall)]
        value = float(f_of(np.array(means[0]), np.array(means[1]), float(metric.option("beta"))))
    return Overall(value=value, n_users=found.n_users, n_empty=found.n_empty)
