"""Compiled loops that add up products of items over their common raters.

Users come in chunks that fit in a core's cache together with one row of sums; within a chunk, the row of one item
is added to from all its raters before the next item's turn. The few users who rated most are multiplied as dense
rows instead (`spread`), and the products added to the same words (`merge_dots`, `merge_moments`). All sums are of
whole numbers, several of them packed in one 64-bit word, so they are exact and do not depend on the order or on who
adds them. Indices are unsigned because signed ones would be tested for wrapping round, at a third of the speed.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import boolean, float32, float64, int64, uint32, uint64
from numpy.typing import NDArray

from recommenders.kernels.arrays import READ_BOOL, READ_I32, READ_I64, READ_U32, READ_U64, WORDS, njit

STARTS = numba.types.Array(int64, 2, "C", readonly=True)
# A part of the columns of some rows of words.
PARTS = uint64[:, :]
SINGLES = float32[:, ::1]
PLACES = uint32[::1]


@njit(
    numba.void(
        int64, int64, int64, READ_I64, READ_I32, READ_BOOL, boolean, int64[::1], int64[::1], PLACES, PLACES, PLACES
    )
)
def arrange(
    first: int,
    last: int,
    offset: int,
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    is_busy: NDArray[np.bool_],
    is_half: bool,
    starts: NDArray[np.int64],
    work: NDArray[np.int64],
    positions: NDArray[np.uint32],
    begins: NDArray[np.uint32],
    ends: NDArray[np.uint32],
) -> None:
    """Write, for a chunk of users first..last, where in its user's row a rating stands and what it is added to.

    That is by item and then by user, from `offset` on; `starts` says where each item begins, and `work` how many
    additions it takes. With `is_half` a rating is added to the row from itself on, so that each pair is seen once;
    otherwise to the whole row. Busy users are passed over.
    """
    n_items = work.shape[0]
    starts[:] = 0
    for user in range(first, last):
        if not is_busy[user]:
            for t in range(indptr[user], indptr[user + 1]):
                starts[items[t] + 1] += 1
    starts[0] = offset
    for i in range(n_items):
        starts[i + 1] += starts[i]
    for user in range(first, last):
        if not is_busy[user]:
            stop = indptr[user + 1]
            for t in range(indptr[user], stop):
                # The starts advance while slots are assigned, and are moved back below.
                i = items[t]
                slot = starts[i]
                starts[i] += 1
                begin = t if is_half else indptr[user]
                work[i] += stop - begin
                positions[slot] = t
                begins[slot] = begin
                ends[slot] = stop
    for i in range(n_items, 0, -1):
        starts[i] = starts[i - 1]
    starts[0] = offset


@njit(numba.void(READ_I64, READ_I64, READ_U32, uint32, float32[:, ::1], float32[:, ::1]))
def spread(
    users: NDArray[np.int64],
    indptr: NDArray[np.int64],
    packed: NDArray[np.uint32],
    code_bits: int,
    indicators: NDArray[np.float32],
    codes: NDArray[np.float32],
) -> None:
    """Write the rows of some users densely: 1 where there is a rating, and the codes; `packed` as in `add_dots`."""
    mask = uint32((uint32(1) << code_bits) - uint32(1))
    indicators[:, :] = 0.0
    codes[:, :] = 0.0
    for row in range(users.shape[0]):
        for t in range(indptr[users[row]], indptr[users[row] + 1]):
            word = packed[t]
            indicators[row, word >> code_bits] = 1.0
            codes[row, word >> code_bits] = float32(word & mask)


@njit(numba.void(SINGLES, SINGLES, uint32, PARTS))
def merge_dots(common: NDArray[np.float32], dots: NDArray[np.float32], shift: int, out: NDArray[np.uint64]) -> None:
    """Add numbers of common raters and sums of products to the words of the pairs i <= j of some rows."""
    for i in range(common.shape[0]):
        for j in range(i, common.shape[1]):
            out[i, j] += (uint64(common[i, j]) << uint64(shift)) + uint64(dots[i, j])


@njit(numba.void(SINGLES, SINGLES, SINGLES, SINGLES, uint32, uint32, uint32, PARTS, PARTS))
def merge_moments(
    common: NDArray[np.float32],
    right_sums: NDArray[np.float32],
    left_sums: NDArray[np.float32],
    dots: NDArray[np.float32],
    bits: int,
    low_bits: int,
    high_bits: int,
    left: NDArray[np.uint64],
    right: NDArray[np.uint64],
) -> None:
    """Add the six sums of the pairs i <= j of some rows, as `add_moments` packs them.

    `right_sums` has y above yy, which has `bits` bits, and `left_sums` x above xx.
    """
    mask = (uint64(1) << uint64(bits)) - uint64(1)
    for i in range(common.shape[0]):
        for j in range(i, common.shape[1]):
            y, x = uint64(right_sums[i, j]), uint64(left_sums[i, j])
            left[i, j] += (uint64(common[i, j]) << uint64(high_bits)) + ((y >> uint64(bits)) << uint64(low_bits))
            left[i, j] += y & mask
            right[i, j] += ((x >> uint64(bits)) << uint64(high_bits)) + ((x & mask) << uint64(low_bits))
            right[i, j] += uint64(dots[i, j])


@njit(numba.void(int64, int64, READ_I32, READ_U32, float64[:, ::1]))
def tally(
    first: int, last: int, items: NDArray[np.int32], values: NDArray[np.uint32], out: NDArray[np.float64]
) -> None:
    """Add, over ratings first..last, each item's number of them, their sum and the sum of their squares."""
    for t in range(first, last):
        i, value = items[t], float64(values[t])
        out[i, 0] += 1.0
        out[i, 1] += value
        out[i, 2] += value * value


