"""Splits of a matrix of ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.splitting.holdout import share_of_all
from evaluation.splitting.partition import Partition
from evaluation.splitting.rows import RatingRows
from recommenders.holdout import part_of


@dataclass(frozen=True, slots=True)
class Split:
    """Training and hidden ratings of a partition as matrices and arrays."""

    train: Any
    is_hidden: NDArray[np.bool_]
    hidden_users: NDArray[np.int32]
    hidden_items: NDArray[np.int32]
    hidden_values: NDArray[np.float32]
    left_out: Mapping[str, int]


def split_of(partition: Partition, user_items: Any) -> Split:
    rows = RatingRows.of(user_items)
    is_hidden = np.zeros(partition.n_ratings, dtype=np.bool_)
    is_hidden[partition.hidden] = True
    hidden = (rows.users[partition.hidden], rows.items[partition.hidden], rows.values[partition.hidden])
    train = part_of(user_items, partition.train)
    return Split(train, is_hidden, *hidden, left_out={**partition.left_out, **partition.counted})


def probe(user_items: Any, *, share: float, seed: int) -> Split:
    return split_of(share_of_all(RatingRows.of(user_items), share=share, seed=seed, purpose="probe"), user_items)
