"""Entries of a matrix that are held out, and those that are left."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from core.errors import DataError
from recommenders.data import Flags, Integers


def draw_flags(n: int, share: float, rng: np.random.Generator, *, least: int = 0) -> Flags:
    """Draw a share of `n` entries, rounded down, but at least `least`. Returns which they are, shape (n,).

    Examples
    --------
    >>> int(draw_flags(9, 0.5, np.random.default_rng(1)).sum())
    4
    """
    is_drawn = np.zeros(n, dtype=np.bool_)
    is_drawn[rng.permutation(n)[: max(least, int(share * n))]] = True
    return is_drawn


def split(matrix: sparse.csr_array, is_held: Flags) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the other entries of a matrix, and those that are held out. `is_held`: of each stored entry, in order."""
    return part_of(matrix, np.flatnonzero(~is_held)), part_of(matrix, np.flatnonzero(is_held))


def part_of(matrix: sparse.csr_array, indexes: Integers) -> sparse.csr_array:
    """Return the matrix with only the stored entries at `indexes`, which ascend; rows and columns are unchanged.

    Examples
    --------
    >>> part_of(sparse.csr_array([[5.0, 1.0], [3.0, 0.0]]), np.array([1, 2])).toarray().tolist()
    [[0.0, 1.0], [3.0, 0.0]]
    """
    indptr = np.searchsorted(indexes, matrix.indptr).astype(matrix.indptr.dtype)
    return sparse.csr_array((matrix.data[indexes], matrix.indices[indexes], indptr), shape=matrix.shape)


def positions_of(part: sparse.csr_array, whole: sparse.csr_array) -> Integers:
    """Find the stored entries of a matrix among those of another; both have sorted rows, and the same shape.

    Returns an int64 array, shape (part.nnz,): positions in ``whole.data``. Raises DataError if `whole` lacks an entry.

    Examples
    --------
    >>> whole = sparse.csr_array([[5.0, 1.0], [3.0, 0.0]])
    >>> positions_of(part_of(whole, np.array([0, 2])), whole).tolist()
    [0, 2]
    """
    wanted, keys = _keys(part), _keys(whole)
    positions = np.searchsorted(keys, wanted)
    is_missing = keys[np.minimum(positions, keys.size - 1)] != wanted if keys.size else np.ones(wanted.size, np.bool_)
    if is_missing.any():
        row, column = divmod(int(wanted[is_missing][0]), part.shape[1])
        raise DataError(
            f"{int(is_missing.sum()):,} ratings are not among those of the dataset; the first is of row {row}, item "
            f"number {column}."
        )
    return positions.astype(np.int64)


def _keys(matrix: sparse.csr_array) -> Integers:
    rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return rows * matrix.shape[1] + matrix.indices