@njit(numba.void(int64, int64, STARTS, READ_U32, READ_U32, READ_U32, READ_U32, uint32, uint32, WORDS))
def add_dots(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    positions: NDArray[np.uint32],
    begins: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    packed: NDArray[np.uint32],
    code_bits: int,
    shift: int,
    out: NDArray[np.uint64],
) -> None:
    """Add, for items first..last, the number of common raters (from bit `shift` on) and the sum of products (below).

    `packed` holds each rating's item above its code of `code_bits` bits.
    """
    mask = uint32((uint32(1) << code_bits) - uint32(1))
    count_unit = uint64(1) << uint64(shift)
    for c in range(starts.shape[0]):
        for i in range(first, last):
            row = out[i - first]
            for s in range(starts[c, i], starts[c, i + 1]):
                x = uint64(packed[positions[s]] & mask)
                for t in range(uint64(begins[s]), uint64(ends[s])):
                    word = packed[t]
                    row[word >> code_bits] += x * uint64(word & mask) + count_unit


@njit(numba.void(int64, int64, STARTS, READ_U32, READ_U32, READ_U32, uint32[:, ::1]))
def add_counts(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    begins: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    items: NDArray[np.uint32],
    out: NDArray[np.uint32],
) -> None:
    """Add, for items first..last, the number of common raters."""
    for c in range(starts.shape[0]):
        for i in range(first, last):
            row = out[i - first]
            for s in range(starts[c, i], starts[c, i + 1]):
                for t in range(uint64(begins[s]), uint64(ends[s])):
                    row[items[t]] += uint32(1)


@njit(
    numba.void(
        int64, int64, STARTS, READ_U32, READ_U32, READ_U32, READ_U32, READ_U64, uint32, uint32, uint32, WORDS, WORDS
    )
)
def add_moments(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    positions: NDArray[np.uint32],
    begins: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    packed: NDArray[np.uint32],
    terms: NDArray[np.uint64],
    code_bits: int,
    low_bits: int,
    high_bits: int,
    left: NDArray[np.uint64],
    right: NDArray[np.uint64],
) -> None:
    """Add, for items first..last, the six sums of a correlation.

    Left, from the highest bits down: the number of common raters, y and yy, which `terms` holds for every code y;
    right: x, xx and xy. The lowest sum has `low_bits` bits, the one above it `high_bits` less those.
    """
    mask = uint32((uint32(1) << code_bits) - uint32(1))
    for c in range(starts.shape[0]):
        for i in range(first, last):
            row, own = left[i - first], right[i - first]
            for s in range(starts[c, i], starts[c, i + 1]):
                x = uint64(packed[positions[s]] & mask)
                alone = (x << uint64(high_bits)) + ((x * x) << uint64(low_bits))
                for t in range(uint64(begins[s]), uint64(ends[s])):
                    word = packed[t]
                    j, y = word >> code_bits, uint64(word & mask)
                    row[j] += terms[y]
                    own[j] += x * y + alone
