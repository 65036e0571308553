"""Exact sums over the common raters of all pairs of items, several of them packed in one 64-bit word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders import lazy
from recommenders.data import Ratings
from recommenders.layout import SINGLE_BITS, Layout, add_products, exactly_at_once
from recommenders.progress import Progress, silent, within
from recommenders.shared import Remembered
from recommenders.threads import each, numeric_threads

__all__ = [
    "Codes",
    "Dots",
    "Moments",
    "Words",
    "binary_gram",
    "common_raters",
    "gram",
    "packed_dots",
    "rating_codes",
]

# Up to this many the sums are kept for the next model on the same ratings (64 MB at most).
REMEMBERED_ITEMS = 2800
Number = TypeVar("Number", np.uint32, np.float64)
WORD_BITS, PACKED_BITS = 64, 32
MOST_SINGLE = 1 << SINGLE_BITS
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
    values : uint32 array, shape (n_ratings,)
        The whole numbers, >= 0, in the order of ``user_items.data``.
    unit : float
        What 1 is worth, in rating points.
    """

    user_items: sparse.csr_array
    values: NDArray[np.uint32]
    unit: float

    @property
    def n_items(self) -> int:
        """Number of columns."""
        return int(self.user_items.shape[1])

    @property
    def highest(self) -> int:
        """The largest of the numbers."""
        return int(self.values.max(initial=0))

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """Each item's number of ratings, and the sums of their numbers and of their squares, shape (n_items, 3)."""
        items = self.user_items.indices.astype(np.int32, copy=False)
        cuts = np.linspace(0, items.size, numeric_threads() + 1).astype(np.int64)
        parts = np.zeros((cuts.size - 1, self.n_items, 3))
        kernel = lazy.product_kernels().tally
        each(lambda part: kernel(cuts[part], cuts[part + 1], items, self.values, parts[part]), range(cuts.size - 1))
        # Sums of whole numbers: the same however they are cut.
        return np.asarray(parts.sum(axis=0))

    def bits(self, power: int) -> int:
        """Bits that hold the sum of any item's numbers, each raised to `power`; over common raters it is less."""
        return int(self.sums[:, power].max(initial=0.0)).bit_length()


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
    # A power of two divides float32 numbers exactly.
    values = ratings.user_items.data / np.float32(scale.step)
    return Codes(ratings.user_items, np.rint(values, out=values).astype(np.uint32), scale.step)


@dataclass(frozen=True, eq=False)
class Dots:
    """How to add up numbers of common raters and sums of products: both in one word a pair.

    Attributes
    ----------
    user_items : sparse array, shape (n_users, n_items)
        Who rated what; its values are not used.
    layout : Layout
        Where the ratings are.
    packed : uint32 array, shape (n_ratings,)
        Item and code of each rating.
    code_bits, shift : int
        Bits of a code, and where the number of common raters begins in a word.
    unit : float
        Worth of 1 in the sums, in rating points squared.
    squares : float64 array, shape (n_items,)
        Sum of each item's squared ratings.
    """

    user_items: sparse.csr_array
    layout: Layout
    packed: NDArray[np.uint32]
    code_bits: int
    shift: int
    unit: float
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, codes: Codes) -> Self | None:
        """Lay out what is to be added; nothing if the sums might outgrow a word."""
        packing = _packing(codes)
        shift = codes.bits(2)  # no sum of products is larger than the larger of the two sums of squares
        if packing is None or shift + codes.bits(0) > WORD_BITS:
            return None
        layout = Layout.of(codes.user_items, exactly_at_once(lambda n_rows: n_rows * codes.highest**2 <= MOST_SINGLE))
        unit = codes.unit**2
        return cls(codes.user_items, layout, *packing, shift, unit, codes.sums[:, 2] * unit)

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

    def whole(self, progress: Progress = silent) -> Words:
        """The words of all pairs i <= j; needs a layout in halves."""
        out = np.zeros((self.layout.n_items, self.layout.n_items), dtype=np.uint64)
        each(lambda range_: self.add(*range_, out[range_[0] : range_[1]]), self.layout.ranges(), progress, ADDING)
        kernel = lazy.product_kernels().merge_dots
        for ones, codes in _dense_rows(self.user_items, self.layout, self.packed, self.code_bits):

            def add(top: int, bottom: int, buffers: list[NDArray[np.float32]], of: Planes = (ones, codes)) -> None:
                for plane, buffer in zip(of, buffers, strict=True):
                    np.matmul(plane[:, top:bottom].T, plane[:, top:], out=buffer)
                kernel(*buffers, self.shift, out[top:bottom, top:])

            add_products(self.layout.n_items, 2, add)
        return Words(out, self.shift, self.unit, self.squares)


