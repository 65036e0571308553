"""Cold start: items without training ratings, and the outcomes over which a CROC or ROC is computed."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError
from evaluation.splitting.draws import draw_keys, smallest, stream_key
from evaluation.splitting.holdout import share_of_all
from evaluation.splitting.partition import HIDDEN, LEFT_OUT, TRAIN, Partition, partition_of
from evaluation.splitting.rows import RatingRows

LOST = "hidden ratings of items that kept no training rating"
MAX_OBSERVATIONS = 50_000_000  # pairs of one curve that fit into memory


def cold_start(rows: RatingRows, *, share: float, start: Literal["cold", "hot"], seed: int) -> Partition:
    """Hide a share of the items entirely (cold), or the same share of the ratings for comparison (hot).

    Cold, `share` is that of the items with a rating, drawn at random, at least one; no training rating touches them,
    and they are the only items recommended. Hot, it is that of the ratings; those whose item would keep none are left
    out. Raises DataError for no ratings. Source: Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research
    5:51-74, section 3.2: cold and hot, with implicit and explicit outcomes.
    """
    open_indexes = np.flatnonzero(rows.is_open)
    if not len(open_indexes):
        raise DataError("There are no ratings to split.")
    sides = np.full(len(rows), TRAIN, dtype=np.uint8)
    if start == "hot":
        hidden = share_of_all(rows, share=share, seed=seed, purpose="cold-start-items:hot")
        is_trained = np.zeros(rows.n_items, dtype=np.bool_)
        is_trained[rows.items[hidden.train]] = True
        is_hot = is_trained[rows.items[hidden.hidden]]
        sides[hidden.hidden] = np.where(is_hot, HIDDEN, LEFT_OUT)
        return partition_of(rows, sides, left_out={LOST: int((~is_hot).sum())})
    rated = np.unique(rows.items[open_indexes])
    words = draw_keys(stream_key(seed, "cold-start-items"), rated)
    # Of the items with ratings: an unrated one would be cold without anything to be tested by.
    test_items = rated[smallest(words, max(1, round(share * len(rated))))]
    is_cold = np.zeros(rows.n_items, dtype=np.bool_)
    is_cold[test_items] = True
    sides[is_cold[rows.items]] = HIDDEN
    return partition_of(rows, sides, test_items=test_items)


def observations(
    rows: RatingRows, partition: Partition, *, threshold: float | None
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
    """Return the pairs to rank, as users and items, and which of them are good: those that were rated (`threshold`
    None, implicit outcomes), or rated `threshold` or more.

    The pairs are every test user with every test item, so that n(p) is the same for all and random recommendation runs
    along the diagonal; without test items of its own (a hot start), every test user with every item that they have not
    rated in training. By user, then item. Raises DataError for more pairs than can be ranked. Source: Schein, Popescul,
    Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 3.2 and theorem 1.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array([[5.0, 1.0, 0.0], [3.0, 0.0, 4.0]]))
    >>> partition = cold_start(rows, share=0.4, start="cold", seed=1)
    >>> users, items, is_good = observations(rows, partition, threshold=None)
    >>> partition.test_items.tolist(), users.tolist(), is_good.tolist()
    ([1], [0], [True])
    """
    people, items = partition.test_users, partition.test_items
    if items is None:
        items = np.arange(rows.n_items, dtype=np.int32)
        # Before the array of all pairs is made, which would be what exhausts the memory.
        if len(people) * rows.n_items > MAX_OBSERVATIONS:
            raise DataError(
                f"{len(people):,} test users with {rows.n_items:,} items each are more pairs than can be ranked "
                f"({MAX_OBSERVATIONS:,}). Use a smaller dataset, a cold start, or explicit outcomes."
            )

    def marked(ratings: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which pairs are among some ratings."""
        ratings = ratings[np.isin(rows.users[ratings], people) & np.isin(rows.items[ratings], items)]
        marks = np.zeros((len(people), len(items)), dtype=np.bool_)
        marks[np.searchsorted(people, rows.users[ratings]), np.searchsorted(items, rows.items[ratings])] = True
        return marks

    is_open, hidden = ~marked(partition.train), partition.hidden
    row, column = np.nonzero(is_open)
    is_good = marked(hidden if threshold is None else hidden[rows.values[hidden] >= threshold])
    return people[row], items[column], is_good[is_open]
