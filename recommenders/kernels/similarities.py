"""Compiled loops from sums to similarities, and to keys that sort them.

The sums are those of `recommenders.kernels.products`, packed in 64-bit words.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import boolean, float32, float64, int32, int64, uint32, uint64
from numpy.typing import NDArray

from recommenders.kernels.arrays import READ_F64, READ_I64, READ_U32, READ_U64, WORDS, njit

SIMILARITIES = float64[:, ::1]
# Rows and columns that are turned over together: a tile of each fits in the fastest cache.
TILE = 32


@njit(numba.void(int64, int64, int64, int64, int64, SIMILARITIES, boolean))
def _transpose(
    offset: int, top: int, bottom: int, start: int, stop: int, out: NDArray[np.float64], is_half: bool
) -> None:
    """Set an item's similarity with itself to 0 in a tile, and with `is_half` write the tile's mirror image."""
    for i in range(max(top, start), min(bottom, stop)):
        out[i - offset, i] = 0.0
    if is_half:
        for j in range(start, stop):
            for i in range(top, min(bottom, j)):
                out[j, i] = out[i, j]


@njit(
    numba.void(int64, int64, int64, WORDS, uint32, float64, READ_F64, float64, SIMILARITIES, boolean),
    error_model="numpy",
)
def cosines(
    offset: int,
    first: int,
    last: int,
    words: NDArray[np.uint64],
    shift: int,
    unit: float,
    norms: NDArray[np.float64],
    shrinkage: float,
    out: NDArray[np.float64],
    is_half: bool,
) -> None:
    """Write the shrunk cosines of items first..last, whose row 0 is that of item `offset`; 0 for an item with itself.

    `unit` is the square of a code's worth in rating points. With `is_half` pairs i < j are read, and both of their
    places written.
    """
    n_items = words.shape[1]
    low = (uint64(1) << uint64(shift)) - uint64(1)
    for top in range(first, last, TILE):
        bottom = min(top + TILE, last)
        for edge in range(top - top % TILE if is_half else 0, n_items, TILE):
            for i in range(top, bottom):
                start, stop = max(edge, i) if is_half else edge, min(edge + TILE, n_items)
                row = out[i - offset, start:stop]
                own, column_norms = words[i - offset, start:stop], norms[start:stop]
                for t in range(stop - start):
                    common = float64(own[t] >> uint64(shift))
                    dot = float64(own[t] & low) * unit
                    # An unrated item has the norm 0 and the product 0: no neighbour of anything.
                    size = norms[i] * column_norms[t]
                    row[t] = common / max(common + shrinkage, 1.0) * (dot / (size if size > 0.0 else 1.0))
            _transpose(offset, top, bottom, edge, min(edge + TILE, n_items), out, is_half)


@njit(
    numba.void(int64, int64, int64, WORDS, WORDS, uint32, uint32, float64, SIMILARITIES, boolean), error_model="numpy"
)
def pearsons(
    offset: int,
    first: int,
    last: int,
    left: NDArray[np.uint64],
    right: NDArray[np.uint64],
    low_bits: int,
    high_bits: int,
    shrinkage: float,
    out: NDArray[np.float64],
    is_half: bool,
) -> None:
    """Write the shrunk correlations where they are positive, 0 elsewhere; as `cosines`."""
    n_items = left.shape[1]
    low = (uint64(1) << uint64(low_bits)) - uint64(1)
    middle = (uint64(1) << uint64(high_bits - low_bits)) - uint64(1)
    for top in range(first, last, TILE):
        bottom = min(top + TILE, last)
        for edge in range(top - top % TILE if is_half else 0, n_items, TILE):
            for i in range(top, bottom):
                start, stop = max(edge, i) if is_half else edge, min(edge + TILE, n_items)
                a, b = left[i - offset, start:stop], right[i - offset, start:stop]
                row = out[i - offset, start:stop]
                for t in range(stop - start):
                    n = float64(a[t] >> uint64(high_bits))
                    sy = float64((a[t] >> uint64(low_bits)) & middle)
                    sx = float64(b[t] >> uint64(high_bits))
                    x_variance = n * float64((b[t] >> uint64(low_bits)) & middle) - sx * sx
                    y_variance = n * float64(a[t] & low) - sy * sy
                    # Where a variance is 0 so is the covariance; dividing by at least 1 keeps them apart from NaN.
                    covariance = max(n * float64(b[t] & low) - sx * sy, 0.0)
                    size = math.sqrt(max(x_variance * y_variance, 1.0))
                    row[t] = n / max(n + shrinkage, 1.0) * (covariance / size)
            _transpose(offset, top, bottom, edge, min(edge + TILE, n_items), out, is_half)


@njit(numba.void(SIMILARITIES, int64[::1], float32[::1], READ_U32, uint64[::1]))
def pack_rows(
    similarities: NDArray[np.float64],
    lengths: NDArray[np.int64],
    rounded: NDArray[np.float32],
    bits: NDArray[np.uint32],
    keys: NDArray[np.uint64],
) -> None:
    """Write a sorting key for each positive similarity, row after row, and the number of them in each row.

    In the high half of a key stands the similarity in float32, whose bits order like whole numbers, turned over so
    that the largest comes first; in the low half the item. `bits` is `rounded`, seen as whole numbers.
    """
    used = 0
    for row in range(similarities.shape[0]):
        first = used
        for j in range(similarities.shape[1]):
            # Written in any case and kept only if positive: a branch would be guessed wrong every other time.
            rounded[used - first] = similarities[row, j]
            keys[used] = uint64(j)
            used += similarities[row, j] > 0.0
        for t in range(used - first):
            keys[first + t] |= uint64(uint32(0xFFFFFFFF) - bits[t]) << uint64(32)
        lengths[row] = used - first


@njit(numba.void(SIMILARITIES, READ_I64, READ_U64, int32[::1], float64[::1]))
def unpack_rows(
    similarities: NDArray[np.float64],
    bounds: NDArray[np.int64],
    keys: NDArray[np.uint64],
    items: NDArray[np.int32],
    values: NDArray[np.float64],
) -> None:
    """Write each row's pairs in the order of its sorted keys, what float32 could not tell apart put right.

    The order is by falling similarity, then by item.
    """
    for row in range(bounds.shape[0] - 1):
        first = bounds[row]
        for t in range(first, bounds[row + 1]):
            item = int32(keys[t] & uint64(0xFFFFFFFF))
            similarity = similarities[row, item]
            at = t
            while at > first and (
                values[at - 1] < similarity or (values[at - 1] == similarity and items[at - 1] > item)
            ):
                values[at] = values[at - 1]
                items[at] = items[at - 1]
                at -= 1
            values[at] = similarity
            items[at] = item
