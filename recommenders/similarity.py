"""Item-item similarities: cosines and correlations over common raters, shrunk towards 0, sorted in rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders.data import Floats, Integers, Ratings, Side, side_of
from recommenders.layout import ADDING, row_ranges, triangle_ranges
from recommenders.products import (
    BLOCK_STEPS,
    PACKED_BITS,
    Codes,
    Dots,
    Moments,
    packed_dots,
    rating_codes,
    steps_of_rows,
)
from recommenders.progress import Progress, blocks, no_progress, within
from recommenders.threads import each

# Similarities that are sorted together: half the second cache of a core.
SORTED_TOGETHER = 1 << 16

SORTING = "Sorting every item's neighbours"


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Every item's neighbours, most similar first."""

    # Shape (n_items + 1,); where each item's neighbours begin and end in the other two arrays.
    indptr: Integers
    items: NDArray[np.int32]  # shape (n_pairs,); the neighbours; equally similar ones by item number
    # Shape (n_pairs,); in (0, 1], or [-1, 1] of signed neighbours; falling within an item's row. Pairs whose similarity
    # is 0 are not neighbours, nor are those whose similarity is negative unless neighbours are signed.
    similarities: Floats


def sorted_whole(similarities: Floats, keep: int | None, progress: Progress) -> Neighbours:
    """Return the neighbours of a square array of similarities."""
    ranges = row_ranges(similarities.shape[0])
    return joined(
        each(lambda range_: sorted_rows(similarities[range_[0] : range_[1]], keep), ranges, progress, SORTING)
    )


# Lengths of rows, items and similarities.
Rows = tuple[Integers, NDArray[np.int32], Floats]


def sorted_rows(similarities: Floats, keep: int | None) -> list[Rows]:
    """Return the positive similarities of dense rows, each row sorted and truncated, a few rows at a time."""
    n_rows, n_items = similarities.shape
    together = max(1, SORTED_TOGETHER // max(1, n_items))
    keys, rounded = np.empty(min(together, n_rows) * n_items, dtype=np.uint64), np.empty(n_items, dtype=np.float32)
    return [
        _sorted_few(similarities[first : first + together], keep, keys, rounded) for first in range(0, n_rows, together)
    ]


def _sorted_few(similarities: Floats, keep: int | None, keys: NDArray[np.uint64], rounded: NDArray[np.float32]) -> Rows:
    """Do the same for rows that stay in the cache from the first look at them to the last; overwrites `keys`."""
    from recommenders.kernels import similarities as kernels

    lengths = np.empty(similarities.shape[0], dtype=np.int64)
    kernels.pack_rows(similarities, lengths, rounded, rounded.view(np.uint32), keys)
    bounds = np.concatenate(([0], np.cumsum(lengths)))
    if keep is not None:
        # Each row's first keys, unsorted: at least `keep` of them, and all that float32 holds for equal.
        selected = []
        for first, last in pairwise(bounds):
            row = keys[first:last]
            if row.size > keep:
                edge = np.partition(row, keep - 1)[keep - 1] | np.uint64(0xFFFFFFFF)
                row = row[row <= edge]
            selected.append(row)
        keys, bounds = np.concatenate(selected), np.concatenate(([0], np.cumsum([row.size for row in selected])))
    for first, last in pairwise(bounds.tolist()):
        keys[first:last].sort()
    items, values = np.empty(bounds[-1], dtype=np.int32), np.empty(bounds[-1])
    kernels.unpack_rows(similarities, bounds, keys[: bounds[-1]], items, values)
    if keep is None:
        return lengths, items, values
    lengths = np.diff(bounds)
    rank = np.arange(items.size) - np.repeat(bounds[:-1], lengths)
    return np.minimum(lengths, keep), items[rank < keep], values[rank < keep]


def joined(ranges: list[list[Rows]]) -> Neighbours:
    """Return blocks of rows as one, letting go of each, so that two copies of everything never coexist."""
    blocks = [rows for blocks in ranges for rows in blocks]
    ranges.clear()
    indptr = np.concatenate([[0], *(lengths for lengths, _, _ in blocks)]).cumsum()
    # Filled from the end, so that each block can be let go as soon as it is copied.
    whole = Neighbours(indptr, np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1]))
    end = int(indptr[-1])
    while blocks:
        _, items, similarities = blocks.pop()
        whole.items[end - items.size : end] = items
        whole.similarities[end - items.size : end] = similarities
        end -= items.size
    return whole


def sort_rows(bounds: Integers, items: NDArray[np.int32], similarities: Floats, n_items: int) -> None:
    """Sort each row, in place, by falling similarity, then item.

    numpy sorts 64-bit integers several times faster than it sorts indirectly; so similarity (float32, whose
    bits order like integers once those of negative numbers are turned over) and item are packed into one, and the
    kernel repairs what float32 could not tell apart.
    """
    from recommenders.kernels.neighbours import unpack_sorted

    bits, sign = similarities.astype(np.float32).view(np.uint32), np.uint32(1 << 31)
    falling = np.where(bits < sign, (sign - np.uint32(1)) - bits, bits)
    keys = (falling.astype(np.uint64) << np.uint64(32)) | items.astype(np.uint64)
    for first, last in pairwise(bounds):
        keys[first:last].sort()
    unpack_sorted(bounds, keys, np.empty(n_items), items, similarities)


