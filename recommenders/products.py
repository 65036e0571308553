"""Products of ratings with themselves: number of common raters, exact sums packed in 64-bit words, Gram matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, Generic, Self, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders.data import Floats, Integers, Ratings
from recommenders.layout import ADDING, MOST_SINGLE, Layout, Plane, add_dense, exact_block_size, mirrored
from recommenders.progress import Progress, blocks, no_progress, within
from recommenders.threads import each, numeric_threads

# Multiplications between two reports: a fraction of a second of a sparse product.
BLOCK_STEPS = 50_000_000
# Entries that a block of a product has at most, about 50 MB; a row with more is a block of its own.
BLOCK_PAIRS = 4_000_000


def steps_of_rows(rows: sparse.csr_array, matrix: sparse.csr_array) -> Floats:
    """The multiplications that each row of the sparse product ``rows @ matrix`` takes. Returns a float64 array, shape
    (n_rows,).

    `rows`: sparse array, shape (n_rows, n). `matrix`: sparse array, shape (n, n_columns).
    """
    lengths = np.diff(matrix.indptr)[rows.indices].astype(np.float64)
    owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.asarray(np.bincount(owners, weights=lengths, minlength=rows.shape[0]), dtype=np.float64)


def dense_gram(rows: sparse.csr_array, progress: Progress = no_progress) -> Floats:
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


Product = TypeVar("Product")


class LastProduct(Generic[Product]):
    """Holds the product of the owner that asked last, as long as that owner lives.

    A run fits several models on the same ratings, one after the other: what they share is made once. Only one
    product is held, and by a weak reference to its owner, so memory is bounded and nothing outlives its data.

    Examples
    --------
    >>> class Owner: ...
    >>> owner, held = Owner(), LastProduct()
    >>> held.of(owner, lambda: "made"), held.of(owner, lambda: "made again")
    ('made', 'made')
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._owner: Callable[[], Any] = lambda: None
        self._product: Product | None = None

    def of(self, owner: object, make: Callable[[], Product]) -> Product:
        """Return the owner's product, made by `make` if it is not the one held."""
        # Held while the product is made: two models that begin together would make it twice, in twice the memory.
        with self._lock:
            if self._product is None or self._owner() is not owner:
                self._product = None  # let go of the old one before the new one needs the room
                product = make()
                self._owner, self._product = ref(owner, self._forget), product
            return self._product

    def _forget(self, reference: object) -> None:
        # Called for the present owner only: the reference to an earlier one is gone, and its callback with it.
        self._product = None


def binary_gram(user_items: sparse.csr_array, progress: Progress = no_progress) -> NDArray[np.uint32]:
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
    user_items: sparse.csr_array, progress: Progress = no_progress
) -> tuple[Integers, NDArray[np.int32], NDArray[np.int32]]:
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

    def pairs(range_: tuple[int, int]) -> tuple[Integers, NDArray[np.int32], NDArray[np.int32]]:
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
        self.layout = Layout.of(ordered, exact_block_size(lambda n_rows: n_rows <= MOST_SINGLE))
        self._ordered = ordered
        self._items = ordered.indices.astype(np.uint32)

    def add(self, first: int, last: int, out: NDArray[np.uint32]) -> None:
        from recommenders.kernels.products import add_counts

        at = self.layout
        add_counts(first, last, at.starts, at.begins, at.ends, self._items, out)

    def add_busy(self, out: NDArray[np.uint32]) -> None:
        """Add what the busiest users have to the rows of all items."""

        def merge(part: tuple[slice, slice], common: Plane) -> None:
            out[part] += common.astype(np.uint32)

        add_dense(self._ordered, self.layout, self._items, 0, lambda rows, _codes: ([(rows, rows)], merge))


PACKED_BITS = 32


@dataclass(frozen=True, eq=False)
class Codes:
    """Ratings as small whole numbers, ready to be multiplied."""

    user_items: sparse.csr_array  # sparse array, shape (n_users, n_items); who rated what; its values are not used
    values: NDArray[np.uint32]  # shape (n_ratings,); the whole numbers, >= 0, in the order of ``user_items.data``
    unit: float  # what 1 is worth, in rating points

    @property
    def n_items(self) -> int:
        """Number of columns."""
        return int(self.user_items.shape[1])

    @property
    def highest(self) -> int:
        """The largest of the numbers."""
        return int(self.values.max(initial=0))

    @cached_property
    def sums(self) -> Floats:
        """Each item's number of ratings, and the sums of their numbers and of their squares, shape (n_items, 3)."""
        from recommenders.kernels.products import tally

        items = self.user_items.indices.astype(np.int32, copy=False)
        cuts = np.linspace(0, items.size, numeric_threads() + 1).astype(np.int64)
        parts = np.zeros((cuts.size - 1, self.n_items, 3))
        each(lambda part: tally(cuts[part], cuts[part + 1], items, self.values, parts[part]), range(cuts.size - 1))
        # Sums of whole numbers: the same however they are cut.
        return np.asarray(parts.sum(axis=0))

    def bits(self, power: int) -> int:
        """Bits that hold the sum of any item's numbers, each raised to `power`; over common raters it is less."""
        return int(self.sums[:, power].max(initial=0.0)).bit_length()


