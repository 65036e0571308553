"""Leading eigenvectors of the Gram matrix of a large sparse matrix, which itself is never made."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders.progress import Progress, silent
from recommenders.threads import each, numeric_threads, one_library_thread

# A pair has converged when what is left of it is this small a share of the smallest eigenvalue wanted.
TOLERANCE = 1e-12
# The basis is first looked at with so many times the vectors wanted and some more, then when it is a tenth larger,
# and from then on when what is left should have fallen to the tolerance at the rate it fell so far, within bounds.
FIRST_LOOK, FIRST_EXTRA = 4, 200
LEAST_GROWTH, MOST_GROWTH = 0.05, 0.3
# Steps with a matrix of fewer entries are over before a second thread has begun.
SHARED_ENTRIES = 4_000_000
# Below this share of the largest eigenvalue a new direction is rounding error.
EXHAUSTED = 1e-10

Side = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]


def leading_right_vectors(
    matrix: sparse.csr_array, count: int, rng: np.random.Generator, progress: Progress = silent
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    r"""Right singular vectors and singular values by block Lanczos with full reorthogonalisation.

    The Krylov space of :math:`A^\top A` grows by four vectors at a time, drawn at the start from `rng`; the products
    with the sparse matrix then cost hardly more than one would. Of vectors that share one singular value no more than
    four are sure to be found, where they are the leading ones. Source: Golub & Underwood (1977), "The block Lanczos
    method for computing eigenvalues", Mathematical Software III.

    `matrix`: sparse float64 array, shape (n_rows, n_columns); A. `progress`: called before every product. Their number
    is unknown in advance; the share comes closer to 1 with each. Returns a float64 array, shape (n_columns, count), and
    float64 array, shape (count,): by falling singular value, each pair to 1e-12 of the smallest eigenvalue wanted.
    Nothing where the space would have to grow to more than half of all columns: then a dense decomposition is the
    cheaper way.

    Examples
    --------
    >>> matrix = sparse.diags_array(np.r_[9.0, 5.0, np.ones(400)]).tocsr()
    >>> vectors, values = leading_right_vectors(matrix, 2, np.random.default_rng(0))
    >>> values.round(9).tolist()
    [9.0, 5.0]
    """
    with one_library_thread() if matrix.nnz < SHARED_ENTRIES else nullcontext():
        return _leading_right_vectors(matrix, count, rng, progress)


def _leading_right_vectors(
    matrix: sparse.csr_array, count: int, rng: np.random.Generator, progress: Progress
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    from recommenders.kernels.krylov import WIDTH

    n_columns = matrix.shape[1]
    limit = n_columns // 2
    sides = _side(matrix), _side(matrix.T.tocsr())
    basis = np.empty((n_columns, 2 * count + 4 * WIDTH), order="F")
    projected = np.zeros((2 * count + 4 * WIDTH,) * 2)
    basis[:, :WIDTH] = np.linalg.qr(rng.standard_normal((n_columns, WIDTH)))[0]
    size = WIDTH
    looks: list[tuple[int, float]] = []
    look = expected = FIRST_LOOK * count + FIRST_EXTRA
    while True:
        progress(size / (size + expected), f"Growing the space of singular vectors: {size:,} of at most {limit:,}")
        moved = _times(sides[1], _times(sides[0], np.ascontiguousarray(basis[:, size - WIDTH : size])))
        # Only the last two blocks are not at right angles to it by construction; the rest are but for rounding.
        for first in (max(0, size - 2 * WIDTH), 0):
            along = basis[:, first:size].T @ moved
            moved -= basis[:, first:size] @ along
            projected[first:size, size - WIDTH : size] += along
        fresh, coupling = np.linalg.qr(moved)
        if size >= look or size + WIDTH > limit:
            square = projected[:size, :size]
            values, vectors = np.linalg.eigh((square + square.T) / 2)
            values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
            left = np.linalg.norm(coupling @ vectors[size - WIDTH :], axis=0)
            excess = float(left.max() / (TOLERANCE * max(values[-1], EXHAUSTED * values[0])))
            if excess <= 1.0:
                return np.ascontiguousarray(basis[:, :size] @ vectors), np.sqrt(np.maximum(values, 0.0))
            looks.append((size, np.log(excess)))
            look = _next_look(looks)
        if size + WIDTH > limit:
            return None
        is_spent = np.abs(coupling.diagonal()) <= EXHAUSTED * np.abs(projected[:size, :size]).max()
        if is_spent.any():
            # The space holds all that these directions lead to; new ones, at right angles to it, go on.
            fresh[:, is_spent] = rng.standard_normal((n_columns, int(is_spent.sum())))
            for _ in range(2):
                fresh = np.linalg.qr(fresh - basis[:, :size] @ (basis[:, :size].T @ fresh))[0]
            coupling = fresh.T @ moved
        if size + WIDTH > basis.shape[1]:
            basis, projected = _grown(basis, min(2 * size, limit)), _grown(_grown(projected, 2 * size).T, 2 * size)
        basis[:, size : size + WIDTH] = fresh
        projected[size : size + WIDTH, size - WIDTH : size] = coupling
        size += WIDTH


def _next_look(looks: list[tuple[int, float]]) -> int:
    """Return the size at which to look again, from sizes looked at and logarithms of what was left in tolerances."""
    size, left = looks[-1]
    if len(looks) == 1:
        return size + size // 10
    before, more = looks[-2]
    rate = (more - left) / (size - before)
    needed = left / rate if rate > 0.0 else np.inf
    return size + int(min(max(needed, LEAST_GROWTH * size), MOST_GROWTH * size))


def _grown(matrix: NDArray[np.float64], n_columns: int) -> NDArray[np.float64]:
    """Return the matrix with columns of 0 added."""
    grown = np.zeros((matrix.shape[0], n_columns), order="F")
    grown[:, : matrix.shape[1]] = matrix
    return grown


def _side(matrix: sparse.csr_array) -> Side:
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float64, copy=False),
    )


def _times(side: Side, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the product of one side of the matrix with a block of vectors, rows shared out among threads."""
    from recommenders.kernels.krylov import multiply

    indptr = side[0]
    out = np.empty((indptr.size - 1, vectors.shape[1]))
    n_ranges = 4 * numeric_threads() if indptr[-1] >= SHARED_ENTRIES else 1
    cuts = np.searchsorted(indptr, indptr[-1] * np.arange(1, n_ranges) / n_ranges)
    bounds = np.unique(np.concatenate(([0], cuts, [indptr.size - 1])))
    each(lambda at: multiply(bounds[at], bounds[at + 1], *side, vectors, out), range(bounds.size - 1))
    return out