# Pairs that a block of items may touch at most (about 50 MB of buffers); an item with more has its own block.
BLOCK_PAIRS = 2_000_000

# What adding up, dividing and sorting take of the whole, about; only the progress is told by it.
SHARES = (0.0, 0.7, 0.8, 1.0)
DIVIDING = "Making similarities of the sums"

# Writes the rows of a range of items into the three buffers and returns the number of pairs.
WriteRows = Callable[[int, int, NDArray[np.int32], Floats, Integers], int]


def cosine_neighbours(
    ratings: Ratings, *, shrinkage: float, keep: int | None = None, progress: Progress = no_progress
) -> Neighbours:
    r"""Cosines of the items' rating columns, missing ratings as 0, shrunk by the number of common raters.

    .. math::
        d_{ij} = \frac{n_{ij}}{n_{ij} + \lambda} \cdot
        \frac{\sum_u r_{ui} r_{uj}}{\sqrt{\sum_u r_{ui}^2} \sqrt{\sum_u r_{uj}^2}}

    The result is symmetric unless truncated.

    `ratings`: the norms run over all of an item's raters, not over the common ones. `shrinkage`: :math:`\lambda`, in
    common raters, >= 0. `keep`: keep only so many neighbours of each item; all of them if left out.

    Examples
    --------
    >>> from recommenders.data import Scale
    >>> ratings = Ratings.from_triples([0, 0], [0, 1], [3, 4], n_users=1, n_items=2, scale=Scale(1, 5, 1))
    >>> cosine_neighbours(ratings, shrinkage=1.0).similarities.tolist()
    [0.5, 0.5]
    """
    from recommenders.kernels.neighbours import cosine_rows

    exact = _exact_cosines(ratings, shrinkage, keep, progress)
    if exact is not None:
        return exact
    squares = np.bincount(
        ratings.user_items.indices, weights=ratings.user_items.data.astype(np.float64) ** 2, minlength=ratings.n_items
    )
    norms = np.sqrt(squares)
    by_user, by_item = _two_sides(ratings.user_items, ratings.user_items.data)

    def write(start: int, stop: int, *buffers: NDArray[Any]) -> int:
        return int(cosine_rows(start, stop, *by_item, *by_user, norms, shrinkage, *buffers))

    return _collect(ratings.user_items, write, keep, progress)


def pearson_neighbours(
    ratings: Ratings,
    values: Floats,
    *,
    shrinkage: float,
    keep: int | None = None,
    is_signed: bool = False,
    progress: Progress = no_progress,
) -> Neighbours:
    r"""Pearson correlations of items over their common raters, shrunk by the number of those.

    .. math:: d_{ij} = \frac{n_{ij}}{n_{ij} + \lambda} \rho_{ij}

    The result is symmetric unless truncated. A correlation over a single common rater, or one where an item's common
    ratings are all equal, is undefined and makes no neighbours.

    `shrinkage` and `keep` are those of `cosine_neighbours`. `is_signed`: negative correlations make neighbours too,
    after all positive ones.

    `ratings`: says who rated what. `values`: float64 array, shape (n_ratings,); what to correlate, in the order of
    ``ratings.user_items.data``: the ratings' codes (steps above the scale's lowest point, whose correlations are those
    of the ratings and whose sums are exact), or residuals.

    Examples
    --------
    >>> from recommenders.data import Scale
    >>> users, items, values = [0, 0, 1, 1], [0, 1, 0, 1], [1, 2, 3, 5]
    >>> ratings = Ratings.from_triples(users, items, values, n_users=2, n_items=2, scale=Scale(1, 5, 1))
    >>> codes = np.rint(ratings.scale.codes(ratings.user_items.data))
    >>> pearson_neighbours(ratings, codes, shrinkage=2.0).similarities.tolist()
    [0.5, 0.5]
    """
    from recommenders.kernels.neighbours import pearson_rows

    # The packed sort knows positive similarities only.
    exact = None if is_signed else _exact_pearsons(ratings, values, shrinkage, keep, progress)
    if exact is not None:
        return exact
    by_user, by_item = _two_sides(ratings.user_items, values)

    def write(start: int, stop: int, *buffers: NDArray[Any]) -> int:
        return int(pearson_rows(start, stop, *by_item, *by_user, shrinkage, is_signed, *buffers))

    return _collect(ratings.user_items, write, keep, progress)


