"""Compiled loops of AsySVD.

Single-threaded: racing updates would be faster still and never twice the same. With ``NUMBA_DISABLE_JIT=1``
these are the plain Python functions they look like.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import float64, int64
from numpy.typing import NDArray

from recommenders.kernels.arrays import READ_F64, READ_I32, READ_I64, njit

FACTORS = float64[:, ::1]

# Sums over factors may be reordered and fused, so that they run in vector registers; nothing else is relaxed.
SUMS = {"reassoc", "contract"}


@njit(numba.void(int64, int64, READ_I32, READ_F64, FACTORS, FACTORS, float64[::1]), fastmath=SUMS)
def _fold(
    first: int,
    last: int,
    items: NDArray[np.int32],
    residuals: NDArray[np.float64],
    explicit: NDArray[np.float64],
    implicit: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write n^-1/2 times the sum of e_j x_j + y_j over a profile of n >= 1 items."""
    norm = 1.0 / np.sqrt(last - first)
    out[:] = 0.0
    for s in range(first, last):
        j, residual = items[s], residuals[s]
        for f in range(out.shape[0]):
            out[f] += residual * explicit[j, f] + implicit[j, f]
    for f in range(out.shape[0]):
        out[f] *= norm


@njit(numba.void(READ_I64, READ_I64, READ_I32, READ_F64, FACTORS, FACTORS, FACTORS, float64, float64), fastmath=SUMS)
def descend(
    order: NDArray[np.int64],
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    residuals: NDArray[np.float64],
    item_factors: NDArray[np.float64],
    explicit: NDArray[np.float64],
    implicit: NDArray[np.float64],
    learning_rate: float,
    reg: float,
) -> None:
    """One epoch of stochastic gradient descent, in place, over the users in `order`, rating by rating.

    A step on one rating moves q_i and every x_j and y_j of the user's profile. The latter all move along q_i,
    by amounts that differ only in the residual of j; so the sum of the steps is gathered while the user's
    ratings are passed, the folded profile is moved along with it, and x and y are written once at the end.
    The result is that of moving them at every rating, at a fraction 1/n of the cost.
    """
    n_factors = item_factors.shape[1]
    profile = np.empty(n_factors)
    gathered = np.empty(n_factors)
    keep = 1.0 - learning_rate * reg
    for user in order:
        first, last = indptr[user], indptr[user + 1]
        n = last - first
        if n == 0:
            continue
        norm = 1.0 / np.sqrt(n)
        _fold(first, last, items, residuals, explicit, implicit, profile)
        squares = 0.0
        for s in range(first, last):
            squares += residuals[s] * residuals[s]
        pull = (squares + n) / n  # how far the folded profile moves when x and y move by one step
        gathered[:] = 0.0
        decay = 1.0
        for s in range(first, last):
            i = items[s]
            error = residuals[s]
            for f in range(n_factors):
                error -= item_factors[i, f] * profile[f]
            step = learning_rate * error
            for f in range(n_factors):
                moved = step * item_factors[i, f]
                item_factors[i, f] = keep * item_factors[i, f] + step * profile[f]
                profile[f] = keep * profile[f] + pull * moved
                gathered[f] = keep * gathered[f] + moved
            decay *= keep
        for s in range(first, last):
            j = items[s]
            scaled = norm * residuals[s]
            for f in range(n_factors):
                explicit[j, f] = decay * explicit[j, f] + scaled * gathered[f]
                implicit[j, f] = decay * implicit[j, f] + norm * gathered[f]


@njit(float64(READ_I64, READ_I32, READ_F64, READ_I64, READ_I32, READ_F64, FACTORS, FACTORS, FACTORS), fastmath=SUMS)
def squared_error(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    residuals: NDArray[np.float64],
    held_indptr: NDArray[np.int64],
    held_items: NDArray[np.int32],
    held_residuals: NDArray[np.float64],
    item_factors: NDArray[np.float64],
    explicit: NDArray[np.float64],
    implicit: NDArray[np.float64],
) -> float:
    """Sum of squared errors on held-out ratings, each user folded in from the profile that is left."""
    profile = np.empty(item_factors.shape[1])
    total = 0.0
    for user in range(indptr.shape[0] - 1):
        if held_indptr[user] == held_indptr[user + 1]:
            continue
        profile[:] = 0.0
        if indptr[user] < indptr[user + 1]:
            _fold(indptr[user], indptr[user + 1], items, residuals, explicit, implicit, profile)
        for s in range(held_indptr[user], held_indptr[user + 1]):
            error = held_residuals[s]
            for f in range(profile.shape[0]):
                error -= item_factors[held_items[s], f] * profile[f]
            total += error * error
    return total