def rating_codes(ratings: Ratings) -> Codes | None:
    """The ratings themselves in whole numbers of steps; none if 0 is not on the scale's grid. Also None where the
    scale's step is no power of two.

    Examples
    --------
    >>> from recommenders.data import Scale
    >>> ratings = Ratings.from_triples([0, 0], [0, 1], [3.5, 5], n_users=1, n_items=2, scale=Scale(0.5, 5, 0.5))
    >>> rating_codes(ratings).values.tolist()
    [7, 10]
    """
    scale = ratings.scale
    if not scale.step:
        return None
    lowest = scale.low / scale.step
    # Only where steps are exact in binary are sums of ratings exactly sums of codes.
    if lowest != round(lowest) or scale.step != 2.0 ** round(np.log2(scale.step)):
        return None
    # A power of two divides float32 numbers exactly.
    values = ratings.user_items.data / np.float32(scale.step)
    return Codes(ratings.user_items, np.rint(values, out=values).astype(np.uint32), scale.step)


def packed_with_items(codes: Codes) -> tuple[NDArray[np.uint32], int] | None:
    """Put each rating's item and code into one word.

    `codes`: below 2 ** `PACKED_BITS`. Returns `packed`, uint32 array, shape (n_ratings,): the item above the code;
    `bits`, int: bits of a code. Nothing at all, in place of both, if item and code do not fit into one word.
    """
    bits = max(codes.highest, 1).bit_length()
    if codes.n_items > 1 << (PACKED_BITS - bits):
        return None
    packed = codes.user_items.indices.astype(np.uint32)  # a copy, made into the words in place
    packed <<= np.uint32(bits)
    packed |= codes.values
    return packed, bits


# Up to this many the sums are kept for the next model on the same ratings (64 MB at most).
REMEMBERED_ITEMS = 2800
WORD_BITS = 64


@dataclass(frozen=True, eq=False)
class Dots:
    """How to add up numbers of common raters and sums of products: both in one word a pair."""

    user_items: sparse.csr_array  # sparse array, shape (n_users, n_items); who rated what; its values are not used
    layout: Layout  # where the ratings are
    packed: NDArray[np.uint32]  # shape (n_ratings,); item and code of each rating
    # `code_bits`, `shift`: bits of a code, and where the number of common raters begins in a word.
    code_bits: int
    shift: int
    unit: float  # worth of 1 in the sums, in rating points squared
    squares: Floats  # shape (n_items,); sum of each item's squared ratings

    @classmethod
    def of(cls, codes: Codes) -> Self | None:
        """Lay out what is to be added; nothing if the sums might outgrow a word."""
        packing = packed_with_items(codes)
        shift = codes.bits(2)  # no sum of products is larger than the larger of the two sums of squares
        # Decided before anything is added: a sum that runs over would change the number of raters above it unseen.
        if packing is None or shift + codes.bits(0) > WORD_BITS:
            return None
        layout = Layout.of(codes.user_items, exact_block_size(lambda n_rows: n_rows * codes.highest**2 <= MOST_SINGLE))
        unit = codes.unit**2
        return cls(codes.user_items, layout, *packing, shift, unit, codes.sums[:, 2] * unit)

    def rows(self, first: int, last: int) -> NDArray[np.uint64]:
        """The words of items first..last with all items (of pairs i <= j only, if in halves)."""
        out = np.zeros((last - first, self.layout.n_items), dtype=np.uint64)
        self.add(first, last, out)
        return out

    def add(self, first: int, last: int, out: NDArray[np.uint64]) -> None:
        """Add to words of items first..last."""
        from recommenders.kernels.products import add_dots

        at = self.layout
        add_dots(first, last, at.starts, at.positions, at.begins, at.ends, self.packed, self.code_bits, self.shift, out)

    def whole(self, progress: Progress = no_progress) -> Words:
        """The words of all pairs i <= j; needs a layout in halves."""
        from recommenders.kernels.products import merge_dots

        out = np.zeros((self.layout.n_items, self.layout.n_items), dtype=np.uint64)
        each(lambda range_: self.add(*range_, out[range_[0] : range_[1]]), self.layout.ranges(), progress, ADDING)

        def merge(part: tuple[slice, slice], common: Plane, dots: Plane) -> None:
            merge_dots(common, dots, self.shift, out[part])

        of = self.user_items, self.layout, self.packed, self.code_bits
        add_dense(*of, lambda rows, codes: ([(rows, rows), (codes, codes)], merge))
        return Words(out, self.shift, self.unit, self.squares)


