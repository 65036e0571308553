"""Compiled selection of the best items of rows of scores."""

from __future__ import annotations

import numba
import numpy as np
from numba import boolean, float32, float64, int64
from numpy.typing import NDArray

from recommenders.kernels.arrays import NEIGHBOURS, READ_F64, READ_I32, READ_I64, njit

# Scores that are compared with a list's last before any of them is looked at by itself.
TOGETHER = 64
# The bits of -0.0, seen as a whole number.
NOTHING = -(2**63)
# The scale of ratings (lowest, step, highest code) and what a baseline predicts with: mean, items' biases, shrinkage.
BASELINE = (float64, float64, float64, float64, READ_F64, float64)


@njit(boolean(float64, int64, int64, float64, int64, int64), inline="always")
def _is_before(score: float, count: int, item: int, score_b: float, count_b: int, item_b: int) -> bool:
    """Whether an item stands before another: by score, then popularity, then number."""
    if score != score_b:
        return score > score_b
    if count != count_b:
        return count > count_b
    return item < item_b


@njit(
    int64(
        numba.types.Array(float64, 2, "C", readonly=True), READ_I64, READ_I64, READ_I32, int64[:, ::1], float64[:, ::1]
    )
)
def best(
    scores: NDArray[np.float64],
    popularity: NDArray[np.int64],
    own_indptr: NDArray[np.int64],
    own_items: NDArray[np.int32],
    items: NDArray[np.int64],
    values: NDArray[np.float64],
) -> int:
    """Write each row's best items, as many as `items` has columns, and their scores; return the first NaN's place.

    That is row times number of items plus item, or -1 where there is none. A row's own items are left out; places
    that no item is left for hold item -1 and score -inf.
    """
    n_items, n = scores.shape[1], items.shape[1]
    is_own = np.zeros(n_items, dtype=np.bool_)
    for row in range(scores.shape[0]):
        for s in range(own_indptr[row], own_indptr[row + 1]):
            is_own[own_items[s]] = True
        listed, listed_scores = items[row], values[row]
        used = 0
        cut = -np.inf
        for first in range(0, n_items, TOGETHER):
            last = min(first + TOGETHER, n_items)
            if used == n:
                # Most scores are below the list's last: looked at together they cost next to nothing.
                n_worth = 0
                for i in range(first, last):
                    n_worth += not scores[row, i] < cut
                if n_worth == 0:
                    continue
            for i in range(first, last):
                score = scores[row, i]
                if score < cut or is_own[i]:
                    continue
                if np.isnan(score):
                    at: int = row * n_items + i
                    return at
                if used == n:
                    worst = listed[n - 1]
                    if not _is_before(score, popularity[i], i, cut, popularity[worst], worst):
                        continue
                    at = n - 1
                else:
                    at = used
                    used += 1
                while at > 0 and _is_before(
                    score, popularity[i], i, listed_scores[at - 1], popularity[listed[at - 1]], listed[at - 1]
                ):
                    listed[at] = listed[at - 1]
                    listed_scores[at] = listed_scores[at - 1]
                    at -= 1
                listed[at] = i
                listed_scores[at] = score
                if used == n:
                    cut = listed_scores[n - 1]
        for at in range(used, n):
            listed[at] = -1
            listed_scores[at] = -np.inf
        for s in range(own_indptr[row], own_indptr[row + 1]):
            is_own[own_items[s]] = False
    return -1


@njit(
    numba.void(
        READ_I64,
        READ_I32,
        numba.types.Array(float32, 1, "C", readonly=True),
        numba.types.Array(float64, 2, "C", readonly=True),
        float64[:, ::1],
    )
)
def fold(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    ratings: NDArray[np.float32],
    factors: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write each profile's ratings times the factors of their items."""
    for row in range(out.shape[0]):
        total = out[row]
        total[:] = 0.0
        for s in range(indptr[row], indptr[row + 1]):
            rating, vector = float64(ratings[s]), factors[items[s]]
            for f in range(total.shape[0]):
                total[f] += rating * vector[f]


@njit(
    boolean(
        int64[::1], float32[::1], *BASELINE, *NEIGHBOURS, READ_I64, boolean, boolean, int64[:, ::1], float64[:, ::1]
    )
)
def answer(
    items: NDArray[np.int64],
    ratings: NDArray[np.float32],
    low: float,
    step: float,
    highest: float,
    mean: float,
    item_bias: NDArray[np.float64],
    reg_user: float,
    indptr: NDArray[np.int64],
    neighbours: NDArray[np.int32],
    similarities: NDArray[np.float64],
    popularity: NDArray[np.int64],
    is_mean: bool,
    is_of_ratings: bool,
    listed: NDArray[np.int64],
    values: NDArray[np.float64],
) -> bool:
    """Write one person's best items by an item neighbourhood, from the profile to the list in one go.

    The sums are those of `Baseline` and of `recommenders.kernels.neighbours.scatter_sums`, term by term in the same
    order, so the list and its scores are the same to the last bit. Returns False, with nothing written, for an
    invalid profile; the caller finds the reason. Sorts `items` and `ratings` in place.
    """
    n, n_items = items.shape[0], popularity.shape[0]
    for s in range(n):
        item, rating = items[s], ratings[s]
        code = (float64(rating) - low) / step
        if item < 0 or item >= n_items or not -1e-4 <= code <= highest + 1e-4:
            return False
        at = s
        while at > 0 and items[at - 1] > item:
            items[at], ratings[at] = items[at - 1], ratings[at - 1]
            at -= 1
        if at > 0 and items[at - 1] == item:
            return False
        items[at], ratings[at] = item, rating
    bias = 0.0
    for s in range(n):
        bias += float64(ratings[s]) - mean - item_bias[items[s]]
    bias = bias / (n + reg_user) if n + reg_user > 0.0 else 0.0
    total, weights = np.full(n_items, -0.0), np.zeros(n_items if is_mean else 0)
    for s in range(n):
        j = items[s]
        signal = float64(ratings[s])
        if not is_of_ratings:
            signal = signal - (mean + bias + item_bias[j]) + 0.0
        for t in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            neighbour = np.uint32(neighbours[t])
            if is_mean:
                weights[neighbour] += abs(similarities[t])
            total[neighbour] += similarities[t] * signal
    level = mean + bias
    if is_mean:
        for i in range(n_items):
            total[i] = total[i] / weights[i] + 0.0 if weights[i] > 0.0 else total[i]  # 0.0 where it would be -0.0
    # What is still -0.0 has no neighbour; told without a branch and written elsewhere, so that several go at once.
    scores, bits = np.empty((1, n_items)), total.view(np.int64)
    row = scores[0]
    if is_of_ratings:
        for i in range(n_items):
            row[i] = -np.inf if bits[i] == NOTHING else total[i]
    else:
        for i in range(n_items):
            row[i] = -np.inf if bits[i] == NOTHING else total[i] + (level + item_bias[i])
    return best(scores, popularity, np.array([0, n]), items.astype(np.int32), listed, values) < 0
