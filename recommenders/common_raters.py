"""Numbers of common raters of pairs of items: of all pairs, or of those that have any."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders.layout import ADDING, MOST_SINGLE, Layout, add_products, dense_rows, exactly_at_once, mirrored
from recommenders.progress import Progress, silent, within
from recommenders.threads import each


def binary_gram(user_items: sparse.csr_array, progress: Progress = silent) -> NDArray[np.uint32]:
    """Number of common raters of all pairs of items, and of each item on the diagonal.

    Raises DataError when there are 2 ** 32 ratings or more.

    `user_items`: sparse array, shape (n_users, n_items); who rated what; its values are not used. Returns a uint32
    array, shape (n_items, n_items), symmetric.

    Examples
    --------
    >>> binary_gram(sparse.csr_array(np.array([[1.0, 1.0], [0.0, 1.0]]))).tolist()
    [[1, 1], [1, 2]]
    """
    counts = _Counts(user_items)
    out = np.zeros((counts.layout.n_items,) * 2, dtype=np.uint32)
    ranges = counts.layout.ranges()
    each(lambda range_: counts.add(*range_, out[range_[0] : range_[1]]), ranges, progress, ADDING)
    counts.add_busy(out)
    return mirrored(out) if counts.layout.is_half else out


def common_raters(
    user_items: sparse.csr_array, progress: Progress = silent
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """The pairs of different items with a common rater, by item and then by other item.

    Raises DataError when there are 2 ** 32 ratings or more.

    `user_items`: sparse array, shape (n_users, n_items); who rated what; its values are not used. Returns `indptr`,
    int64 array, shape (n_items + 1,): where the pairs of each item begin and end in the others; `items`, `common`,
    int32 arrays, shape (n_pairs,): the other item, and the number of common raters.

    Examples
    --------
    >>> [part.tolist() for part in common_raters(sparse.csr_array(np.array([[1.0, 1.0], [0.0, 1.0]])))]
    [[0, 1, 2], [1, 0], [1, 1]]
    """
    counts = _Counts(user_items)
    n_items = counts.layout.n_items
    whole = binary_gram(user_items, within(progress, 0.0, 0.8)) if counts.layout.is_half else None

    rest = progress if whole is None else within(progress, 0.8, 1.0)

    def pairs(range_: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        first, last = range_
        if whole is None:
            block = np.zeros((last - first, n_items), dtype=np.uint32)
            counts.add(first, last, block)
        else:
            block = whole[first:last]
        block[np.arange(last - first), np.arange(first, last)] = 0
        rows, items = np.nonzero(block)
        lengths = np.bincount(rows, minlength=last - first)
        return lengths, items.astype(np.int32), block[rows, items].astype(np.int32)

    lengths, items, common = zip(*each(pairs, counts.layout.ranges(), rest, ADDING), strict=True)
    return np.concatenate([[0], *lengths]).cumsum(), np.concatenate(items), np.concatenate(common)


class _Counts:
    """How to add up numbers of common raters alone."""

    def __init__(self, user_items: sparse.csr_array) -> None:
        ordered = user_items if user_items.has_sorted_indices else user_items.sorted_indices()
        self.layout = Layout.of(ordered, exactly_at_once(lambda n_rows: n_rows <= MOST_SINGLE))
        self._ordered = ordered
        self._items = ordered.indices.astype(np.uint32)

    def add(self, first: int, last: int, out: NDArray[np.uint32]) -> None:
        """Add to the rows of items first..last."""
        from recommenders.kernels.products import add_counts

        at = self.layout
        add_counts(first, last, at.starts, at.begins, at.ends, self._items, out)

    def add_busy(self, out: NDArray[np.uint32]) -> None:
        """Add what the busiest users have to the rows of all items."""
        for indicators, _ in dense_rows(self._ordered, self.layout, self._items, 0):

            def add(
                top: int, bottom: int, buffers: list[NDArray[np.float32]], of: NDArray[np.float32] = indicators
            ) -> None:
                np.matmul(of[:, top:bottom].T, of[:, top:], out=buffers[0])
                out[top:bottom, top:] += buffers[0].astype(np.uint32)

            add_products(self.layout.n_items, 1, add)
