"""Array types of the compiled loops, apart from the loops: importing a module of loops compiles it."""

from __future__ import annotations

from functools import partial

import numba
from numba import boolean, float64, int32, int64, types, uint32, uint64

# Kept on disk, for every process to load, and without the interpreter's lock, so that threads share out the work.
njit = partial(numba.njit, cache=True, nogil=True)


def _frozen(dtype: types.Type) -> types.Array:
    """Type of a contiguous vector that is only read: memory maps and plain arrays both fit."""
    return types.Array(dtype, 1, "C", readonly=True)


READ_BOOL = _frozen(boolean)
READ_I32, READ_I64, READ_F64 = _frozen(int32), _frozen(int64), _frozen(float64)
READ_U32, READ_U64 = _frozen(uint32), _frozen(uint64)

# Each side of a matrix is (indptr, indices, values).
PROFILES = NEIGHBOURS = (READ_I64, READ_I32, READ_F64)
# Several whole numbers are packed into each word.
WORDS = uint64[:, ::1]
