"""Exact sums over the common raters of all pairs of items, several of them packed in one 64-bit word."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders import lazy
from recommenders.data import Ratings
from recommenders.progress import Progress, silent, within
from recommenders.shared import Remembered
from recommenders.threads import each, numeric_threads

__all__ = ["Codes", "Dots", "Moments", "binary_gram", "common_raters", "gram", "packed_dots", "rating_codes"]

# Ratings of the users that are added together: with the sums of one item they fill half a core's second cache.
CHUNK_RATINGS = 1 << 18
# Ranges of items to each thread, so that one that finishes early finds more to do.
RANGES_A_THREAD = 4
# Largest place that the sums of a range of items may take, in words.
BLOCK_WORDS = 1 << 24
# Up to this many items all pairs' sums fit in memory at once (290 MB), and each pair is added up only once.
HALF_ITEMS = 6000
# Up to this many the sums are kept for the next model on the same ratings (64 MB at most).
REMEMBERED_ITEMS = 2800
Number = TypeVar("Number", np.uint32, np.float64)
WORD_BITS, PACKED_BITS = 64, 32
# Rows and columns that are turned over together.
TILE = 256
ADDING = "Adding up what pairs of items have in common"


@dataclass(frozen=True, eq=False)
class Codes:
    """Ratings as small whole numbers, ready to be multiplied.

    Attributes
    ----------
    user_items : sparse array, shape (n_users, n_items)
        Who rated what; its values are not used.
    values : int64 array, shape (n_ratings,)
        The whole numbers, >= 0, in the order of ``user_items.data``.
    unit : float
        What 1 is worth, in rating points.
    """

    user_items: sparse.csr_array
    values: NDArray[np.int64]
    unit: float

    @property
    def n_items(self) -> int:
        """Number of columns."""
        return int(self.user_items.shape[1])

    @property
    def highest(self) -> int:
        """The largest of the numbers."""
        return int(self.values.max(initial=0))

    def bits(self, power: int) -> int:
        """Bits that hold the sum of any item's numbers, each raised to `power`; over common raters it is less."""
        sums = np.bincount(self.user_items.indices, weights=self.values.astype(np.float64) ** power, minlength=1)
        return int(sums.max()).bit_length()


