"""Cross-validation: every rating, or every user, is hidden once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from core.errors import DataError
from evaluation.splitting.draws import draw_keys, stream_key
from evaluation.splitting.partition import HIDDEN, PROFILE, TRAIN, Partition, partition_of
from evaluation.splitting.rows import RatingRows

DEPENDENCE = (
    "Folds share most of their training ratings, so their results are not independent: a test over all folds together "
    "overstates the evidence (Bengio & Grandvalet 2004)."
)


def k_fold(
    rows: RatingRows, *, k: int, over: Literal["ratings", "users"], hide: float, seed: int
) -> Iterator[Partition]:
    """Divide ratings or users into `k` folds whose sizes differ by at most one; each fold is hidden once.

    Over users, the users of a fold are excluded from training: round(hide · n) of a user's n ratings, at least one but
    not all, are hidden, and the others are the profile for scoring. Partitions are labelled "fold 1 of k" and so on;
    `DEPENDENCE` describes their dependence. Sources: Stone (1974), Journal of the Royal Statistical Society B
    36(1):111-147; Bengio & Grandvalet (2004), JMLR 5.

    `k`: 2 to the number of ratings (or users with a rating). `hide`: share of a test user's ratings to hide, for folds
    over users. Raises DataError for fewer ratings or users than folds.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array(np.ones((4, 5), dtype=np.float32)))
    >>> [len(fold.hidden) for fold in k_fold(rows, k=3, over="ratings", hide=0.2, seed=1)]
    [7, 7, 6]
    """
    units = np.flatnonzero(rows.is_open) if over == "ratings" else np.flatnonzero(rows.counts)
    if len(units) < k:
        raise DataError(f"There are {len(units)} {over} for {k} folds: choose fewer folds.")
    if over == "ratings":
        words = rows.words(units, seed, "k-fold")
    else:
        words = draw_keys(stream_key(seed, "k-fold:users"), units)
    fold_of = np.empty(len(units), dtype=np.int64)
    # By rank and not by the word's value, so that folds differ in size by at most one.
    fold_of[np.argsort(words, kind="stable")] = np.arange(len(units)) * k // len(units)
    for fold in range(k):
        label = f"fold {fold + 1} of {k}"
        sides = np.full(len(rows), TRAIN, dtype=np.uint8)
        own = units[fold_of == fold]
        if over == "ratings":
            sides[own] = HIDDEN
            yield partition_of(rows, sides, label=label)
            continue
        indexes = np.flatnonzero(rows.is_of(own))
        sizes = rows.counts
        n_hidden = np.clip(np.rint(hide * sizes).astype(np.int64), 1, np.maximum(sizes - 1, 0))
        ranks = rows.rank_within_users(indexes, rows.words(indexes, seed, "k-fold"))
        sides[indexes] = np.where(ranks < n_hidden[rows.users[indexes]], HIDDEN, PROFILE)
        single = {"users of the fold with 1 rating, who are not tested": int((sizes[own] == 1).sum())}
        yield partition_of(rows, sides, label=label, counted=single)
