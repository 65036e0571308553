"""A compiled look at ratings."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import boolean, float32, float64, void
from numpy.typing import NDArray

__all__ = ["TOLERANCE", "mark_points"]

TOLERANCE = 1e-4  # of a step
_SHORT = numba.types.Array(float32, 1, "C", readonly=True)
_LONG = numba.types.Array(float64, 1, "C", readonly=True)


@numba.njit(
    [void(_SHORT, float64, float64, float64, boolean[::1]), void(_LONG, float64, float64, float64, boolean[::1])],
    cache=True,
    nogil=True,
)
def mark_points(
    values: NDArray[np.floating[Any]], low: float, high: float, step: float, is_point: NDArray[np.bool_]
) -> None:
    """Say of each value whether it is one of `low`, `low` + `step`, … `high`; NaN is not."""
    most = (high - low) / step + 0.5
    for row in range(values.shape[0]):
        steps = (float(values[row]) - low) / step
        is_point[row] = -0.5 < steps < most and abs(steps - np.rint(steps)) <= TOLERANCE