@dataclass(frozen=True, eq=False)
class Words:
    """The sums of all pairs i <= j of items: what `Dots` adds up, and how to read it."""

    # Shape (n_items, n_items); the number of common raters from bit `shift` on, the sum of products below; what is
    # under the diagonal means nothing.
    words: NDArray[np.uint64]
    # `shift`, `unit`, `squares`: as in `Dots`.
    shift: int
    unit: float
    squares: Floats


@dataclass(frozen=True, eq=False)
class Moments:
    """How to add up the six sums of a correlation: three in each of two words a pair."""

    # `user_items`, `layout`, `packed`, `code_bits`: as in `Dots`.
    user_items: sparse.csr_array
    layout: Layout
    packed: NDArray[np.uint32]
    code_bits: int
    terms: NDArray[np.uint64]  # shape (2 ** code_bits,); what each code adds to the left word: 1, itself and its square
    # `low_bits`, `high_bits`: where in a word the middle sum and the highest one begin.
    low_bits: int
    high_bits: int

    @classmethod
    def of(cls, codes: Codes) -> Self | None:
        """Lay out what is to be added; nothing if the sums might outgrow two words."""
        packing = packed_with_items(codes)
        low_bits = codes.bits(2)
        high_bits = 2 * low_bits  # the right word has two sums of squares or products, one over the other
        if packing is None or high_bits + max(codes.bits(0), codes.bits(1)) > WORD_BITS:
            return None
        code = np.arange(1 << packing[1], dtype=np.uint64)
        terms = (np.uint64(1) << np.uint64(high_bits)) + (code << np.uint64(low_bits)) + code * code
        highest = codes.highest

        def fits(n_rows: int) -> bool:
            # A sum of codes stands above a sum of squares.
            bits = (n_rows * highest**2).bit_length()
            return (n_rows * highest << bits) + n_rows * highest**2 <= MOST_SINGLE

        layout = Layout.of(codes.user_items, exact_block_size(fits))
        return cls(codes.user_items, layout, *packing, terms, low_bits, high_bits)

    def add(self, first: int, last: int, left: NDArray[np.uint64], right: NDArray[np.uint64]) -> None:
        """Add to words of items first..last."""
        from recommenders.kernels.products import add_moments

        at = self.layout
        add_moments(
            *(first, last, at.starts, at.positions, at.begins, at.ends, self.packed, self.terms),
            *(self.code_bits, self.low_bits, self.high_bits, left, right),
        )

    def whole(self, progress: Progress = no_progress) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The left and the right words of all pairs i <= j; needs a layout in halves."""
        from recommenders.kernels.products import merge_moments

        n_items = self.layout.n_items
        left, right = (np.zeros((n_items, n_items), dtype=np.uint64) for _ in range(2))
        each(
            lambda range_: self.add(*range_, left[range_[0] : range_[1]], right[range_[0] : range_[1]]),
            *(self.layout.ranges(), progress, ADDING),
        )

        def products(rows: Plane, codes: Plane) -> tuple[list[tuple[Plane, Plane]], Callable[..., None]]:
            bits = (rows.shape[0] * int(codes.max()) ** 2).bit_length()
            both = codes * np.float32(1 << bits) + codes * codes

            def merge(part: tuple[slice, slice], common: Plane, rights: Plane, lefts: Plane, dots: Plane) -> None:
                merge_moments(common, rights, lefts, dots, bits, self.low_bits, self.high_bits, left[part], right[part])

            return [(rows, rows), (rows, both), (both, rows), (codes, codes)], merge

        add_dense(self.user_items, self.layout, self.packed, self.code_bits, products)
        return left, right


_remembered: LastProduct[Words | None] = LastProduct()  # nothing is not held, but found out again


def packed_dots(ratings: Ratings, progress: Progress = no_progress) -> Words | None:
    """The words of all pairs i <= j of a small catalogue, kept for the next model on the same ratings.

    Nothing where the catalogue is too large for that, or ratings are no exact multiples of a binary fraction.
    """
    if ratings.n_items > REMEMBERED_ITEMS:
        return None

    def make() -> Words | None:
        codes = rating_codes(ratings)
        dots = None if codes is None else Dots.of(codes)
        return None if dots is None else dots.whole(progress)

    # By the ratings object itself, which is immutable: equal ratings read twice are simply added up again.
    return _remembered.of(ratings, make)


def gram(ratings: Ratings, progress: Progress = no_progress) -> Floats | None:
    """Sums of products of all pairs of items, missing ratings as 0, in rating points squared; exact. Returns a float64
    array, shape (n_items, n_items): nothing under the conditions of `packed_dots`.

    Examples
    --------
    >>> from recommenders.data import Scale
    >>> ratings = Ratings.from_triples([0, 0], [0, 1], [3, 4], n_users=1, n_items=2, scale=Scale(1, 5, 1))
    >>> gram(ratings).tolist()
    [[9.0, 12.0], [12.0, 16.0]]
    """
    words = packed_dots(ratings, progress)
    if words is None:
        return None
    low = (words.words & np.uint64((1 << words.shift) - 1)).astype(np.float64) * words.unit
    return mirrored(low)
