"""Leading right singular vectors of a sparse matrix, by the cheapest exact route for its shape."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
from scipy import sparse

from core.errors import ParameterError
from recommenders.data import Flags, Floats, Side, side_of
from recommenders.products import Remembered, dense_gram
from recommenders.progress import Progress, silent, within
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


def leading_right_vectors(
    matrix: sparse.csr_array, count: int, rng: np.random.Generator, progress: Progress = silent
) -> tuple[Floats, Floats] | None:
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
) -> tuple[Floats, Floats] | None:
    from recommenders.kernels.krylov import WIDTH

    n_columns = matrix.shape[1]
    limit = n_columns // 2
    sides = side_of(matrix), side_of(matrix.T.tocsr())
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


def _grown(matrix: Floats, n_columns: int) -> Floats:
    grown = np.zeros((matrix.shape[0], n_columns), order="F")
    grown[:, : matrix.shape[1]] = matrix
    return grown


def _times(side: Side, vectors: Floats) -> Floats:
    """Return the product of one side of the matrix with a block of vectors, rows shared out among threads."""
    from recommenders.kernels.krylov import multiply

    indptr = side[0]
    out = np.empty((indptr.size - 1, vectors.shape[1]))
    n_ranges = 4 * numeric_threads() if indptr[-1] >= SHARED_ENTRIES else 1
    cuts = np.searchsorted(indptr, indptr[-1] * np.arange(1, n_ranges) / n_ranges)
    bounds = np.unique(np.concatenate(([0], cuts, [indptr.size - 1])))
    each(lambda at: multiply(bounds[at], bounds[at + 1], *side, vectors, out), range(bounds.size - 1))
    return out


# Up to this many rows or columns the dense eigenproblem of the smaller Gram matrix takes a second or two at most.
LARGEST_GRAM = 2500
# Beyond it block Lanczos wins, unless so large a share of all vectors is wanted that its basis would be as large.
LANCZOS_SHARE = 1 / 12
# Eigenpairs are computed in batches of this size: the leading 50 are then those of 300, to the last bit.
BATCH = 300
# A Gram matrix squares the singular values: below about sqrt(machine epsilon) of the largest they are noise.
NULL_SHARE = 1e-6
# What the Gram matrix takes of the whole, about, with the eigenproblem; only the progress is told by it.
GRAM_WORK = 0.5
# Vectors recovered through the other side of the matrix lose orthogonality with the square of this ratio.
ORTHOGONAL_SHARE = 1e-3


def right_singular_vectors(
    matrix: sparse.csr_array,
    factors: int,
    rng: np.random.Generator,
    *,
    what: str,
    gram: Callable[[Progress], Floats | None] = lambda progress: None,
    progress: Progress = silent,
) -> Floats:
    r"""The right singular vectors of the largest singular values.

    Three routes, chosen by shape alone so that the same input takes the same one: the float64 eigenproblem of
    :math:`A^\top A`, that of :math:`A A^\top`, or block Lanczos with a start drawn from `rng`. The eigenpairs of the
    matrix last asked about are held as long as it lives, so that models with other numbers of factors on the same data
    cost nothing more. Each vector's sign is fixed: the first of its entries that is as large as any in absolute value
    is positive. Raises ParameterError when `factors` exceeds the smaller side of the matrix.

    `matrix`: sparse array, shape (n_rows, n_columns); finite; absent entries are 0. `rng`: used by the Lanczos route
    only. `what`: words for rows and columns in the error, such as ``"users, items"``. `gram`: returns :math:`A^\top A`
    where the caller has it already, else None; reports the progress of computing it. `progress`: told how far this is.
    The dense eigenproblem is a single call of a library that cannot be interrupted. Returns a float64 array, shape
    (n_columns, factors): orthonormal columns by falling singular value. Where the matrix has a lower rank than
    `factors`, the columns beyond its rank (singular value below 1e-6 of the largest) are 0: they carry nothing.

    Examples
    --------
    >>> matrix = sparse.csr_array(np.array([[3.0, 0.0], [0.0, 1.0]]))
    >>> vectors = right_singular_vectors(matrix, 1, np.random.default_rng(0), what="users, items")
    >>> np.abs(vectors.round(12)).tolist()
    [[1.0], [0.0]]
    """
    n_rows, n_columns = matrix.shape
    smaller = min(n_rows, n_columns)
    if factors > smaller:
        raise ParameterError(
            f"{factors} factors are more than the data can have: the maximum is min({what}) = {smaller}."
        )
    if takes_lanczos(n_rows, n_columns, factors):
        pair = leading_right_vectors(matrix.astype(np.float64), factors, rng, within(progress, 0.0, 0.8))
        progress = within(progress, 0.8, 1.0)
        if pair is not None:
            return _settled(*pair)
    count = min(smaller, -(-factors // BATCH) * BATCH)
    pairs = _remembered.of(matrix, dict)
    if count not in pairs:
        by = _by_column_gram if n_columns <= n_rows else _by_row_gram
        pairs[count] = by(matrix.astype(np.float64), count, gram, progress)
    vectors, values = pairs[count]
    return _settled(vectors[:, :factors].copy(), values[:factors])


# The eigenpairs of the matrix last asked about, by their number.
_remembered: Remembered[dict[int, tuple[Floats, Floats]]] = Remembered()


def takes_lanczos(n_rows: int, n_columns: int, factors: int) -> bool:
    """Whether block Lanczos is tried for so many vectors of a matrix of this shape, before a dense eigenproblem."""
    return min(n_rows, n_columns) > LARGEST_GRAM and factors < LANCZOS_SHARE * n_columns


def _settled(vectors: Floats, values: Floats) -> Floats:
    """Set what carries nothing to 0, in place, and fix signs."""
    vectors[:, ~_is_carrying(values)] = 0.0
    return np.ascontiguousarray(vectors * _signs(vectors))


def _by_column_gram(
    matrix: sparse.csr_array, factors: int, gram: Callable[[Progress], Floats | None], progress: Progress
) -> tuple[Floats, Floats]:
    adding = within(progress, 0.0, GRAM_WORK)
    existing = gram(adding)
    matrix_gram = dense_gram(sparse.csr_array(matrix.T), adding) if existing is None else existing
    values, vectors = _leading_eigenpairs(matrix_gram, factors, progress)
    return vectors, values


def _by_row_gram(
    matrix: sparse.csr_array, factors: int, gram: Callable[[Progress], Floats | None], progress: Progress
) -> tuple[Floats, Floats]:
    values, left = _leading_eigenpairs(dense_gram(matrix, within(progress, 0.0, GRAM_WORK)), factors, progress)
    is_carrying = _is_carrying(values)
    scaled = np.zeros_like(left)
    scaled[:, is_carrying] = left[:, is_carrying] / values[is_carrying]
    vectors = np.asarray(matrix.T.tocsr() @ scaled, dtype=np.float64)
    if is_carrying.any() and values[is_carrying][-1] < ORTHOGONAL_SHARE * values[0]:
        vectors[:, is_carrying] = np.linalg.qr(vectors[:, is_carrying])[0]
    return vectors, values


def _leading_eigenpairs(gram: Floats, count: int, progress: Progress) -> tuple[Floats, Floats]:
    """Return square roots of the largest eigenvalues, falling, and their eigenvectors as columns."""
    from scipy.linalg import eigh

    size = gram.shape[0]
    progress(GRAM_WORK, f"Solving the eigenproblem of {size:,} rows, which cannot be interrupted")
    # float64: in float32 the eigenvectors' residuals are 1e-7 instead of 1e-15.
    values, vectors = eigh(gram, subset_by_index=(size - count, size - 1), driver="evr")
    return np.sqrt(np.maximum(values[::-1], 0.0)), np.array(vectors[:, ::-1], dtype=np.float64)


def _is_carrying(values: Floats) -> Flags:
    return np.asarray((values > NULL_SHARE * values[0]) & (values > 0))


def _signs(vectors: Floats) -> Floats:
    """Return 1 or -1 for each column; entries equal up to rounding count as equally large."""
    sizes = np.abs(vectors)
    is_largest = sizes >= sizes.max(axis=0) * (1 - 1e-9)
    leading = vectors[is_largest.argmax(axis=0), np.arange(vectors.shape[1])]
    return np.where(leading < 0, -1.0, 1.0)
