"""Set-based metrics of the top n, by user: precision, recall, F, hit rate, false positives.

Unless stated otherwise, every function takes `ranks` (the ranks of each user's relevant items) and `ns` (list lengths,
each >= 1), and returns an array of shape (n_users, n_lengths), NaN for users without a relevant item.
`evaluation.metrics.list_values` selects a function by a metric's name.

References
----------
Gunawardana & Shani (2009), JMLR 10:2935-2962, section 5.2: precision, recall and false-positive rate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from core.errors import ParameterError
from evaluation.metrics.ranks import Floats, Ints, Ranks


def _hits(ranks: Ranks, ns: Sequence[int]) -> Ints:
    users, positions = ranks.hits[0], ranks.hits[1]
    columns = [np.bincount(users[positions <= n], minlength=ranks.n_users) for n in ns]
    return np.column_stack(columns)


def where_relevant(ranks: Ranks, values: ArrayLike) -> Floats:
    """The values, NaN for users without a relevant item. Returns a float array, shape (n_users, n_lengths)."""
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
    return where_relevant(ranks, _hits(ranks, ns) / np.asarray(ns))


def recall(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """Share of the relevant items that are among the first n."""
    return where_relevant(ranks, _hits(ranks, ns) / np.maximum(ranks.n_relevant, 1)[:, None])


def capped_recall(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """Relevant items among the first n, as a share of those that fit there: of all, or of n where there are more.

    Examples
    --------
    >>> capped_recall(Ranks.of([0, 0, 0], [1, 4, 0], n_listed=[5]), [2, 5]).round(3).tolist()
    [[0.5, 0.667]]
    """
    most = np.minimum(np.maximum(ranks.n_relevant, 1)[:, None], np.asarray(ns))
    return where_relevant(ranks, _hits(ranks, ns) / most)


def hit_rate(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """1 where a relevant item is among the first n, else 0.

    Examples
    --------
    >>> hit_rate(Ranks.of([0, 1], [3, 0], n_listed=[5, 5]), [2, 3]).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return where_relevant(ranks, _hits(ranks, ns) > 0)


def f_beta(ranks: Ranks, ns: Sequence[int], *, beta: float = 1.0) -> Floats:
    r"""Weighted harmonic mean of each user's precision and recall, 0 where both are 0.

    .. math:: F_\beta = \frac{(1 + \beta^2) P r}{\beta^2 P + r}

    Source: van Rijsbergen (1979), Information Retrieval, chapter 7.

    Examples
    --------
    >>> f_beta(Ranks.of([0, 0], [1, 2], n_listed=[8]), [8]).tolist()
    [[0.4]]
    """
    return f_of(precision(ranks, ns), recall(ranks, ns), beta)


def f_of(precisions: Floats, recalls: Floats, beta: float) -> Floats:
    """F of precisions and recalls, element by element; NaN where one of them is.

    `precisions`, `recalls`: float array, same shape; in [0, 1], or NaN. Returns a float array, same shape: in [0, 1]; 0
    where both are 0.

    Examples
    --------
    >>> f_of(np.array([0.5, 0.0]), np.array([0.5, 0.0]), 2.0).tolist()
    [0.5, 0.0]
    """
    below = beta**2 * precisions + recalls
    return (1 + beta**2) * precisions * recalls / np.where(below == 0, 1.0, below)


def false_positive_rate(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """Share of the irrelevant candidates that are among the first n; NaN without such a candidate. Raises
    ParameterError: the ranks do not say how many candidates there were.

    Examples
    --------
    >>> false_positive_rate(Ranks.of([0], [1], n_listed=[5], n_candidates=[11]), [5]).tolist()
    [[0.4]]
    """
    if ranks.n_candidates is None:
        raise ParameterError("The false-positive rate needs the number of candidates of each user.")
    n_wrong = (ranks.n_candidates - ranks.n_relevant)[:, None]
    shown = np.minimum(ranks.n_listed[:, None], np.asarray(ns)) - _hits(ranks, ns)
    return where_relevant(ranks, np.where(n_wrong > 0, shown / np.maximum(n_wrong, 1), np.nan))


def false_discovery_rate(ranks: Ranks, ns: Sequence[int]) -> Floats:
    """Share of the first n (or of a shorter list) that is not relevant; NaN for an empty list.

    Examples
    --------
    >>> false_discovery_rate(Ranks.of([0], [1], n_listed=[4]), [2, 5]).tolist()
    [[0.5, 0.75]]
    """
    hits = _hits(ranks, ns)
    shown = np.minimum(ranks.n_listed[:, None], np.asarray(ns))
    return where_relevant(ranks, np.where(shown > 0, (shown - hits) / np.maximum(shown, 1), np.nan))
