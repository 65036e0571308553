"""Compiled look-ups of ids that are numbers."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import boolean, int32, int64, void
from numpy.typing import NDArray

__all__ = ["are_known", "count", "is_ascending", "look_up", "mark"]

_NARROW = numba.types.Array(int32, 1, "C", readonly=True)
_WIDE = numba.types.Array(int64, 1, "C", readonly=True)


@numba.njit([void(_NARROW, boolean[::1]), void(_WIDE, boolean[::1])], cache=True, nogil=True)
def mark(ids: NDArray[np.integer[Any]], is_met: NDArray[np.bool_]) -> None:
    """Set the entry of each id; all are from 0 to the last entry."""
    for row in range(ids.shape[0]):
        is_met[np.uint64(ids[row])] = True


@numba.njit([void(_NARROW, int32[::1], int32[::1]), void(_WIDE, int32[::1], int32[::1])], cache=True, nogil=True)
def look_up(ids: NDArray[np.integer[Any]], table: NDArray[np.int32], entries: NDArray[np.int32]) -> None:
    """Write the entry of each id; -1 where it lies beyond the table. `found` may be `ids` itself."""
    last = table.shape[0] - 1
    for row in range(ids.shape[0]):
        key = ids[row]
        entries[row] = -1 if key < 0 or key > last else table[np.uint64(key)]


@numba.njit([boolean(_NARROW, int32[::1]), boolean(_WIDE, int32[::1])], cache=True, nogil=True)
def are_known(ids: NDArray[np.integer[Any]], table: NDArray[np.int32]) -> bool:
    """Whether each id has an entry of 0 or more."""
    last = table.shape[0] - 1
    for row in range(ids.shape[0]):
        key = ids[row]
        if key < 0 or key > last or table[np.uint64(key)] < 0:
            return False
    return True


@numba.njit([void(_NARROW, int64[::1])], cache=True, nogil=True)
def count(codes: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
    """Add 1 to the entry of each code; all are from 0 to the last entry."""
    for row in range(codes.shape[0]):
        counts[np.uint64(codes[row])] += 1


@numba.njit([boolean(_NARROW, _NARROW)], cache=True, nogil=True)
def is_ascending(users: NDArray[np.int32], items: NDArray[np.int32]) -> bool:
    """Whether each pair comes after the one before it, by user and then by item."""
    for row in range(1, users.shape[0]):
        if users[row] < users[row - 1] or (users[row] == users[row - 1] and items[row] <= items[row - 1]):
            return False
    return True
