"""Leading right singular vectors of a sparse matrix, by the cheapest exact route for its shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.errors import ParameterError
from recommenders import lazy
from recommenders.products import dense_gram
from recommenders.progress import Progress, silent, within

__all__ = ["right_singular_vectors", "takes_lanczos"]

# Up to this many rows or columns the dense eigenproblem of the smaller Gram matrix takes seconds at most.
LARGEST_GRAM = 2500
# Beyond it Lanczos wins, unless so large a share of all vectors is wanted that its reorthogonalisation costs
# more: at 6,040 x 3,706 it takes 1 s for 50 vectors and 24 s for 300, the dense route 4 s for either.
LANCZOS_SHARE = 0.02
# A Gram matrix squares the singular values: below about sqrt(machine epsilon) of the largest they are noise.
NULL_SHARE = 1e-6
# Products that Lanczos takes for each vector, about; only the progress is told by it.
LANCZOS_PRODUCTS = 6
# What the Gram matrix takes of the whole, about, with the eigenproblem; likewise.
GRAM_WORK = 0.5
# Vectors recovered through the other side of the matrix lose orthogonality with the square of this ratio.
ORTHOGONAL_SHARE = 1e-3


def right_singular_vectors(
    matrix: sparse.csr_array,
    factors: int,
    rng: np.random.Generator,
    *,
    what: str,
    progress: Progress = silent,
) -> NDArray[np.float64]:
    r"""The right singular vectors of the largest singular values.

    Three routes, chosen by shape alone so that the same input takes the same one: the float64 eigenproblem of
    :math:`A^\top A`, that of :math:`A A^\top`, or Lanczos with a start vector drawn from `rng`. Each vector's
    sign is fixed: the first of its entries that is as large as any in absolute value is positive.

    Parameters
    ----------
    matrix : sparse array, shape (n_rows, n_columns)
        Finite; absent entries are 0.
    factors : int
        Number of vectors, >= 1.
    rng : numpy.random.Generator
        Used by the Lanczos route only.
    what : str
        Words for rows and columns in the error, such as ``"users, items"``.
    progress : callable, optional
        Told how far this is. The dense eigenproblem is a single call of a library that cannot be interrupted.

    Returns
    -------
    float64 array, shape (n_columns, factors)
        Orthonormal columns by falling singular value. Where the matrix has a lower rank than `factors`, the
        columns beyond its rank (singular value below 1e-6 of the largest) are 0: they carry nothing.

    Raises
    ------
    ParameterError
        If `factors` exceeds the smaller side of the matrix.

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
    exact = matrix.astype(np.float64)
    if takes_lanczos(smaller, factors):
        vectors, values = _by_lanczos(exact, factors, rng, progress)
    elif n_columns <= n_rows:
        vectors, values = _by_column_gram(exact, factors, progress)
    else:
        vectors, values = _by_row_gram(exact, factors, progress)
    vectors[:, ~_is_carrying(values)] = 0.0
    return np.ascontiguousarray(vectors * _signs(vectors))


def takes_lanczos(smaller: int, factors: int) -> bool:
    """Whether Lanczos finds so many vectors, of a matrix with this smaller side; else a dense eigenproblem does."""
    return smaller > LARGEST_GRAM and factors < LANCZOS_SHARE * smaller


def _by_column_gram(
    matrix: sparse.csr_array, factors: int, progress: Progress
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values, vectors = _leading_eigenpairs(sparse.csr_array(matrix.T), factors, progress)
    return vectors, values


def _by_row_gram(
    matrix: sparse.csr_array, factors: int, progress: Progress
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values, left = _leading_eigenpairs(matrix, factors, progress)
    is_carrying = _is_carrying(values)
    scaled = np.zeros_like(left)
    scaled[:, is_carrying] = left[:, is_carrying] / values[is_carrying]
    vectors = np.asarray(matrix.T.tocsr() @ scaled, dtype=np.float64)
    if is_carrying.any() and values[is_carrying][-1] < ORTHOGONAL_SHARE * values[0]:
        vectors[:, is_carrying] = np.linalg.qr(vectors[:, is_carrying])[0]
    return vectors, values


def _by_lanczos(
    matrix: sparse.csr_array, factors: int, rng: np.random.Generator, progress: Progress
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    start = rng.standard_normal(min(matrix.shape))
    library = lazy.sparse_linalg()
    by_column, done = matrix.T, 0

    def forth(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        nonlocal done
        done += 1
        # How many there will be nobody knows; the share comes closer to 1 with every product.
        progress(done / (done + LANCZOS_PRODUCTS * factors), f"Product {done:,} of the Lanczos iteration")
        return np.asarray(matrix @ vector)

    def back(vector: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(by_column @ vector)

    operator = library.LinearOperator(
        matrix.shape, matvec=forth, rmatvec=back, matmat=forth, rmatmat=back, dtype=matrix.dtype
    )
    _, values, rows = library.svds(operator, k=factors, v0=start, solver="arpack")
    order = np.argsort(-values, kind="stable")
    return np.array(rows[order].T, dtype=np.float64), np.asarray(values[order], dtype=np.float64)


def _leading_eigenpairs(
    matrix: sparse.csr_array, count: int, progress: Progress
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest singular values, falling, and their left singular vectors as columns."""
    size = matrix.shape[0]
    gram = dense_gram(matrix, within(progress, 0.0, GRAM_WORK))
    progress(GRAM_WORK, f"Solving the eigenproblem of {size:,} rows, which cannot be interrupted")
    # float64: in float32 the eigenvectors' residuals are 1e-7 instead of 1e-15.
    values, vectors = lazy.linalg().eigh(gram, subset_by_index=(size - count, size - 1), driver="evr", overwrite_a=True)
    return np.sqrt(np.maximum(values[::-1], 0.0)), np.array(vectors[:, ::-1], dtype=np.float64)


def _is_carrying(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray((values > NULL_SHARE * values[0]) & (values > 0))


def _signs(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 or -1 for each column; entries equal up to rounding count as equally large."""
    sizes = np.abs(vectors)
    is_largest = sizes >= sizes.max(axis=0) * (1 - 1e-9)
    leading = vectors[is_largest.argmax(axis=0), np.arange(vectors.shape[1])]
    return np.where(leading < 0, -1.0, 1.0)
