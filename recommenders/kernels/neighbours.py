"""Compiled loops of the item-item models.

Every loop is single-threaded and adds in one fixed order, so results do not depend on blocks or batches. With
``NUMBA_DISABLE_JIT=1`` these are the plain Python functions they look like.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import boolean, float64, int32, int64
from numpy.typing import NDArray

from recommenders.kernels.arrays import NEIGHBOURS, PROFILES, READ_F64, READ_I32, READ_I64, READ_U64, njit

# The similarities need items by users and users by items.
TWO_SIDES = (READ_I64, READ_I32, READ_F64, READ_I64, READ_I32, READ_F64)


@njit(int64(int64, int64, *TWO_SIDES, READ_F64, float64, int32[::1], float64[::1], int64[::1]))
def cosine_rows(
    start: int,
    stop: int,
    item_indptr: NDArray[np.int64],
    item_users: NDArray[np.int32],
    item_values: NDArray[np.float64],
    user_indptr: NDArray[np.int64],
    user_items: NDArray[np.int32],
    user_values: NDArray[np.float64],
    norms: NDArray[np.float64],
    shrinkage: float,
    out_items: NDArray[np.int32],
    out_similarities: NDArray[np.float64],
    lengths: NDArray[np.int64],
) -> int:
    """Write the shrunk cosines of items start..stop with all others, unsorted; return the number."""
    n_items = norms.shape[0]
    dot = np.zeros(n_items)
    common = np.zeros(n_items, dtype=np.int64)
    touched = np.empty(n_items, dtype=np.int32)
    used = 0
    for i in range(start, stop):
        n_touched = 0
        for s in range(item_indptr[i], item_indptr[i + 1]):
            user, value = item_users[s], item_values[s]
            for t in range(user_indptr[user], user_indptr[user + 1]):
                j = user_items[t]
                if common[j] == 0:
                    touched[n_touched] = j
                    n_touched += 1
                common[j] += 1
                dot[j] += value * user_values[t]
        first = used
        for t in range(n_touched):
            j = touched[t]
            similarity = common[j] / (common[j] + shrinkage) * (dot[j] / (norms[i] * norms[j]))
            if j != i and similarity > 0.0:
                out_items[used] = j
                out_similarities[used] = similarity
                used += 1
            common[j] = 0
            dot[j] = 0.0
        lengths[i - start] = used - first
    return used


@njit(int64(int64, int64, *TWO_SIDES, float64, boolean, int32[::1], float64[::1], int64[::1]))
def pearson_rows(
    start: int,
    stop: int,
    item_indptr: NDArray[np.int64],
    item_users: NDArray[np.int32],
    item_values: NDArray[np.float64],
    user_indptr: NDArray[np.int64],
    user_items: NDArray[np.int32],
    user_values: NDArray[np.float64],
    shrinkage: float,
    is_signed: bool,
    out_items: NDArray[np.int32],
    out_similarities: NDArray[np.float64],
    lengths: NDArray[np.int64],
) -> int:
    """Write the positive shrunk correlations of items start..stop, unsorted; return the number. With `is_signed` the
    negative ones are written too.

    The six sums of a pair are exact where the values are small integers, so that a variance of 0 is exactly
    0; for other values one below 1e-12 of its largest possible size counts as 0.
    """
    n_items = item_indptr.shape[0] - 1
    sums = np.zeros((n_items, 6))  # number, x, y, xx, yy, xy over the common raters
    touched = np.empty(n_items, dtype=np.int32)
    used = 0
    for i in range(start, stop):
        n_touched = 0
        for s in range(item_indptr[i], item_indptr[i + 1]):
            user, x = item_users[s], item_values[s]
            for t in range(user_indptr[user], user_indptr[user + 1]):
                j, y = user_items[t], user_values[t]
                if sums[j, 0] == 0.0:
                    touched[n_touched] = j
                    n_touched += 1
                sums[j, 0] += 1.0
                sums[j, 1] += x
                sums[j, 2] += y
                sums[j, 3] += x * x
                sums[j, 4] += y * y
                sums[j, 5] += x * y
        first = used
        for t in range(n_touched):
            j = touched[t]
            n, sx, sy = sums[j, 0], sums[j, 1], sums[j, 2]
            xx, yy = n * sums[j, 3], n * sums[j, 4]
            x_variance, y_variance = xx - sx * sx, yy - sy * sy
            covariance = n * sums[j, 5] - sx * sy
            is_varied = x_variance > 1e-12 * xx and y_variance > 1e-12 * yy
            if j != i and is_varied and (covariance > 0.0 or (is_signed and covariance < 0.0)):
                similarity = n / (n + shrinkage) * (covariance / math.sqrt(x_variance * y_variance))
                out_items[used] = j
                out_similarities[used] = similarity
                used += 1
            sums[j, :] = 0.0
        lengths[i - start] = used - first
    return used


@njit(numba.void(READ_I64, READ_U64, float64[::1], int32[::1], float64[::1]))
def unpack_sorted(
    bounds: NDArray[np.int64],
    keys: NDArray[np.uint64],
    scratch: NDArray[np.float64],
    items: NDArray[np.int32],
    similarities: NDArray[np.float64],
) -> None:
    """Put each row's pairs, in place, into the order of its sorted keys, ties of the keys' float32 resolved.

    `keys` hold the item in their low half; `scratch` has a place for each item. The order is by falling
    similarity, then by item.
    """
    for row in range(bounds.shape[0] - 1):
        first, last = bounds[row], bounds[row + 1]
        for t in range(first, last):
            scratch[items[t]] = similarities[t]
        for t in range(first, last):
            item = np.int32(keys[t] & np.uint64(0xFFFFFFFF))
            similarity = scratch[item]
            at = t
            while at > first and (
                similarities[at - 1] < similarity or (similarities[at - 1] == similarity and items[at - 1] > item)
            ):
                similarities[at] = similarities[at - 1]
                items[at] = items[at - 1]
                at -= 1
            similarities[at] = similarity
            items[at] = item


@njit(numba.void(float64[::1], float64[::1]))
def _finish(total: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
    """Set items without a neighbour to -inf, and divide the others by their weights."""
    for i in range(total.shape[0]):
        if weights[i] == 0.0:
            total[i] = -np.inf
        else:
            total[i] /= weights[i]


@njit(numba.void(READ_I64, *PROFILES, *NEIGHBOURS, boolean, float64[:, ::1]))
def scatter_sums(
    rows: NDArray[np.int64],
    profile_indptr: NDArray[np.int64],
    profile_items: NDArray[np.int32],
    signals: NDArray[np.float64],
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    similarities: NDArray[np.float64],
    is_mean: bool,
    out: NDArray[np.float64],
) -> None:
    """Sum d_ij * signal_j over all neighbours j of i in the profile, for the profiles named by `rows`.

    `indptr`, `items` and `similarities` hold for each item j the items i that it is a neighbour of.

    A mean divides by the sum of absolute similarities. Where none is asked for, sums begin at -0.0, which adding
    anything turns into a number of another sign or value: what is still -0.0 at the end has no neighbour, and no second
    sum need be kept.
    """
    weights = np.empty(out.shape[1])
    for row in rows:
        total = out[row]
        if is_mean:
            total[:] = 0.0
            weights[:] = 0.0
        else:
            total[:] = -0.0
        for s in range(profile_indptr[row], profile_indptr[row + 1]):
            j, signal = profile_items[s], signals[s] + 0.0
            first, last = np.uint64(indptr[j]), np.uint64(indptr[j + 1])
            if is_mean:
                for t in range(first, last):
                    i = np.uint32(items[t])
                    weights[i] += abs(similarities[t])
                    total[i] += similarities[t] * signal
            else:
                for t in range(first, last):
                    total[np.uint32(items[t])] += similarities[t] * signal
        if is_mean:
            _finish(total, weights)
        else:
            for at in range(total.shape[0]):
                if total[at] == 0.0 and math.copysign(1.0, total[at]) < 0.0:
                    total[at] = -np.inf
