"""Ratings as small whole numbers, whose sums are exact in any order, and packed with their items into words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recommenders.data import Ratings
from recommenders.threads import each, numeric_threads

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
    def sums(self) -> NDArray[np.float64]:
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
