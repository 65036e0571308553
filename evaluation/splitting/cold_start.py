"""Cold start: items without training ratings, and the outcomes over which a CROC or ROC is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.errors import DataError, ParameterError
from evaluation.splitting.draws import check_share, draw_keys, smallest, stream_key
from evaluation.splitting.holdout import share_of_all
from evaluation.splitting.partition import HIDDEN, LEFT_OUT, TRAIN, Partition, partition_of
from evaluation.splitting.rows import RatingRows

Start = Literal["cold", "hot"]
Outcome = Literal["implicit", "explicit"]
LOST = "hidden ratings of items that kept no training rating"
MAX_OBSERVATIONS = 50_000_000  # pairs of one curve that fit into memory


def cold_start(rows: RatingRows, *, share: float, start: Start, seed: int) -> Partition:
    """Hide a share of the items entirely (cold), or the same share of the ratings for comparison (hot).

    Cold, `share` is that of the items with a rating, drawn at random, at least one; no training rating touches them,
    and they are the only items recommended. Hot, it is that of the ratings; those whose item would keep none are left
    out. Raises ParameterError or DataError for a share out of range, another start, or no ratings. Source:
    Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 3.2: cold and hot, with
    implicit and explicit outcomes.
    """
    share = check_share(share, "items to hide" if start == "cold" else "ratings to hide")
    if start not in ("cold", "hot"):
        raise ParameterError(f"A start is 'cold' or 'hot', not {start!r}.")
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
    test_items = rated[smallest(words, max(1, round(share * len(rated))))]
    is_cold = np.zeros(rows.n_items, dtype=np.bool_)
    is_cold[test_items] = True
    sides[is_cold[rows.items]] = HIDDEN
    return partition_of(rows, sides, test_items=test_items)


@dataclass(frozen=True, eq=False)
class Observations:
    """The pairs over which a curve is computed."""

    # `users`, `items`: shape (n_observations,); by user, then item.
    users: NDArray[np.int32]
    items: NDArray[np.int32]
    is_good: NDArray[np.bool_]  # shape (n_observations,)

    def __len__(self) -> int:
        return len(self.users)


def observations(
    rows: RatingRows,
    partition: Partition,
    *,
    outcome: Outcome,
    threshold: float = 4.0,
    candidates: Literal["rated", "all"] = "rated",
) -> Observations:
    """Return the pairs to rank and which of them are good.

    Source: Schein, Popescul, Ungar & Pennock (2005), Electronic Commerce Research 5:51-74, section 3.2 and theorem 1.

    `outcome`: {"implicit", "explicit"}; good is "rated it", or "rated it `threshold` or more". `candidates`: {"rated",
    "all"}; "rated": the test users' own hidden ratings, n(p) of them; only for explicit outcomes, as implicit ones are
    all good there. "all": every test user with every test item, so that n(p) is the same for all and random
    recommendation runs along the diagonal; without test items of its own (a hot start), every test user with every item
    that they have not rated in training. Raises ParameterError or DataError: an unknown or impossible choice; the
    partition has another number of ratings than the rows; more pairs than can be ranked.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = RatingRows.of(csr_array([[5.0, 1.0, 0.0], [3.0, 0.0, 4.0]]))
    >>> partition = cold_start(rows, share=0.4, start="cold", seed=1)
    >>> pairs = observations(rows, partition, outcome="implicit", candidates="all")
    >>> partition.test_items.tolist(), pairs.users.tolist(), pairs.is_good.tolist()
    ([1], [0], [True])
    """
    if outcome not in ("implicit", "explicit"):
        raise ParameterError(f"An outcome is 'implicit' or 'explicit', not {outcome!r}.")
    if partition.n_ratings != len(rows):
        raise DataError(f"The split is one of {partition.n_ratings:,} ratings, but there are {len(rows):,}.")
    hidden = partition.hidden[np.isin(rows.users[partition.hidden], partition.test_users)]
    is_good = rows.values[hidden] >= threshold if outcome == "explicit" else np.ones(len(hidden), dtype=np.bool_)
    if candidates == "rated":
        if outcome == "implicit":
            raise ParameterError("Implicit outcomes of rated items are all good: rank all items, candidates='all'.")
        return Observations(rows.users[hidden], rows.items[hidden], is_good)
    if candidates != "all":
        raise ParameterError(f"Candidates are 'rated' or 'all', not {candidates!r}.")
    if partition.test_items is None:
        return _whole_catalogue(rows, partition, hidden[is_good])
    n_items = len(partition.test_items)
    users = np.repeat(partition.test_users, n_items)
    items = np.tile(partition.test_items, len(partition.test_users))
    row = np.searchsorted(partition.test_users, rows.users[hidden])
    column = np.searchsorted(partition.test_items, rows.items[hidden])
    outcomes = np.zeros(len(users), dtype=np.bool_)
    outcomes[row * n_items + column] = is_good
    return Observations(users, items, outcomes)


def _whole_catalogue(rows: RatingRows, partition: Partition, good: NDArray[np.int64]) -> Observations:
    """Return every test user with every item they have not rated in training; `good` are indexes of ratings."""
    people = partition.test_users
    if len(people) * rows.n_items > MAX_OBSERVATIONS:
        raise DataError(
            f"{len(people):,} test users with {rows.n_items:,} items each are more pairs than can be ranked "
            f"({MAX_OBSERVATIONS:,}). Use a smaller dataset, a cold start, or explicit outcomes."
        )
    is_open = np.ones((len(people), rows.n_items), dtype=np.bool_)
    outcomes = np.zeros_like(is_open)
    known = partition.train[np.isin(rows.users[partition.train], people)]
    is_open[np.searchsorted(people, rows.users[known]), rows.items[known]] = False
    outcomes[np.searchsorted(people, rows.users[good]), rows.items[good]] = True
    row, column = np.nonzero(is_open)
    return Observations(people[row], column.astype(np.int32), outcomes[is_open])
