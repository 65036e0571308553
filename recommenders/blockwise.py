"""Products of a sparse matrix with its own transpose, block of rows by block of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders.progress import Progress, blocks, silent

# Multiplications between two reports: a fraction of a second of a sparse product.
BLOCK_STEPS = 50_000_000
# Entries that a block of a product has at most, about 50 MB; a row with more is a block of its own.
BLOCK_PAIRS = 4_000_000


def steps_of_rows(rows: sparse.csr_array, matrix: sparse.csr_array) -> NDArray[np.float64]:
    """The multiplications that each row of the sparse product ``rows @ matrix`` takes. Returns a float64 array, shape
    (n_rows,).

    `rows`: sparse array, shape (n_rows, n). `matrix`: sparse array, shape (n, n_columns).
    """
    lengths = np.diff(matrix.indptr)[rows.indices].astype(np.float64)
    owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.asarray(np.bincount(owners, weights=lengths, minlength=rows.shape[0]), dtype=np.float64)


def dense_gram(rows: sparse.csr_array, progress: Progress = silent) -> NDArray[np.float64]:
    r"""The symmetric product :math:`A A^\top`.

    `rows`: sparse float64 array, shape (n, m); A. Returns a float64 array, shape (n, n), in column order, as linear
    algebra libraries take it without a copy. Each sum runs over the columns of A in their order, however the rows are
    cut.

    Examples
    --------
    >>> dense_gram(sparse.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]]))).tolist()
    [[5.0, 6.0], [6.0, 9.0]]
    """
    transposed = sparse.csr_array(rows.T)
    gram = np.zeros((rows.shape[0], rows.shape[0]))
    # A block ends where either limit is reached.
    costs = np.maximum(steps_of_rows(rows, transposed), rows.shape[0] * (BLOCK_STEPS / BLOCK_PAIRS))
    for start, stop, share in blocks(costs, BLOCK_STEPS):
        progress(share, f"Multiplying rows {start + 1:,} to {stop:,} of {rows.shape[0]:,}")
        (sparse.csr_array(rows[start:stop]) @ transposed).toarray(out=gram[start:stop])
    return gram.T
