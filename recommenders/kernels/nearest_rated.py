"""Compiled sums over the nearest of a profile's own items.

Two steps, each for many at once. Which items are the k nearest is found for 64 profiles together: an item's
neighbours are walked, most similar first, and each profile has a bit of a machine word, in counters that are
sliced by bit. What they add up to is found for 64 items together, whose similarities are laid out densely for that
time. Every loop is single-threaded and adds in the order of the profile, so a profile's sums depend neither on its
company nor on the cut. With ``NUMBA_DISABLE_JIT=1`` these are the plain Python functions they look like.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import boolean, float64, int32, int64, uint64
from numpy.typing import NDArray

from recommenders.kernels.arrays import NEIGHBOURS, PROFILES, READ_I32, READ_I64, njit

WIDTH = 64  # items that are summed together: their similarities to all others fit beside a processor's core
LANES = 64  # profiles that are counted together: the bits of a machine word
LOW_PLANES = 8  # of the counters, kept in registers
EVERYTHING = np.int32(2**31 - 1)
NONE, ONE, ALL = np.uint64(0), np.uint64(1), np.uint64(2**64 - 1)


@njit(uint64[:, ::1](READ_I64, READ_I64, READ_I32, int64))
def _raters(
    rows: NDArray[np.int64], profile_indptr: NDArray[np.int64], profile_items: NDArray[np.int32], n_items: int
) -> NDArray[np.uint64]:
    """For each 64 of the rows and each item a word with a bit for every profile that has the item."""
    raters = np.zeros(((rows.shape[0] + LANES - 1) // LANES, n_items), dtype=np.uint64)
    for at in range(rows.shape[0]):
        bit = ONE << np.uint64(at % LANES)
        for s in range(profile_indptr[rows[at]], profile_indptr[rows[at] + 1]):
            raters[at // LANES, profile_items[s]] |= bit
    return raters


@njit(numba.void(uint64[::1], READ_I32, int64, uint64[::1], int32[::1]))
def _cuts(
    raters: NDArray[np.uint64],
    nearest: NDArray[np.int32],
    k: int,
    high: NDArray[np.uint64],
    cuts: NDArray[np.int32],
) -> None:
    """Find, for each of 64 profiles, the place in `nearest` of the k-th item that it has.

    A counter runs over at the k-th item, because it begins k below where it does. Its low bits are in
    variables, for speed; `high` is room for the others.
    """
    start = (1 << (LOW_PLANES + high.shape[0])) - k
    p0 = ALL if start & 1 else NONE
    p1 = ALL if start & 2 else NONE
    p2 = ALL if start & 4 else NONE
    p3 = ALL if start & 8 else NONE
    p4 = ALL if start & 16 else NONE
    p5 = ALL if start & 32 else NONE
    p6 = ALL if start & 64 else NONE
    p7 = ALL if start & 128 else NONE
    for plane in range(high.shape[0]):
        high[plane] = ALL if start >> (LOW_PLANES + plane) & 1 else NONE
    cuts[:] = EVERYTHING
    counting = ALL
    for t in range(nearest.shape[0]):
        carry = raters[nearest[t]] & counting
        c1 = p0 & carry
        p0 ^= carry
        c2 = p1 & c1
        p1 ^= c1
        c3 = p2 & c2
        p2 ^= c2
        c4 = p3 & c3
        p3 ^= c3
        c5 = p4 & c4
        p4 ^= c4
        c6 = p5 & c5
        p5 ^= c5
        c7 = p6 & c6
        p6 ^= c6
        carry = p7 & c7
        p7 ^= c7
        if carry == NONE:
            continue
        for plane in range(high.shape[0]):
            over = high[plane] & carry
            high[plane] ^= carry
            carry = over
        if carry == NONE:
            continue
        counting &= ~carry
        for lane in range(LANES):
            if carry >> np.uint64(lane) & ONE:
                cuts[lane] = t
        if counting == NONE:
            break


@njit(numba.void(int64, int64, *PROFILES, float64[:, ::1], float64[::1], float64[::1]))
def _add(
    first: int,
    last: int,
    profile_indptr: NDArray[np.int64],
    profile_items: NDArray[np.int32],
    signals: NDArray[np.float64],
    similar: NDArray[np.float64],
    totals: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> None:
    """Add the profile's entries first..last, all of them, to the sums of 64 items."""
    s = first
    while s + 4 <= last:
        v0, v1, v2, v3 = signals[s], signals[s + 1], signals[s + 2], signals[s + 3]
        d0, d1 = similar[profile_items[s]], similar[profile_items[s + 1]]
        d2, d3 = similar[profile_items[s + 2]], similar[profile_items[s + 3]]
        for x in range(WIDTH):
            weights[x] = weights[x] + abs(d0[x]) + abs(d1[x]) + abs(d2[x]) + abs(d3[x])
            totals[x] = totals[x] + d0[x] * v0 + d1[x] * v1 + d2[x] * v2 + d3[x] * v3
        s += 4
    while s < last:
        v0, d0 = signals[s], similar[profile_items[s]]
        for x in range(WIDTH):
            weights[x] += abs(d0[x])
            totals[x] += d0[x] * v0
        s += 1


