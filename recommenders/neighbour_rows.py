"""Every item's neighbours in rows: sorted by similarity, truncated, and joined to one whole."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recommenders.layout import row_ranges
from recommenders.progress import Progress
from recommenders.threads import each

# Similarities that are sorted together: half the second cache of a core.
SORTED_TOGETHER = 1 << 16

SORTING = "Sorting every item's neighbours"


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Every item's neighbours, most similar first."""

    # Shape (n_items + 1,); where each item's neighbours begin and end in the other two arrays.
    indptr: NDArray[np.int64]
    items: NDArray[np.int32]  # shape (n_pairs,); the neighbours; equally similar ones by item number
    # Shape (n_pairs,); in (0, 1], or [-1, 1] of signed neighbours; falling within an item's row. Pairs whose similarity
    # is 0 are not neighbours, nor are those whose similarity is negative unless neighbours are signed.
    similarities: NDArray[np.float64]


def sorted_whole(similarities: NDArray[np.float64], keep: int | None, progress: Progress) -> Neighbours:
    """Return the neighbours of a square array of similarities."""
    ranges = row_ranges(similarities.shape[0])
    return joined(
        each(lambda range_: sorted_rows(similarities[range_[0] : range_[1]], keep), ranges, progress, SORTING)
    )


# Lengths of rows, items and similarities.
Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]


def sorted_rows(similarities: NDArray[np.float64], keep: int | None) -> list[Rows]:
    """Return the positive similarities of dense rows, each row sorted and truncated, a few rows at a time."""
    n_rows, n_items = similarities.shape
    together = max(1, SORTED_TOGETHER // max(1, n_items))
    keys, rounded = np.empty(min(together, n_rows) * n_items, dtype=np.uint64), np.empty(n_items, dtype=np.float32)
    return [
        _sorted_few(similarities[first : first + together], keep, keys, rounded) for first in range(0, n_rows, together)
    ]


def _sorted_few(
    similarities: NDArray[np.float64], keep: int | None, keys: NDArray[np.uint64], rounded: NDArray[np.float32]
) -> Rows:
    """Do the same for rows that stay in the cache from the first look at them to the last; overwrites `keys`."""
    from recommenders.kernels import similarities as kernels

    lengths = np.empty(similarities.shape[0], dtype=np.int64)
    kernels.pack_rows(similarities, lengths, rounded, rounded.view(np.uint32), keys)
    bounds = np.concatenate(([0], np.cumsum(lengths)))
    if keep is not None:
        keys, bounds = _best_keys(keys, bounds, keep)
    for first, last in pairwise(bounds.tolist()):
        keys[first:last].sort()
    items, values = np.empty(bounds[-1], dtype=np.int32), np.empty(bounds[-1])
    kernels.unpack_rows(similarities, bounds, keys[: bounds[-1]], items, values)
    if keep is None:
        return lengths, items, values
    lengths = np.diff(bounds)
    rank = np.arange(items.size) - np.repeat(bounds[:-1], lengths)
    return np.minimum(lengths, keep), items[rank < keep], values[rank < keep]


def _best_keys(
    keys: NDArray[np.uint64], bounds: NDArray[np.int64], keep: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return each row's first keys, unsorted: at least `keep` of them, and all that float32 holds for equal."""
    selected = []
    for first, last in pairwise(bounds):
        row = keys[first:last]
        if row.size > keep:
            edge = np.partition(row, keep - 1)[keep - 1] | np.uint64(0xFFFFFFFF)
            row = row[row <= edge]
        selected.append(row)
    return np.concatenate(selected), np.concatenate(([0], np.cumsum([row.size for row in selected])))


def joined(ranges: list[list[Rows]]) -> Neighbours:
    """Return blocks of rows as one, letting go of each, so that two copies of everything never coexist."""
    blocks = [rows for blocks in ranges for rows in blocks]
    ranges.clear()
    indptr = np.concatenate([[0], *(lengths for lengths, _, _ in blocks)]).cumsum()
    whole = Neighbours(indptr, np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1]))
    end = int(indptr[-1])
    while blocks:
        _, items, similarities = blocks.pop()
        whole.items[end - items.size : end] = items
        whole.similarities[end - items.size : end] = similarities
        end -= items.size
    return whole


def sort_rows(
    bounds: NDArray[np.int64], items: NDArray[np.int32], similarities: NDArray[np.float64], n_items: int
) -> None:
    """Sort each row, in place, by falling similarity, then item.

    numpy sorts 64-bit integers several times faster than it sorts indirectly; so similarity (float32, whose
    bits order like integers once those of negative numbers are turned over) and item are packed into one, and the
    kernel repairs what float32 could not tell apart.
    """
    from recommenders.kernels.neighbours import unpack_sorted

    bits, sign = similarities.astype(np.float32).view(np.uint32), np.uint32(1 << 31)
    falling = np.where(bits < sign, (sign - np.uint32(1)) - bits, bits)
    keys = (falling.astype(np.uint64) << np.uint64(32)) | items.astype(np.uint64)
    for first, last in pairwise(bounds):
        keys[first:last].sort()
    unpack_sorted(bounds, keys, np.empty(n_items), items, similarities)
