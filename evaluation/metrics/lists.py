"""Metrics of lists of n, by user: precision, recall, F, hit rate, AP, RR, DCG, nDCG, utility, false positives.

Every function takes `Ranks` and list lengths and gives an array of shape (n_users, n_lengths) with NaN where
a user has no value. `evaluation.metrics.listed` finds them by a metric's name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.errors import ParameterError
from evaluation.metrics.ranks import Floats, Ints, Ranks, check_ns

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

    Parameters
    ----------
    ranks : Ranks
        Where each user's relevant items stand.
    ns : sequence of int
        List lengths, each >= 1.

    Returns
    -------
    float array, shape (n_users, n_lengths)
        In [0, 1]; NaN for users without a relevant item.

    Raises
    ------
    ParameterError
        No list length, or one below 1.

    References
    ----------
    Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.2.

    Examples
    --------
    >>> precision(Ranks.of([0, 0], [1, 4], n_listed=[5]), [1, 5]).tolist()
    [[1.0, 0.4]]
    """
    return _where_relevant(ranks, _hits(ranks, ns) / np.asarray(ns))


def recall(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """Share of the relevant items that are among the first n.

    Parameters
    ----------
    ranks : Ranks
        Where each user's relevant items stand.
    ns : sequence of int
        List lengths, each >= 1.

    Returns
    -------
    float array, shape (n_users, n_lengths)
        In [0, 1]; NaN for users without a relevant item.

    Raises
    ------
    ParameterError
        No list length, or one below 1.

    References
    ----------
    Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.2.

    Examples
    --------
    >>> recall(Ranks.of([0, 0], [1, 4], n_listed=[5]), [1, 5]).tolist()
    [[0.5, 1.0]]
    """
    return _where_relevant(ranks, _hits(ranks, ns) / np.maximum(ranks.n_relevant, 1)[:, None])


def hit_rate(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """1 where a relevant item is among the first n, else 0.

    Parameters
    ----------
    ranks : Ranks
        Where each user's relevant items stand.
    ns : sequence of int
        List lengths, each >= 1.

    Returns
    -------
    float array, shape (n_users, n_lengths)
        0 or 1; NaN for users without a relevant item.

    Raises
    ------
    ParameterError
        No list length, or one below 1.

    Examples
    --------
    >>> hit_rate(Ranks.of([0, 1], [3, 0], n_listed=[5, 5]), [2, 3]).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return _where_relevant(ranks, _hits(ranks, ns) > 0)


def f_beta(ranks: Ranks, ns: Sequence[int], *, beta: float = 1.0) -> Floats:
    r"""Weighted harmonic mean of each user's precision and recall, 0 where both are 0.

    .. math:: F_\beta = \frac{(1 + \beta^2) P r}{\beta^2 P + r}

    Parameters
    ----------
    ranks : Ranks
        Where each user's relevant items stand.
    ns : sequence of int
        List lengths, each >= 1.
    beta : float
        Weight of recall against precision, > 0, finite.

    Returns
    -------
    float array, shape (n_users, n_lengths)
        In [0, 1]; NaN for users without a relevant item.

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

    Parameters
    ----------
    precisions, recalls : float array, same shape
        In [0, 1], or NaN.
    beta : float
        Weight of recall against precision, > 0, finite.

    Returns
    -------
    float array, same shape
        In [0, 1]; 0 where both are 0.

    Raises
    ------
    ParameterError
        `beta` is not a positive number.

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

    Returns
    -------
    float array, shape (n_users, n_lengths)
        In [0, 1]; NaN for users without a relevant item.

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

    Parameters
    ----------
    ranks : Ranks
        Where each user's relevant items stand.
    ns : sequence of int
        List lengths, each >= 1.

    Returns
    -------
    float array, shape (n_users, n_lengths)
        In [0, 1]; NaN for users without a relevant item.

    Raises
    ------
    ParameterError
        No list length, or one below 1.

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

    Parameters
    ----------
    ranks : Ranks
        Where each user's relevant items stand, with their gains.
    ns : sequence of int
        List lengths, each >= 1.
    gain : {"linear", "exponential"}
        What a gain counts as.

    Returns
    -------
    float array, shape (n_users, n_lengths)
        >= 0, in the unit of the gains where they count linearly; NaN for users without a relevant item.

    Raises
    ------
    ParameterError
        No list length, or one below 1; another `gain`.

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

    Parameters
    ----------
    ranks : Ranks
        Where each user's relevant items stand, with their gains.
    ns : sequence of int
        List lengths, each >= 1.
    gain : {"linear", "exponential"}
        What a gain counts as.

    Returns
    -------
    float array, shape (n_users, n_lengths)
        In [0, 1]; NaN for users without a relevant item.

    Raises
    ------
    ParameterError
        No list length, or one below 1; another `gain`.

    References
    ----------
    Järvelin & Kekäläinen (2002), TOIS 20(4):422-446. Deviation: the discount of `dcg`.

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

    Parameters
    ----------
    ranks : Ranks
        Where each user's relevant items stand, with their gains.
    ns : sequence of int
        List lengths, each >= 1.

    Returns
    -------
    float array, shape (n_users, n_lengths)
        >= 0; NaN for users without an item of positive utility.

    Raises
    ------
    ParameterError
        No list length, or one below 1.

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

    Parameters
    ----------
    ranks : Ranks
        With `n_candidates`.
    ns : sequence of int
        List lengths, each >= 1.

    Returns
    -------
    float array, shape (n_users, n_lengths)
        In [0, 1]; NaN also for users without a relevant item.

    Raises
    ------
    ParameterError
        The ranks do not say how many candidates there were.

    References
    ----------
    Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.2.

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

    Parameters
    ----------
    ranks : Ranks
        Where each user's relevant items stand.
    ns : sequence of int
        List lengths, each >= 1.

    Returns
    -------
    float array, shape (n_users, n_lengths)
        In [0, 1]; NaN also for users without a relevant item.

    Raises
    ------
    ParameterError
        No list length, or one below 1.

    Examples
    --------
    >>> false_discovery_rate(Ranks.of([0], [1], n_listed=[4]), [2, 5]).tolist()
    [[0.5, 0.75]]
    """
    hits = _hits(ranks, ns)
    shown = np.minimum(ranks.n_listed[:, None], np.asarray(ns))
    return _where_relevant(ranks, np.where(shown > 0, (shown - hits) / np.maximum(shown, 1), np.nan))