@dataclass(frozen=True, eq=False)
class Words:
    """The sums of all pairs i <= j of items: what `Dots` adds up, and how to read it.

    Attributes
    ----------
    words : uint64 array, shape (n_items, n_items)
        The number of common raters from bit `shift` on, the sum of products below; what is under the diagonal means
        nothing.
    shift, unit, squares
        As in `Dots`.
    """

    words: NDArray[np.uint64]
    shift: int
    unit: float
    squares: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments:
    """How to add up the six sums of a correlation: three in each of two words a pair.

    Attributes
    ----------
    user_items, layout, packed, code_bits
        As in `Dots`.
    others : uint64 array, shape (2 ** code_bits,)
        What each code adds to the left word: 1, itself and its square.
    low_bits, high_bits : int
        Where in a word the middle sum and the highest one begin.
    """

    user_items: sparse.csr_array
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
        highest = codes.highest

        def fits(n_rows: int) -> bool:
            # A sum of codes stands above a sum of squares.
            bits = (n_rows * highest**2).bit_length()
            return (n_rows * highest << bits) + n_rows * highest**2 <= MOST_SINGLE

        layout = Layout.of(codes.user_items, exactly_at_once(fits))
        return cls(codes.user_items, layout, *packing, others, low_bits, high_bits)

    def add(self, first: int, last: int, left: NDArray[np.uint64], right: NDArray[np.uint64]) -> None:
        """Add to words of items first..last."""
        at = self.layout
        lazy.product_kernels().add_moments(
            *(first, last, at.starts, at.places, at.begins, at.ends, self.packed, self.others),
            *(self.code_bits, self.low_bits, self.high_bits, left, right),
        )

    def whole(self, progress: Progress = silent) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The left and the right words of all pairs i <= j; needs a layout in halves."""
        n_items = self.layout.n_items
        left, right = (np.zeros((n_items, n_items), dtype=np.uint64) for _ in range(2))
        each(
            lambda range_: self.add(*range_, left[range_[0] : range_[1]], right[range_[0] : range_[1]]),
            *(self.layout.ranges(), progress, ADDING),
        )
        kernel = lazy.product_kernels().merge_moments
        for ones, codes in _dense_rows(self.user_items, self.layout, self.packed, self.code_bits):
            bits = (ones.shape[0] * int(codes.max()) ** 2).bit_length()
            both = codes * np.float32(1 << bits) + codes * codes

            def add(
                top: int,
                bottom: int,
                buffers: list[NDArray[np.float32]],
                bits: int = bits,
                of: tuple[Planes, ...] = ((ones, ones), (ones, both), (both, ones), (codes, codes)),
            ) -> None:
                for (own, others), buffer in zip(of, buffers, strict=True):
                    np.matmul(own[:, top:bottom].T, others[:, top:], out=buffer)
                part = slice(top, bottom), slice(top, None)
                kernel(*buffers, bits, self.low_bits, self.high_bits, left[part], right[part])

            add_products(n_items, 4, add)
        return left, right


# Dense rows of the same users, the matrices of a product.
Planes = tuple[NDArray[np.float32], NDArray[np.float32]]


def _dense_rows(
    user_items: sparse.csr_array, layout: Layout, packed: NDArray[np.uint32], code_bits: int
) -> Iterator[Planes]:
    """Yield, batch by batch, the busy users' dense rows: 1 for a rating, and its code; each overwrites the last."""
    indptr = user_items.indptr.astype(np.int64, copy=False)
    memory = np.empty((2, min(layout.at_once, layout.busy.size), layout.n_items), dtype=np.float32)
    for users in layout.batches():
        ones, codes = memory[:, : users.size]
        lazy.product_kernels().spread(users, indptr, packed, code_bits, ones, codes)
        yield ones, codes


def _packing(codes: Codes) -> tuple[NDArray[np.uint32], int] | None:
    """Return each rating's item and code in one word, and the code's number of bits; nothing if they do not fit."""
    bits = max(codes.highest, 1).bit_length()
    if codes.n_items > 1 << (PACKED_BITS - bits):
        return None
    packed = codes.user_items.indices.astype(np.uint32)  # a copy, made into the words in place
    packed <<= np.uint32(bits)
    packed |= codes.values
    return packed, bits


_remembered: Remembered[Words | None] = Remembered()  # nothing is not held, but found out again


def packed_dots(ratings: Ratings, progress: Progress = silent) -> Words | None:
    """The words of all pairs i <= j of a small catalogue, kept for the next model on the same ratings.

    Nothing where the catalogue is too large for that, or ratings are no exact multiples of a binary fraction.
    """
    if ratings.n_items > REMEMBERED_ITEMS:
        return None

    def make() -> Words | None:
        codes = rating_codes(ratings)
        dots = None if codes is None else Dots.of(codes)
        return None if dots is None else dots.whole(progress)

    return _remembered.of(ratings, make)


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
    low = (found.words & np.uint64((1 << found.shift) - 1)).astype(np.float64) * found.unit
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
    counts.add_busy(out)
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
        self.layout = Layout.of(ordered, exactly_at_once(lambda n_rows: n_rows <= MOST_SINGLE))
        self._ordered = ordered
        self._items = ordered.indices.astype(np.uint32)

    def add(self, first: int, last: int, out: NDArray[np.uint32]) -> None:
        """Add to the rows of items first..last."""
        at = self.layout
        lazy.product_kernels().add_counts(first, last, at.starts, at.begins, at.ends, self._items, out)

    def add_busy(self, out: NDArray[np.uint32]) -> None:
        """Add what the busiest users have to the rows of all items."""
        for ones, _ in _dense_rows(self._ordered, self.layout, self._items, 0):

            def add(top: int, bottom: int, buffers: list[NDArray[np.float32]], of: NDArray[np.float32] = ones) -> None:
                np.matmul(of[:, top:bottom].T, of[:, top:], out=buffers[0])
                out[top:bottom, top:] += buffers[0].astype(np.uint32)

            add_products(self.layout.n_items, 1, add)


def _mirrored(upper: NDArray[Number]) -> NDArray[Number]:
    """Fill the lower triangle of a square array, in place, from the upper one."""
    for first in range(0, upper.shape[0], TILE):
        last = first + TILE
        square = upper[first:last, first:last]
        upper[first:last, first:last] = np.triu(square) + np.triu(square, 1).T
        upper[last:, first:last] = upper[first:last, last:].T
    return upper
