"""Lists of several profiles, one by one."""

from __future__ import annotations

import numpy as np

from recommenders.data import Profiles
from recommenders.ranking import TopN, top_n


def lists_of(scores: np.ndarray, popularity: np.ndarray, profiles: Profiles, n: int) -> list[TopN]:
    own = np.split(profiles.user_items.indices, profiles.user_items.indptr[1:-1])
    return [top_n(row, popularity, items, n) for row, items in zip(scores, own, strict=True)]
