"""Rank correlation of scores and ratings by user: Spearman's rho, Kendall's tau-b."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.registry import Metric

Floats = NDArray[np.float64]
CELLS = 1 << 22  # pairs compared at a time


def _blocks(users: NDArray[np.int64], n_users: int, least: int, cells: int) -> Iterator[NDArray[np.int64]]:
    """Yield positions of items as arrays (users, items), users grouped by number of items, at least `least`."""
    order = np.argsort(users, kind="stable")
    counts = np.bincount(users, minlength=n_users)
    starts = np.cumsum(counts) - counts
    for size in np.unique(counts[counts >= least]).tolist():
        chosen = np.flatnonzero(counts == size)
        # Users of one length at a time make rectangular arrays, bounded by the number of pairs in memory.
        step = max(1, cells // (size * size))
        for first in range(0, len(chosen), step):
            yield order[starts[chosen[first : first + step]][:, None] + np.arange(size)]


def _by_user(
    users: ArrayLike,
    scores: ArrayLike,
    ratings: ArrayLike,
    *,
    n_users: int,
    least: int,
    measure: Callable[[Floats, Floats], Floats],
) -> Floats:
    of, score, rating = (np.asarray(users, np.int64), np.asarray(scores, float), np.asarray(ratings, float))
    score = np.where(np.isnan(score), -np.inf, score)  # no score ranks below every score
    values = np.full(n_users, np.nan)
    for positions in _blocks(of, n_users, least, CELLS):
        values[of[positions[:, 0]]] = measure(score[positions], rating[positions])
    return values


def _ratio(above: Floats, below: Floats) -> Floats:
    is_defined = below > 0
    # The square root may round a perfect correlation to just above 1.
    return np.where(is_defined, np.clip(above / np.where(is_defined, below, 1.0), -1.0, 1.0), np.nan)


def _directions(values: Floats) -> NDArray[np.int8]:
    """Sign of the difference of each pair of items, shape (users, items, items)."""
    higher = values[:, :, None] > values[:, None, :]
    return higher.astype(np.int8) - higher.transpose(0, 2, 1).astype(np.int8)


def _rho(scores: Floats, ratings: Floats) -> Floats:
    # A mid-rank minus the mean rank is half the sum of an item's directions; the halves cancel.
    of_score = _directions(scores).sum(axis=2, dtype=np.float64)
    of_rating = _directions(ratings).sum(axis=2, dtype=np.float64)
    spread = (of_score**2).sum(axis=1) * (of_rating**2).sum(axis=1)
    return _ratio((of_score * of_rating).sum(axis=1), np.sqrt(spread))


def _tau(scores: Floats, ratings: Floats) -> Floats:
    of_score, of_rating = _directions(scores), _directions(ratings)
    # Summed as float64: in eight bits, as the directions are, a sum would wrap.
    concordance = np.einsum("uij,uij->u", of_score, of_rating, dtype=np.float64)
    untied = np.count_nonzero(of_score, axis=(1, 2)) * np.count_nonzero(of_rating, axis=(1, 2)).astype(np.float64)
    return _ratio(concordance, np.sqrt(untied))


def spearman(users: ArrayLike, scores: ArrayLike, ratings: ArrayLike, *, n_users: int, least: int = 2) -> Floats:
    r"""Spearman's rho of scores and ratings over each user's test items, ties at their mean rank.

    Source: Herlocker, Konstan, Terveen & Riedl (2004), TOIS 22(1):5-53, section 4.3.

    `users`: int array, shape (n_ratings,); in any order. `scores`: float array, shape (n_ratings,); NaN: no score,
    which ranks below every score. `ratings`: float array, shape (n_ratings,); finite. `least`: fewest test items a user
    needs, >= 2. Returns a float array, shape (n_users,), in [-1, 1]; NaN for users with fewer items, or whose ratings
    or scores are all equal.

    Examples
    --------
    >>> spearman([0, 0, 0], [0.1, 0.3, 0.2], [1, 5, 3], n_users=1).tolist()
    [1.0]
    """
    return _by_user(users, scores, ratings, n_users=n_users, least=least, measure=_rho)


def kendall(users: ArrayLike, scores: ArrayLike, ratings: ArrayLike, *, n_users: int, least: int = 2) -> Floats:
    r"""Kendall's tau-b of scores and ratings over each user's test items.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(C + D + T_R)(C + D + T_P)}}

    with C concordant and D discordant pairs, T_R pairs tied in ratings only and T_P pairs tied in scores only.

    Parameters and returns as for `spearman`. Source: Kendall (1945), Biometrika 33(3):239-251.

    Examples
    --------
    >>> kendall([0, 0, 0], [0.1, 0.3, 0.2], [1, 3, 5], n_users=1).round(4).tolist()
    [0.3333]
    """
    return _by_user(users, scores, ratings, n_users=n_users, least=least, measure=_tau)


def user_values(metric: Metric, users: ArrayLike, scores: ArrayLike, ratings: ArrayLike, *, n_users: int) -> Floats:
    """`spearman` or `kendall` by a metric's name, with its `least`.

    Returns a float array, shape (n_users,), in [-1, 1]; NaN where a user has no value.
    """
    kinds = {"spearman": spearman, "kendall": kendall}
    return kinds[metric.key](users, scores, ratings, n_users=n_users, least=int(metric.option("least")))
