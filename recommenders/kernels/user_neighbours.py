"""Compiled loops of the user neighbourhoods.

Profile by profile, single-threaded, in one fixed order, so that results do not depend on batches.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import boolean, float32, float64, int64
from numpy.typing import NDArray

from recommenders.kernels.arrays import READ_F64, READ_I32, READ_I64, njit

READ_F32 = numba.types.Array(float32, 1, "C", readonly=True)
# A profile, or one side of the training matrix: where rows end, columns, ratings.
PROFILE = (READ_I32, READ_F64)
SIDE = (READ_I64, READ_I32, READ_F32)


@njit(numba.void(*PROFILE, *SIDE, READ_F64, float64, float64[::1], int64[::1]))
def pearson_weights(
    profile_items: NDArray[np.int32],
    departures: NDArray[np.float64],
    item_indptr: NDArray[np.int64],
    item_users: NDArray[np.int32],
    item_ratings: NDArray[np.float32],
    means: NDArray[np.float64],
    negligible: float,
    weights: NDArray[np.float64],
    common: NDArray[np.int64],
) -> None:
    """Write each user's correlation with the profile, and the number of items both rated.

    `departures` are the profile's ratings less their mean. Departures below `negligible` count as 0.
    """
    sums = np.zeros((weights.shape[0], 3))  # xy, xx, yy
    common[:] = 0
    for s in range(profile_items.shape[0]):
        x = departures[s]
        if abs(x) < negligible:
            x = 0.0
        for t in range(item_indptr[profile_items[s]], item_indptr[profile_items[s] + 1]):
            user = item_users[t]
            y = item_ratings[t] - means[user]
            if abs(y) < negligible:
                y = 0.0
            common[user] += 1
            sums[user, 0] += x * y
            sums[user, 1] += x * x
            sums[user, 2] += y * y
    for user in range(weights.shape[0]):
        size = sums[user, 1] * sums[user, 2]
        weights[user] = sums[user, 0] / math.sqrt(size) if size > 0.0 else 0.0


@njit(numba.void(*PROFILE, *SIDE, READ_F64, float64, float64[::1], int64[::1]))
def cosine_weights(
    profile_items: NDArray[np.int32],
    profile_ratings: NDArray[np.float64],
    item_indptr: NDArray[np.int64],
    item_users: NDArray[np.int32],
    item_ratings: NDArray[np.float32],
    norms: NDArray[np.float64],
    middle: float,
    weights: NDArray[np.float64],
    common: NDArray[np.int64],
) -> None:
    """Write each user's cosine with the profile over ratings above `middle`, and the number of items both
    rated so.

    `norms` are over all of a user's ratings above `middle`.
    """
    weights[:] = 0.0
    common[:] = 0
    square = 0.0
    for s in range(profile_items.shape[0]):
        x = profile_ratings[s]
        if x <= middle:
            continue
        square += x * x
        for t in range(item_indptr[profile_items[s]], item_indptr[profile_items[s] + 1]):
            y = float64(item_ratings[t])
            if y > middle:
                weights[item_users[t]] += x * y
                common[item_users[t]] += 1
    for user in range(weights.shape[0]):
        if common[user] > 0:
            weights[user] /= math.sqrt(square) * norms[user]


# How much dearer it is to look up and sort an item's rater than to pass a rating on the walk.
LOOKUP_COST = 64


@njit(numba.void(READ_I64, READ_F64, *SIDE, *SIDE, READ_F64, READ_I64, int64, boolean, boolean, float64[::1]))
def predict(
    order: NDArray[np.int64],
    weights: NDArray[np.float64],
    user_indptr: NDArray[np.int64],
    user_items: NDArray[np.int32],
    user_ratings: NDArray[np.float32],
    item_indptr: NDArray[np.int64],
    item_users: NDArray[np.int32],
    item_ratings: NDArray[np.float32],
    offsets: NDArray[np.float64],
    popularity: NDArray[np.int64],
    neighbours: int,
    is_among_raters: bool,
    is_missing_zero: bool,
    out: NDArray[np.float64],
) -> None:
    """Write the weighted mean of the neighbours' ratings less their offsets; -inf where there is none.

    `order` holds users by falling weight, those of weight 0 left out. With `is_missing_zero` the divisor is
    the weight of all neighbours, whether or not they rated the item; it then needs neighbours that are the
    same for all items, which they are among all users only.

    Among raters, the walk over users ends as soon as it is cheaper to look up the raters of each item that
    still lacks neighbours. Either way an item's neighbours are added up in the same order.
    """
    n_items = out.shape[0]
    n_found = np.zeros(n_items, dtype=np.int64)
    total = np.zeros(n_items)
    divisor = np.zeros(n_items)
    total_weight = 0.0
    last = order.shape[0] if is_among_raters else min(neighbours, order.shape[0])
    to_walk, to_look_up = 0, np.sum(popularity)
    for at in range(last):
        to_walk += user_indptr[order[at] + 1] - user_indptr[order[at]]
    walked = 0
    while walked < last and (not is_among_raters or LOOKUP_COST * to_look_up >= to_walk):
        user = order[walked]
        total_weight += abs(weights[user])
        for t in range(user_indptr[user], user_indptr[user + 1]):
            j = user_items[t]
            if n_found[j] < neighbours:
                n_found[j] += 1
                total[j] += weights[user] * (user_ratings[t] - offsets[user])
                divisor[j] += abs(weights[user])
                if n_found[j] == neighbours:
                    to_look_up -= popularity[j]
        to_walk -= user_indptr[user + 1] - user_indptr[user]
        walked += 1
    if walked < last:
        rank = np.full(offsets.shape[0], -1)
        for at in range(walked, last):
            rank[order[at]] = at
        for j in range(n_items):
            if n_found[j] < neighbours:
                first, n_raters = item_indptr[j], item_indptr[j + 1] - item_indptr[j]
                keys = np.empty(n_raters, dtype=np.int64)
                n_left = 0
                for s in range(n_raters):
                    if rank[item_users[first + s]] >= 0:
                        keys[n_left] = rank[item_users[first + s]] * n_raters + s
                        n_left += 1
                nearest = np.sort(keys[:n_left])
                for s in range(min(n_left, neighbours - n_found[j])):
                    t = first + nearest[s] % n_raters
                    user = item_users[t]
                    total[j] += weights[user] * (item_ratings[t] - offsets[user])
                    divisor[j] += abs(weights[user])
                n_found[j] += n_left
    is_whole = is_missing_zero and not is_among_raters and total_weight > 0.0
    for j in range(n_items):
        if is_whole and popularity[j] > 0:
            out[j] = total[j] / total_weight
        elif n_found[j] > 0:
            out[j] = total[j] / divisor[j]
        else:
            out[j] = -np.inf
