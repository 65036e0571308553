"""Compiled loops of implicit alternating least squares; import them through `recommenders.lazy` only.

Each row's equations are built and solved by one thread in one fixed order, so that a row does not depend on
its company.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import float64
from numpy.typing import NDArray

from recommenders.kernels.neighbours import READ_I32, READ_I64

__all__ = ["solve_rows"]

READ_TABLE = numba.types.Array(float64, 2, "C", readonly=True)


@numba.njit(
    numba.void(READ_I64, READ_I32, READ_TABLE, READ_TABLE, float64, float64[:, ::1]),
    cache=True,
    nogil=True,
)
def solve_rows(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    gram: NDArray[np.float64],
    others: NDArray[np.float64],
    alpha: float,
    out: NDArray[np.float64],
) -> None:
    """Solve (gram + alpha * sum y yᵀ) x = (1 + alpha) * sum y for each row, y over its entries' factors.

    `gram` holds the sum over all others and the regularisation, so it is positive definite, and Cholesky's
    decomposition needs no pivots.
    """
    size = gram.shape[0]
    lower = np.empty((size, size))
    right = np.empty(size)
    column = np.empty(size)
    for row in range(out.shape[0]):
        if indptr[row] == indptr[row + 1]:
            out[row] = 0.0
            continue
        lower[:, :] = gram
        right[:] = 0.0
        for s in range(indptr[row], indptr[row + 1]):
            y = others[indices[s]]
            for a in range(size):
                right[a] += (1.0 + alpha) * y[a]
                weight = alpha * y[a]
                for b in range(a + 1):
                    lower[a, b] += weight * y[b]
        # Column by column, each taken off what is left at once: the innermost loop has no sum to carry.
        for c in range(size):
            pivot = math.sqrt(lower[c, c])
            lower[c, c] = pivot
            for a in range(c + 1, size):
                lower[a, c] /= pivot
                column[a] = lower[a, c]
            for a in range(c + 1, size):
                weight = column[a]
                for b in range(c + 1, a + 1):
                    lower[a, b] -= weight * column[b]
        for a in range(size):
            value = right[a]
            for c in range(a):
                value -= lower[a, c] * right[c]
            right[a] = value / lower[a, a]
        for a in range(size - 1, -1, -1):
            value = right[a]
            for c in range(a + 1, size):
                value -= lower[c, a] * right[c]
            right[a] = value / lower[a, a]
        out[row] = right