def rating_codes(ratings: Ratings) -> Codes | None:
    """The ratings themselves in whole numbers of steps; none if 0 is not on the scale's grid.

    Examples
    --------
    >>> from recommenders.data import Scale
    >>> ratings = Ratings.from_triples([0, 0], [0, 1], [3.5, 5], n_users=1, n_items=2, scale=Scale(0.5, 5, 0.5))
    >>> rating_codes(ratings).values.tolist()
    [7, 10]
    """
    scale = ratings.scale
    lowest = scale.low / scale.step
    # Only where steps are exact in binary are sums of ratings exactly sums of codes.
    if lowest != round(lowest) or scale.step != 2.0 ** round(np.log2(scale.step)):
        return None
    values = np.rint(ratings.user_items.data.astype(np.float64) / scale.step).astype(np.int64)
    return Codes(ratings.user_items, values, scale.step)


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the kernels find the ratings: see `recommenders.kernels.products.arrange`."""

    n_items: int
    is_half: bool
    starts: NDArray[np.int64]
    places: NDArray[np.int64]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, user_items: sparse.csr_array) -> Self:
        """Lay out the ratings: in halves, each pair added up once, where all pairs fit in memory."""
        n_items, is_half = int(user_items.shape[1]), user_items.shape[1] <= HALF_ITEMS
        indptr, items = user_items.indptr.astype(np.int64), user_items.indices.astype(np.int32, copy=False)
        marks = np.searchsorted(indptr, np.arange(0, user_items.nnz, CHUNK_RATINGS))
        chunks = np.unique(np.append(marks, [0, indptr.size - 1]))
        starts = np.empty((chunks.size, n_items), dtype=np.int64)
        places, begins, ends = (np.empty(user_items.nnz, dtype=np.int64) for _ in range(3))
        lazy.product_kernels().arrange(indptr, items, chunks, is_half, starts, places, begins, ends)
        return cls(n_items, is_half, starts, places, begins, ends)

    def ranges(self) -> list[tuple[int, int]]:
        """Ranges of items of about the same work, small enough that the sums of one fit in memory."""
        n_ranges = RANGES_A_THREAD * numeric_threads()
        done = np.concatenate(([0], np.cumsum(self.ends - self.begins)))
        work = np.cumsum(done[self.starts[-1]] - done[self.starts[0]])
        cuts = np.searchsorted(work, work.max(initial=0) * np.arange(1, n_ranges) / n_ranges, side="right")
        steps = np.arange(0, self.n_items, max(1, BLOCK_WORDS // max(1, self.n_items)))
        bounds = np.unique(np.concatenate([cuts, steps, [self.n_items]]))
        return [(int(first), int(last)) for first, last in pairwise(bounds)]


@dataclass(frozen=True, eq=False)
class Dots:
    """How to add up numbers of common raters and sums of products: both in one word a pair.

    Attributes
    ----------
    layout : Layout
        Where the ratings are.
    packed : uint32 array, shape (n_ratings,)
        Item and code of each rating.
    code_bits, shift : int
        Bits of a code, and where the number of common raters begins in a word.
    unit : float
        Worth of 1 in the sums, in rating points squared.
    """

    layout: Layout
    packed: NDArray[np.uint32]
    code_bits: int
    shift: int
    unit: float

    @classmethod
    def of(cls, codes: Codes) -> Self | None:
        """Lay out what is to be added; nothing if the sums might outgrow a word."""
        packing = _packing(codes)
        shift = codes.bits(2)  # no sum of products is larger than the larger of the two sums of squares
        if packing is None or shift + codes.bits(0) > WORD_BITS:
            return None
        return cls(Layout.of(codes.user_items), *packing, shift, codes.unit**2)

    def rows(self, first: int, last: int) -> NDArray[np.uint64]:
        """The words of items first..last with all items (of pairs i <= j only, if in halves)."""
        out = np.zeros((last - first, self.layout.n_items), dtype=np.uint64)
        self.add(first, last, out)
        return out

    def add(self, first: int, last: int, out: NDArray[np.uint64]) -> None:
        """Add to words of items first..last."""
        at = self.layout
        kernel = lazy.product_kernels().add_dots
        kernel(first, last, at.starts, at.places, at.begins, at.ends, self.packed, self.code_bits, self.shift, out)

    def whole(self, progress: Progress = silent) -> NDArray[np.uint64]:
        """The words of all pairs i <= j; needs a layout in halves."""
        out = np.zeros((self.layout.n_items, self.layout.n_items), dtype=np.uint64)
        each(lambda range_: self.add(*range_, out[range_[0] : range_[1]]), self.layout.ranges(), progress, ADDING)
        return out


@dataclass(frozen=True, eq=False)
class Moments:
    """How to add up the six sums of a correlation: three in each of two words a pair.

    Attributes
    ----------
    layout, packed, code_bits
        As in `Dots`.
    others : uint64 array, shape (2 ** code_bits,)
        What each code adds to the left word: 1, itself and its square.
    low_bits, high_bits : int
        Where in a word the middle sum and the highest one begin.
    """

    layout: Layout
    packed: NDArray[np.uint32]
    code_bits: int
    others: NDArray[np.uint64]
    low_bits: int
    high_bits: int

    @classmethod
    def of(cls, codes: Codes) -> Self | None:
        """Lay out what is to be added; nothing if the sums might outgrow two words."""
        packing = _packing(codes)
        low_bits = codes.bits(2)
        high_bits = 2 * low_bits  # the right word has two sums of squares or products, one over the other
        if packing is None or high_bits + max(codes.bits(0), codes.bits(1)) > WORD_BITS:
            return None
        code = np.arange(1 << packing[1], dtype=np.uint64)
        others = (np.uint64(1) << np.uint64(high_bits)) + (code << np.uint64(low_bits)) + code * code
        return cls(Layout.of(codes.user_items), *packing, others, low_bits, high_bits)

    def add(self, first: int, last: int, left: NDArray[np.uint64], right: NDArray[np.uint64]) -> None:
        """Add to words of items first..last."""
        at = self.layout
        lazy.product_kernels().add_moments(
            *(first, last, at.starts, at.places, at.begins, at.ends, self.packed, self.others),
            *(self.code_bits, self.low_bits, self.high_bits, left, right),
        )


def _packing(codes: Codes) -> tuple[NDArray[np.uint32], int] | None:
    """Return each rating's item and code in one word, and the code's number of bits; nothing if they do not fit."""
    bits = max(codes.highest, 1).bit_length()
    if codes.n_items > 1 << (PACKED_BITS - bits):
        return None
    items = codes.user_items.indices.astype(np.uint32)
    return (items << np.uint32(bits)) | codes.values.astype(np.uint32), bits


_remembered: Remembered[tuple[Dots, NDArray[np.uint64]]] = Remembered()


def packed_dots(ratings: Ratings, progress: Progress = silent) -> tuple[Dots, NDArray[np.uint64]] | None:
    """The words of all pairs i <= j of a small catalogue, kept for the next model on the same ratings.

    Nothing where the catalogue is too large for that, or ratings are no exact multiples of a binary fraction.
    """
    if ratings.n_items > REMEMBERED_ITEMS:
        return None
    codes = rating_codes(ratings)
    dots = None if codes is None else Dots.of(codes)
    return None if dots is None else _remembered.of(ratings, lambda: (dots, dots.whole(progress)))


def gram(ratings: Ratings, progress: Progress = silent) -> NDArray[np.float64] | None:
    """Sums of products of all pairs of items, missing ratings as 0, in rating points squared; exact.

    Returns
    -------
    float64 array, shape (n_items, n_items)
        Nothing under the conditions of `packed_dots`.

    Examples
    --------
    >>> from recommenders.data import Scale
    >>> ratings = Ratings.from_triples([0, 0], [0, 1], [3, 4], n_users=1, n_items=2, scale=Scale(1, 5, 1))
    >>> gram(ratings).tolist()
    [[9.0, 12.0], [12.0, 16.0]]
    """
    found = packed_dots(ratings, progress)
    if found is None:
        return None
    dots, words = found
    low = (words & np.uint64((1 << dots.shift) - 1)).astype(np.float64) * dots.unit
    return _mirrored(low)


def binary_gram(user_items: sparse.csr_array, progress: Progress = silent) -> NDArray[np.uint32]:
    """Number of common raters of all pairs of items, and of each item on the diagonal.

    Examples
    --------
    >>> binary_gram(sparse.csr_array(np.array([[1.0, 1.0], [0.0, 1.0]]))).tolist()
    [[1, 1], [1, 2]]
    """
    counts = _Counts(user_items)
    out = np.zeros((counts.layout.n_items,) * 2, dtype=np.uint32)
    ranges = counts.layout.ranges()
    each(lambda range_: counts.add(*range_, out[range_[0] : range_[1]]), ranges, progress, ADDING)
    return _mirrored(out) if counts.layout.is_half else out


def common_raters(
    user_items: sparse.csr_array, progress: Progress = silent
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """The pairs of different items with a common rater, by item and then by other item.

    Returns
    -------
    indptr : int64 array, shape (n_items + 1,)
        Where the pairs of each item begin and end in the others.
    items, common : int32 arrays, shape (n_pairs,)
        The other item, and the number of common raters.

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
        self.layout = Layout.of(ordered)
        self._items = ordered.indices.astype(np.uint32)

    def add(self, first: int, last: int, out: NDArray[np.uint32]) -> None:
        """Add to the rows of items first..last."""
        at = self.layout
        lazy.product_kernels().add_counts(first, last, at.starts, at.begins, at.ends, self._items, out)


def _mirrored(upper: NDArray[Number]) -> NDArray[Number]:
    """Fill the lower triangle of a square array, in place, from the upper one."""
    for first in range(0, upper.shape[0], TILE):
        last = first + TILE
        square = upper[first:last, first:last]
        upper[first:last, first:last] = np.triu(square) + np.triu(square, 1).T
        upper[last:, first:last] = upper[first:last, last:].T
    return upper
