"""Compiled loops of implicit alternating least squares.

Each row's equations are built and solved by themselves in one fixed order, so that a row does not depend on its
company. Products and Cholesky's decomposition are the linear algebra library's.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import float64
from numpy.typing import NDArray

from recommenders.kernels.arrays import READ_I32, READ_I64, njit

READ_TABLE = numba.types.Array(float64, 2, "C", readonly=True)
# Entries whose factors are gathered and multiplied together: they stay in the cache, and the product is too small for
# the library to share it out among threads, which would cost more than it saves.
TOGETHER = 128


@njit(numba.void(READ_I64, READ_I32, READ_TABLE, READ_TABLE, float64, float64[:, ::1]))
def solve_rows(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    gram: NDArray[np.float64],
    column_factors: NDArray[np.float64],
    alpha: float,
    out: NDArray[np.float64],
) -> None:
    """Solve (gram + alpha * sum y yᵀ) x = (1 + alpha) * sum y for each row, y over its entries' factors.

    `gram` holds the sum over all others and the regularisation, so it is positive definite, as Cholesky's
    decomposition wants it; only the lower triangle is made.
    """
    size = gram.shape[0]
    lower, product, gathered = np.empty((size, size)), np.empty((size, size)), np.empty((TOGETHER, size))
    right = np.empty(size)
    for row in range(out.shape[0]):
        if indptr[row] == indptr[row + 1]:
            out[row] = 0.0
            continue
        lower[:, :] = gram
        right[:] = 0.0
        for start in range(indptr[row], indptr[row + 1], TOGETHER):
            stop = min(start + TOGETHER, indptr[row + 1])
            few = gathered[: stop - start]
            for s in range(start, stop):
                y, copied = column_factors[indices[s]], gathered[s - start]
                for a in range(size):
                    copied[a] = y[a]
                    right[a] += (1.0 + alpha) * y[a]
            np.dot(few.T, few, product)
            for a in range(size):
                for b in range(a + 1):
                    lower[a, b] += alpha * product[a, b]
        triangle = np.linalg.cholesky(lower)
        for a in range(size):
            value = right[a]
            for c in range(a):
                value -= triangle[a, c] * right[c]
            right[a] = value / triangle[a, a]
        for a in range(size - 1, -1, -1):
            right[a] /= triangle[a, a]
            value = right[a]
            for c in range(a):
                right[c] -= triangle[a, c] * value
        out[row] = right
