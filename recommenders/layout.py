"""Where the loops over common raters find each rating, and which users are multiplied as dense rows instead."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from core.errors import DataError
from recommenders.data import Integers
from recommenders.threads import each, numeric_threads, one_library_thread

# Ratings of the users that are added together: with the sums of one item they fill half a core's second cache.
CHUNK_RATINGS = 1 << 18
# Ranges of items to each thread, so that one that finishes early finds more to do.
RANGES_A_THREAD = 4
# Largest place that the sums of a range of items may take, in words.
BLOCK_WORDS = 1 << 24
# Up to this many items all pairs' sums fit in memory at once (290 MB), and each pair is added up only once.
HALF_ITEMS = 6000
# Who rated a larger share of the items costs less as a dense row, zeros multiplied and all, than pair by pair.
BUSY_SHARE = 0.22
# Dense rows that are multiplied together, in numbers: 16 MB for each of the matrices made of them.
DENSE_NUMBERS = 1 << 22
# So many dense rows, and so many to a product, are worth the adding of products to the sums.
FEWEST_BUSY, FEWEST_AT_ONCE = 256, 64
MOST_AT_ONCE = 1 << 14
# Whole numbers up to this are exact in float32.
MOST_SINGLE = 1 << 24
# Rows of a product that are made, and added to the sums, before the next: with its columns they stay in the cache.
PRODUCT_ROWS = 128
# Places of ratings are kept in 32 bits.
MOST_RATINGS = 1 << 32
# Rows and columns that are turned over together.
TILE = 256
# What is told of the adding up while it goes on.
ADDING = "Adding up what pairs of items have in common"
Number = TypeVar("Number", np.uint32, np.float64)


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the kernels find the ratings: see `recommenders.kernels.products.arrange`."""

    n_items: int  # number of items
    is_half: bool  # whether each pair is seen once; otherwise both ways round
    # Shape (n_chunks, n_items + 1); where in the next three the ratings of each item by the users of each chunk begin.
    starts: Integers
    # `positions`, `begins`, `ends`: where a rating stands, and which ratings of its user it is added to.
    positions: NDArray[np.uint32]
    begins: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    work: Integers  # shape (n_items,); additions that each item's sums take
    busy: Integers  # the users that are left out here, to be multiplied as dense rows
    at_once: int  # how many of those may be multiplied together

    @classmethod
    def of(cls, user_items: sparse.csr_array, exact_at_once: int) -> Self:
        """Lay out the ratings: in halves, each pair added up once, where all pairs fit in memory.

        With halves, the busiest users are left to dense products, if `exact_at_once` of them (as `exact_block_size`
        tells) are enough for a product. Raises DataError if there are 2 ** 32 ratings or more.
        """
        from recommenders.kernels.products import arrange as arrange_chunk

        # Refused, not widened: positions of 64 bits would double the memory of every fit.
        if user_items.nnz >= MOST_RATINGS:
            raise DataError(
                f"Sums over common raters take fewer than {MOST_RATINGS:,} ratings; these are {user_items.nnz:,}. "
                "Fit on a part of the users."
            )
        n_items, is_half = int(user_items.shape[1]), user_items.shape[1] <= HALF_ITEMS
        indptr, items = user_items.indptr.astype(np.int64), user_items.indices.astype(np.int32, copy=False)
        lengths = np.diff(indptr)
        at_once = min(exact_at_once, max(FEWEST_AT_ONCE, DENSE_NUMBERS // max(1, n_items)))
        is_busy = lengths > BUSY_SHARE * n_items
        if not is_half or at_once < FEWEST_AT_ONCE or is_busy.sum() < FEWEST_BUSY:
            # Below these numbers the dense product's own costs exceed what it saves.
            is_busy[:] = False
        done = np.concatenate(([0], np.cumsum(np.where(is_busy, 0, lengths))))
        total = int(done[-1])
        chunks = np.unique(np.append(np.searchsorted(done, np.arange(0, total, CHUNK_RATINGS)), [0, lengths.size]))
        starts = np.empty((chunks.size - 1, n_items + 1), dtype=np.int64)
        work = np.zeros((chunks.size - 1, n_items), dtype=np.int64)
        begins, ends = (np.empty(total, dtype=np.uint32) for _ in range(2))
        # In halves a rating is added to those from itself on.
        positions = begins if is_half else np.empty(total, dtype=np.uint32)

        def arrange(chunk: int) -> None:
            first, last = chunks[chunk], chunks[chunk + 1]
            places_of = starts[chunk], work[chunk], positions, begins, ends
            arrange_chunk(first, last, done[first], indptr, items, is_busy, is_half, *places_of)

        each(arrange, range(chunks.size - 1))
        return cls(
            n_items, is_half, starts, positions, begins, ends, work.sum(axis=0), np.flatnonzero(is_busy), at_once
        )

    def ranges(self) -> list[tuple[int, int]]:
        """Ranges of items of about the same work, small enough that the sums of one fit in memory."""
        n_ranges = RANGES_A_THREAD * numeric_threads()
        work = np.cumsum(self.work)
        cuts = np.searchsorted(work, work.max(initial=0) * np.arange(1, n_ranges) / n_ranges, side="right")
        return _ranges(cuts, self.n_items)


def exact_block_size(fits: Callable[[int], bool]) -> int:
    """The largest number of rows, up to `MOST_AT_ONCE`, for which `fits` says that their sums are exact; 0 for none.

    Examples
    --------
    >>> exact_block_size(lambda n_rows: n_rows * 25 <= 2**10)
    40
    """
    return bisect_left(range(1, MOST_AT_ONCE + 1), True, key=lambda n_rows: not fits(n_rows))


def triangle_ranges(n_items: int) -> list[tuple[int, int]]:
    """Ranges of rows that have about as many of the pairs i <= j each.

    Examples
    --------
    >>> triangle_ranges(100)
    [(0, 13), (13, 29), (29, 50), (50, 100)]
    """
    shares = np.arange(1, RANGES_A_THREAD * numeric_threads()) / (RANGES_A_THREAD * numeric_threads())
    return _ranges(np.rint(n_items * (1.0 - np.sqrt(1.0 - shares))).astype(np.int64), n_items)


def row_ranges(n_items: int) -> list[tuple[int, int]]:
    """Ranges of about as many rows each."""
    n_ranges = RANGES_A_THREAD * numeric_threads()
    return _ranges(np.arange(1, n_ranges) * n_items // n_ranges, n_items)


def _ranges(cuts: NDArray[np.integer], n_items: int) -> list[tuple[int, int]]:
    steps = np.arange(0, n_items, max(1, BLOCK_WORDS // max(1, n_items)))
    bounds = np.unique(np.concatenate([cuts, steps, [n_items]]))
    return [(int(first), int(last)) for first, last in pairwise(bounds)]


Plane = NDArray[np.float32]
# From dense rows of some users, 1 for a rating and its code: the matrices to multiply, and what adds a part of their
# products, those of some rows with the columns from the first of these on, to the sums.
Products = Callable[[Plane, Plane], tuple[Sequence[tuple[Plane, Plane]], Callable[..., None]]]


def add_dense(
    user_items: sparse.csr_array, layout: Layout, packed: NDArray[np.uint32], code_bits: int, products: Products
) -> None:
    """Add what the busy users have to the sums of all pairs i <= j, some users and some rows of products at a time."""
    from recommenders.kernels.products import spread

    n_items, indptr = layout.n_items, user_items.indptr.astype(np.int64, copy=False)
    dense = np.empty((2, min(layout.at_once, layout.busy.size), n_items), dtype=np.float32)
    for start in range(0, layout.busy.size, max(1, layout.at_once)):
        users = layout.busy[start : start + layout.at_once]
        indicators, codes = dense[:, : users.size]
        spread(users, indptr, packed, code_bits, indicators, codes)
        factors, merge = products(indicators, codes)

        def block(
            range_: tuple[int, int],
            factors: Sequence[tuple[Plane, Plane]] = factors,
            merge: Callable[..., None] = merge,
        ) -> None:
            first, last = range_
            memory = np.empty((len(factors), min(PRODUCT_ROWS, last - first) * (n_items - first)), dtype=np.float32)
            for top in range(first, last, PRODUCT_ROWS):
                bottom = min(top + PRODUCT_ROWS, last)
                shape = bottom - top, n_items - top
                buffers = [buffer[: shape[0] * shape[1]].reshape(shape) for buffer in memory]
                for (rows, columns), buffer in zip(factors, buffers, strict=True):
                    np.matmul(rows[:, top:bottom].T, columns[:, top:], out=buffer)
                merge((slice(top, bottom), slice(top, None)), *buffers)

        with one_library_thread():  # the ranges share out the threads
            each(block, triangle_ranges(n_items))


def mirrored(upper: NDArray[Number]) -> NDArray[Number]:
    """Fill the lower triangle of a square array, in place, from the upper one."""
    for first in range(0, upper.shape[0], TILE):
        last = first + TILE
        square = upper[first:last, first:last]
        upper[first:last, first:last] = np.triu(square) + np.triu(square, 1).T
        upper[last:, first:last] = upper[first:last, last:].T
    return upper
