"""Cross-validation: every rating, or every user, is on the hidden side once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from core.errors import DataError, ParameterError
from evaluation.splitting.draws import check_share, draw_keys, stream_key
from evaluation.splitting.partition import HIDDEN, PROFILE, TRAIN, Partition, partition_of
from evaluation.splitting.rows import RatingRows

DEPENDENCE = (
    "Folds share most of their training ratings, so results on them are not independent of each other: a test over all "
    "folds together claims more than it shows (Bengio & Grandvalet 2004)."
)


def k_fold(
    rows: RatingRows, *, k: int, over: Literal["ratings", "users"], hide: float, seed: int
) -> Iterator[Partition]:
    """Cut ratings or users into `k` folds of equal size, within one; each fold is hidden once.

    Over users, a fold's users are not trained on at all: round(hide · n) of a user's n ratings, at least one and not
    all, are hidden, the others are the profile they are scored by.

    Parameters
    ----------
    rows : RatingRows
    k : int
        2 to the number of ratings (or users with a rating).
    over : {"ratings", "users"}
    hide : float
        Share of a test user's ratings to hide, for folds over users.
    seed : int

    Yields
    ------
    Partition
        "fold 1 of k" and so on; what to say of their dependence is in `DEPENDENCE`.

    Raises
    ------
    ParameterError, DataError
        `k` below 2, a share out of range, something else than ratings or users; fewer of them than folds.

    References
    ----------
    Stone (1974), Journal of the Royal Statistical Society B 36(1):111-147; Bengio & Grandvalet (2004), JMLR 5.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((4, 5), dtype=np.float32)))
    >>> [len(fold.hidden) for fold in k_fold(rows, k=3, over="ratings", hide=0.2, seed=1)]
    [7, 7, 6]
    """
    if k < 2:
        raise ParameterError(f"There cannot be {k} folds: give 2 or more.")
    if over not in ("ratings", "users"):
        raise ParameterError(f"Folds are over 'ratings' or 'users', not {over!r}.")
    hide = check_share(hide, "ratings of each test user to hide")
    units = np.flatnonzero(rows.is_open) if over == "ratings" else np.flatnonzero(rows.counts)
    if len(units) < k:
        raise DataError(f"There are {len(units)} {over} to cut into {k} folds: choose fewer folds.")
    if over == "ratings":
        words = rows.words(units, seed, "k-fold")
    else:
        words = draw_keys(stream_key(seed, "k-fold:users"), units)
    fold_of = np.empty(len(units), dtype=np.int64)
    fold_of[np.argsort(words, kind="stable")] = np.arange(len(units)) * k // len(units)
    return _folds(rows, units, fold_of, k, hide if over == "users" else None, seed)


def _folds(
    rows: RatingRows, units: np.ndarray, fold_of: np.ndarray, k: int, hide: float | None, seed: int
) -> Iterator[Partition]:
    """The folds one by one; `hide` is None for folds over ratings."""
    for fold in range(k):
        label = f"fold {fold + 1} of {k}"
        sides = np.full(len(rows), TRAIN, dtype=np.uint8)
        own = units[fold_of == fold]
        if hide is None:
            sides[own] = HIDDEN
            yield partition_of(rows, sides, label=label)
            continue
        is_tested = np.zeros(rows.n_users, dtype=np.bool_)
        is_tested[own] = True
        places = np.flatnonzero(is_tested[rows.users])
        sizes = rows.counts
        n_hidden = np.clip(np.rint(hide * sizes).astype(np.int64), 1, np.maximum(sizes - 1, 0))
        ranks = rows.rank_within_users(places, rows.words(places, seed, "k-fold"))
        sides[places] = np.where(ranks < n_hidden[rows.users[places]], HIDDEN, PROFILE)
        single = {"users of the fold with 1 rating, who are not tested": int((sizes[own] == 1).sum())}
        yield partition_of(rows, sides, label=label, counted=single)
