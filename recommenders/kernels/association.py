"""Compiled loops of the conditional probabilities.

Single-threaded and in one fixed order, so that results do not depend on batches.
"""

from __future__ import annotations

import numba
import numpy as np
from numba import float64, int64
from numpy.typing import NDArray

from recommenders.kernels.arrays import READ_I32, READ_I64, njit

__all__ = ["LARGEST", "NOISY_OR", "TOTAL", "aggregate"]

LARGEST, TOTAL, NOISY_OR = 0, 1, 2


@njit(numba.void(READ_I64, READ_I32, READ_I64, READ_I32, READ_I32, READ_I64, int64, float64[:, ::1]))
def aggregate(
    profile_indptr: NDArray[np.int64],
    profile_items: NDArray[np.int32],
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    common: NDArray[np.int32],
    counts: NDArray[np.int64],
    how: int,
    out: NDArray[np.float64],
) -> None:
    """Bring together pr(j | l) = common / counts[l] over the profile's items l; -inf where there is none."""
    left = np.empty(out.shape[1])
    for row in range(out.shape[0]):
        total = out[row]
        total[:] = -np.inf
        left[:] = 1.0
        for s in range(profile_indptr[row], profile_indptr[row + 1]):
            rated = profile_items[s]
            for t in range(indptr[rated], indptr[rated + 1]):
                j = items[t]
                share = common[t] / counts[rated]
                if how == LARGEST:
                    total[j] = max(total[j], share)
                elif how == TOTAL:
                    total[j] = max(total[j], 0.0) + share
                else:
                    left[j] *= 1.0 - share
                    total[j] = 1.0 - left[j]