@njit(numba.void(int64, int64, *PROFILES, float64[:, ::1], int32[:, ::1], int32[::1], float64[::1], float64[::1]))
def _add_near(
    first: int,
    last: int,
    profile_indptr: NDArray[np.int64],
    profile_items: NDArray[np.int32],
    signals: NDArray[np.float64],
    similar: NDArray[np.float64],
    ranks: NDArray[np.int32],
    cuts: NDArray[np.int32],
    totals: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> None:
    """Add those of the profile's entries first..last that lie no further than each item's cut."""
    s = first
    while s + 2 <= last:
        v0, v1 = signals[s], signals[s + 1]
        d0, d1 = similar[profile_items[s]], similar[profile_items[s + 1]]
        r0, r1 = ranks[profile_items[s]], ranks[profile_items[s + 1]]
        for x in range(WIDTH):
            q0 = d0[x] if r0[x] <= cuts[x] else 0.0
            q1 = d1[x] if r1[x] <= cuts[x] else 0.0
            weights[x] = weights[x] + abs(q0) + abs(q1)
            totals[x] = totals[x] + q0 * v0 + q1 * v1
        s += 2
    while s < last:
        v0, d0, r0 = signals[s], similar[profile_items[s]], ranks[profile_items[s]]
        for x in range(WIDTH):
            q0 = d0[x] if r0[x] <= cuts[x] else 0.0
            weights[x] += abs(q0)
            totals[x] += q0 * v0
        s += 1


@njit(numba.void(READ_I64, *PROFILES, *NEIGHBOURS, int64, boolean, float64[:, ::1]))
def nearest_sums(
    rows: NDArray[np.int64],
    profile_indptr: NDArray[np.int64],
    profile_items: NDArray[np.int32],
    signals: NDArray[np.float64],
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    similarities: NDArray[np.float64],
    k: int,
    is_mean: bool,
    out: NDArray[np.float64],
) -> None:
    """Sum d_ij * signal_j over the k profile items j most similar to i, for the profiles named by `rows`.

    `indptr`, `items` and `similarities` hold for each item its neighbours, most similar first. No neighbour in
    the profile: -inf.
    """
    n_items = out.shape[1]
    lengths = profile_indptr[rows + 1] - profile_indptr[rows]
    short, long = rows[lengths <= k], rows[lengths > k]
    raters = _raters(long, profile_indptr, profile_items, n_items)
    n_high = 0
    while (1 << (LOW_PLANES + n_high)) < k:
        n_high += 1
    high = np.empty(n_high, dtype=np.uint64)
    similar = np.empty((n_items, WIDTH))
    ranks = np.zeros((n_items, WIDTH), dtype=np.int32)
    cuts = np.zeros((WIDTH, LANES), dtype=np.int32)
    totals, weights = np.empty(WIDTH), np.empty(WIDTH)
    for start in range(0, n_items, WIDTH):
        width = min(WIDTH, n_items - start)
        similar[:, :] = 0.0
        for x in range(width):
            first = indptr[start + x]
            for t in range(first, indptr[start + x + 1]):
                similar[items[t], x] = similarities[t]
                ranks[items[t], x] = t - first
        for at in range(short.shape[0] + long.shape[0]):
            totals[:] = 0.0
            weights[:] = 0.0
            if at < short.shape[0]:
                row = short[at]
                begin, end = profile_indptr[row], profile_indptr[row + 1]
                _add(begin, end, profile_indptr, profile_items, signals, similar, totals, weights)
            else:
                lane = (at - short.shape[0]) % LANES
                row = long[at - short.shape[0]]
                if lane == 0:
                    word = raters[(at - short.shape[0]) // LANES]
                    for x in range(width):
                        _cuts(word, items[indptr[start + x] : indptr[start + x + 1]], k, high, cuts[x])
                begin, end, near = profile_indptr[row], profile_indptr[row + 1], cuts[:, lane].copy()
                _add_near(begin, end, profile_indptr, profile_items, signals, similar, ranks, near, totals, weights)
            for x in range(width):
                if weights[x] == 0.0:
                    out[row, start + x] = -np.inf
                elif is_mean:
                    out[row, start + x] = totals[x] / weights[x]
                else:
                    out[row, start + x] = totals[x]
