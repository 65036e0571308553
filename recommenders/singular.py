"""Leading right singular vectors of a sparse matrix, by the cheapest exact route for its shape."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.errors import ParameterError
from recommenders.blockwise import dense_gram
from recommenders.krylov import leading_right_vectors
from recommenders.progress import Progress, silent, within
from recommenders.shared import Remembered

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
    gram: Callable[[Progress], NDArray[np.float64] | None] = lambda progress: None,
    progress: Progress = silent,
) -> NDArray[np.float64]:
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
_remembered: Remembered[dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]] = Remembered()


def takes_lanczos(n_rows: int, n_columns: int, factors: int) -> bool:
    """Whether block Lanczos is tried for so many vectors of a matrix of this shape, before a dense eigenproblem."""
    return min(n_rows, n_columns) > LARGEST_GRAM and factors < LANCZOS_SHARE * n_columns


def _settled(vectors: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Set what carries nothing to 0, in place, and fix signs."""
    vectors[:, ~_is_carrying(values)] = 0.0
    return np.ascontiguousarray(vectors * _signs(vectors))


def _by_column_gram(
    matrix: sparse.csr_array,
    factors: int,
    gram: Callable[[Progress], NDArray[np.float64] | None],
    progress: Progress,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    adding = within(progress, 0.0, GRAM_WORK)
    existing = gram(adding)
    matrix_gram = dense_gram(sparse.csr_array(matrix.T), adding) if existing is None else existing
    values, vectors = _leading_eigenpairs(matrix_gram, factors, progress)
    return vectors, values


def _by_row_gram(
    matrix: sparse.csr_array,
    factors: int,
    gram: Callable[[Progress], NDArray[np.float64] | None],
    progress: Progress,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values, left = _leading_eigenpairs(dense_gram(matrix, within(progress, 0.0, GRAM_WORK)), factors, progress)
    is_carrying = _is_carrying(values)
    scaled = np.zeros_like(left)
    scaled[:, is_carrying] = left[:, is_carrying] / values[is_carrying]
    vectors = np.asarray(matrix.T.tocsr() @ scaled, dtype=np.float64)
    if is_carrying.any() and values[is_carrying][-1] < ORTHOGONAL_SHARE * values[0]:
        vectors[:, is_carrying] = np.linalg.qr(vectors[:, is_carrying])[0]
    return vectors, values


def _leading_eigenpairs(
    gram: NDArray[np.float64], count: int, progress: Progress
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return square roots of the largest eigenvalues, falling, and their eigenvectors as columns."""
    from scipy.linalg import eigh

    size = gram.shape[0]
    progress(GRAM_WORK, f"Solving the eigenproblem of {size:,} rows, which cannot be interrupted")
    # float64: in float32 the eigenvectors' residuals are 1e-7 instead of 1e-15.
    values, vectors = eigh(gram, subset_by_index=(size - count, size - 1), driver="evr")
    return np.sqrt(np.maximum(values[::-1], 0.0)), np.array(vectors[:, ::-1], dtype=np.float64)


def _is_carrying(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray((values > NULL_SHARE * values[0]) & (values > 0))


def _signs(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 or -1 for each column; entries equal up to rounding count as equally large."""
    sizes = np.abs(vectors)
    is_largest = sizes >= sizes.max(axis=0) * (1 - 1e-9)
    leading = vectors[is_largest.argmax(axis=0), np.arange(vectors.shape[1])]
    return np.where(leading < 0, -1.0, 1.0)
