"""Compiled product of a sparse matrix with four vectors at once.

Every row is added up by itself in one fixed order, so results do not depend on how rows are shared out.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import float64, int64
from numpy.typing import NDArray

from recommenders.kernels.arrays import READ_F64, READ_I32, READ_I64, njit

# Vectors that are multiplied together. More of them cost less each, but more of them are needed.
WIDTH = 4


@njit(
    numba.void(int64, int64, READ_I64, READ_I32, READ_F64, float64[:, ::1], float64[:, ::1]),
    fastmath={"contract"},  # a product and its addition are one instruction
)
def multiply(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    columns: NDArray[np.int32],
    values: NDArray[np.float64],
    vectors: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write rows first..last of the product; `vectors` and `out` have `WIDTH` columns."""
    for row in range(first, last):
        a = b = c = d = 0.0
        for t in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            value, vector = values[t], vectors[np.uint32(columns[t])]
            a += value * vector[0]
            b += value * vector[1]
            c += value * vector[2]
            d += value * vector[3]
        out[row, 0] = a
        out[row, 1] = b
        out[row, 2] = c
        out[row, 3] = d