def _exact_cosines(ratings: Ratings, shrinkage: float, keep: int | None, progress: Progress) -> Neighbours | None:
    """Return the neighbours from exact sums of whole numbers; nothing where the ratings are none."""
    from recommenders.kernels.similarities import cosines

    adding, dividing, sorting = (within(progress, first, last) for first, last in pairwise(SHARES))
    packed = packed_dots(ratings, adding)
    if packed is not None:
        out = np.empty(packed.words.shape)
    else:
        codes = rating_codes(ratings)
        dots = None if codes is None else Dots.of(codes)
        if dots is None:
            return None
        if not dots.layout.is_half:
            norms = np.sqrt(dots.squares)

            def block(first: int, last: int) -> Floats:
                words = dots.rows(first, last)
                similarities = words.view(np.float64)  # each word is read before its place is written
                cosines(first, first, last, words, dots.shift, dots.unit, norms, shrinkage, similarities, False)
                return similarities

            ranges = dots.layout.ranges()
            return joined(each(lambda range_: sorted_rows(block(*range_), keep), ranges, progress, ADDING))
        packed = dots.whole(adding)
        out = packed.words.view(np.float64)
    whole, lengths = packed, np.sqrt(packed.squares)

    def fill(range_: tuple[int, int]) -> None:
        cosines(0, *range_, whole.words, whole.shift, whole.unit, lengths, shrinkage, out, True)

    each(fill, triangle_ranges(ratings.n_items), dividing, DIVIDING)
    return sorted_whole(out, keep, sorting)


def _exact_pearsons(
    ratings: Ratings, values: Floats, shrinkage: float, keep: int | None, progress: Progress
) -> Neighbours | None:
    """Return the neighbours from exact sums of whole numbers; nothing where the values are none."""
    from recommenders.kernels.similarities import pearsons

    # Residuals are no whole numbers: their sums cannot be packed into words and are added as floats.
    is_code = (values >= 0.0) & (values < 1 << PACKED_BITS) & (values == np.rint(values))
    if not is_code.all():
        return None
    whole = values.astype(np.uint32)
    moments = Moments.of(Codes(ratings.user_items, whole, 1.0))
    if moments is None:
        return None
    n_items, is_half = ratings.n_items, moments.layout.is_half

    def similarities(offset: int, first: int, last: int, left: NDArray[np.uint64], right: NDArray[np.uint64]) -> Floats:
        out = left.view(np.float64)  # each word is read before its place is written
        pearsons(offset, first, last, left, right, moments.low_bits, moments.high_bits, shrinkage, out, is_half)
        return out

    if not is_half:

        def block(range_: tuple[int, int]) -> list[Rows]:
            first, last = range_
            left, right = (np.zeros((last - first, n_items), dtype=np.uint64) for _ in range(2))
            moments.add(first, last, left, right)
            return sorted_rows(similarities(first, first, last, left, right), keep)

        return joined(each(block, moments.layout.ranges(), progress, ADDING))
    adding, dividing, sorting = (within(progress, first, last) for first, last in pairwise(SHARES))
    left, right = moments.whole(adding)
    each(lambda range_: similarities(0, *range_, left, right), triangle_ranges(n_items), dividing, DIVIDING)
    return sorted_whole(left.view(np.float64), keep, sorting)


def _two_sides(user_items: sparse.csr_array, values: NDArray[np.float32] | Floats) -> tuple[Side, Side]:
    """Return the values by user and by item."""
    by_user = sparse.csr_array((values, user_items.indices, user_items.indptr), shape=user_items.shape)
    return side_of(by_user), side_of(by_user.T.tocsr())


def _collect(user_items: sparse.csr_array, write: WriteRows, keep: int | None, progress: Progress) -> Neighbours:
    """Compute the rows block by block, sort each and truncate it, and join them."""
    n_items = int(user_items.shape[1])
    by_item = user_items.T.tocsr()
    work = steps_of_rows(by_item, user_items)
    # A bound on each item's co-rated items: what its raters rated besides.
    capacity = np.minimum(work - np.diff(by_item.indptr), n_items - 1).astype(np.int64)
    lengths = np.zeros(n_items, dtype=np.int64)
    chunks: list[list[Rows]] = []
    total, done = max(float(work.sum()), 1.0), 0.0
    for start, stop, _ in blocks(capacity, BLOCK_PAIRS):
        room = int(capacity[start:stop].sum())
        items, similarities = np.empty(room, dtype=np.int32), np.empty(room)
        used = 0
        # In pieces of a fraction of a second; a row does not depend on its company.
        for first, last, _ in blocks(work[start:stop], BLOCK_STEPS):
            progress(done / total, f"Similarities of items {start + first + 1:,} to {start + last:,} of {n_items:,}")
            own = lengths[start + first : start + last]
            used += write(start + first, start + last, items[used:], similarities[used:], own)
            done += float(work[start + first : start + last].sum())
        items, similarities = items[:used], similarities[:used]
        bounds = np.concatenate(([0], np.cumsum(lengths[start:stop])))
        sort_rows(bounds, items, similarities, n_items)
        if keep is not None:
            rank = np.arange(used) - np.repeat(bounds[:-1], lengths[start:stop])
            items, similarities = items[rank < keep], similarities[rank < keep]
            lengths[start:stop] = np.minimum(lengths[start:stop], keep)
        chunks.append([(lengths[start:stop], items.copy(), similarities.copy())])
    return joined(chunks)
