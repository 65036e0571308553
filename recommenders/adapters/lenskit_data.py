"""Our ratings as a data set of LensKit's."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def lenskit_dataset(user_items: sparse.csr_array) -> Any:
    """A ``lenskit.data.Dataset`` whose users and items are numbered as the rows and columns are.

    `user_items`: sparse float array, shape (n_users, n_items); ratings, or 1 for each like; rows and columns may be
    empty, and are users and items all the same.
    """
    import pandas as pd
    from lenskit.data import DatasetBuilder

    n_users, n_items = user_items.shape
    builder = DatasetBuilder()
    builder.add_entities("user", np.arange(n_users))
    builder.add_entities("item", np.arange(n_items))
    frame = pd.DataFrame(
        {
            "user_id": np.repeat(np.arange(n_users), np.diff(user_items.indptr)),
            "item_id": user_items.indices,
            "rating": user_items.data.astype(np.float32),
        }
    )
    builder.add_interactions("rating", frame, entities=["user", "item"], allow_repeats=False, default=True)
    return builder.build()


def frame_bytes(n_users: int, n_items: int, n_ratings: int) -> int:
    """About what LensKit's table of the data takes, with what building and turning it round takes."""
    return 110 * n_ratings + 64 * (n_users + n_items)
