"""What the steps that algorithms share take of memory: formulas, not measurements."""

from __future__ import annotations

import numpy as np

from recommenders.data import Floats
from recommenders.layout import BLOCK_WORDS, HALF_ITEMS
from recommenders.products import BLOCK_PAIRS
from recommenders.singular import BATCH, FIRST_EXTRA, FIRST_LOOK, uses_lanczos

# How unequal items are, and people: the spread of the logarithm of the number of ratings an item has, and the mean
# square of the number a person gave over the square of the mean (3.7 in MovieLens latest-small, and more because
# those who rate much rate what is rare). Catalogues of films have about these.
LOG_SPREAD = 1.6
UNEQUAL_PEOPLE = 5.0
# Standard normal quantiles at the middles of twenty classes of equal size: the popularity of items is taken there.
QUANTILES = np.array([-1.96, -1.44, -1.15, -0.93, -0.76, -0.6, -0.45, -0.32, -0.19, -0.06])


def sparse_bytes(n_rows: int, n_entries: int) -> int:
    """A sparse matrix of float64 values."""
    return 12 * n_entries + 8 * n_rows


def binary_bytes(n_users: int, n_ratings: int) -> int:
    """The positive ratings as ones, and what telling them takes; at most all ratings are positive."""
    return sparse_bytes(n_users, n_ratings) + 9 * n_ratings


def co_rated_pairs(n_users: int, n_items: int, n_ratings: int, *, at_least: int = 1) -> int:
    r"""About how many ordered pairs of items have one common rater, or `at_least` two.

    Two items with :math:`n_i` and :math:`n_j` raters share none with probability :math:`\exp(-h \, n_i n_j / U)`, with
    h for people being unequal; the :math:`n_i` are taken to be lognormal. An estimate: where popularity is more even
    than that of films there are more pairs, up to all of them. `at_least` is 1 or 2.

    Examples
    --------
    >>> co_rated_pairs(50_000, 2_000, 7_700_000) > 0.9 * 2_000**2
    True
    """
    points: Floats = np.exp(LOG_SPREAD * np.concatenate((QUANTILES, -QUANTILES)))
    counts = np.minimum(points / points.mean() * n_ratings / n_items, n_users)
    common = UNEQUAL_PEOPLE * np.outer(counts, counts) / n_users
    missing = np.exp(-common) * (1.0 + common if at_least > 1 else 1.0)
    return int(n_items**2 * float(1.0 - missing.mean()))


def sums_bytes(n_items: int, n_ratings: int, bytes_a_pair: int) -> int:
    """Sums over common raters: the ratings laid out, dense rows, and so many bytes for each pair of items under way.
    `bytes_a_pair` are those of each pair's sums.
    """
    all_pairs = n_items**2
    pairs = all_pairs if n_items <= HALF_ITEMS else min(all_pairs, 2 * (BLOCK_WORDS + n_items))
    return 24 * n_ratings + bytes_a_pair * pairs


def singular_bytes(n_rows: int, n_columns: int, n_entries: int, factors: int) -> int:
    """The leading right singular vectors of a sparse matrix, result included."""
    smaller = min(n_rows, n_columns)
    vectors = 8 * factors * (4 * n_columns + 2 * smaller)
    turned = 2 * sparse_bytes(n_rows + n_columns, n_entries)
    if uses_lanczos(n_rows, n_columns, factors):
        basis = FIRST_LOOK * factors + FIRST_EXTRA
        return turned + vectors + 8 * (n_columns + basis) * basis
    block = 12 * min(smaller**2, BLOCK_PAIRS + smaller)
    batch = 16 * smaller * min(smaller, -(-factors // BATCH) * BATCH)
    return turned + 12 * n_entries + 16 * smaller**2 + block + vectors + batch
