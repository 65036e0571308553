"""The arrays of a subset, cut from those of its parent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from catalog.subsetting.selection import Selection

PER_RATING = ("values", "timestamps", "utilities", "counts")


def subset_arrays(arrays: Mapping[str, NDArray[Any]], selection: Selection) -> dict[str, NDArray[Any]]:
    """Cut the arrays of a version of a dataset to a selection: users, items and ratings keep their order.

    Probe pairs are kept whose rating is kept; without one left, the subset has no probe list.
    """
    is_kept = np.repeat(selection.users, np.diff(arrays["indptr"]))
    is_kept &= selection.items[arrays["indices"]]
    if selection.ratings is not None:
        is_kept &= selection.ratings
    starts = np.concatenate(([0], np.cumsum(selection.user_counts[selection.users], dtype=np.int64)))
    index = np.int32 if starts[-1] <= np.iinfo(np.int32).max else np.int64
    cut = {
        "indptr": starts.astype(index),
        "indices": _numbers(selection.items)[arrays["indices"][is_kept]].astype(index, copy=False),
        "user_ids": arrays["user_ids"][selection.users],
        "item_ids": arrays["item_ids"][selection.items],
        **{name: arrays[name][is_kept] if len(arrays[name]) else arrays[name] for name in PER_RATING if name in arrays},
    }
    if "probe" in arrays and len(probe := _probe(arrays["probe"], selection, cut)):
        cut["probe"] = probe
    return cut


def _numbers(mask: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The new number of each selected user or item."""
    return np.cumsum(mask, dtype=np.int32) - np.int32(1)


def _probe(pairs: NDArray[np.int64], selection: Selection, cut: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
    pairs = pairs[selection.users[pairs[:, 0]] & selection.items[pairs[:, 1]]]
    users, items = _numbers(selection.users)[pairs[:, 0]], _numbers(selection.items)[pairs[:, 1]]
    is_rated = sparse.csr_array(
        (np.ones(len(cut["indices"]), dtype=np.bool_), cut["indices"], cut["indptr"]),
        shape=(len(cut["user_ids"]), len(cut["item_ids"])),
    )
    is_kept = np.asarray(is_rated[users, items], dtype=np.bool_).reshape(-1) if len(users) else np.empty(0, np.bool_)
    return np.column_stack((users, items)).astype(np.int64)[is_kept]
