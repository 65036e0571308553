"""Compiled loops of the 1 + N protocol.

Import through `evaluation.protocols.one_plus_random`, which loads this module (and numba) at first use.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

# The same constants as `evaluation.splitting.draws`; a test holds the two generators against each other.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)
_32 = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


@njit(cache=True, nogil=True)
def mixed(word: np.uint64) -> np.uint64:
    """SplitMix64's finaliser of one word."""
    word = (word ^ (word >> _30)) * _MIX_1
    word = (word ^ (word >> _27)) * _MIX_2
    return word ^ (word >> _31)


@njit(cache=True, nogil=True)
def draw_candidates(
    key: np.uint64,
    user: int,
    item: int,
    rated: NDArray[np.int32],
    negatives: int,
    is_taken: NDArray[np.bool_],
    candidates: NDArray[np.int32],
) -> int:
    """Fill `candidates` with min(negatives, m) of the m items that are not `rated`; give their number.

    Items are drawn by rejection (Lemire's bounded integers on the halves of the words drawn for
    (key, user, item, step)), so every set is equally likely. Where fewer are to be left out than taken,
    those left out are drawn: a case costs at most about 0.7 draws for each item of the catalogue.
    `is_taken`, of the length of the catalogue, is working space.
    """
    n_items = len(is_taken)
    is_taken[:] = False
    for position in range(len(rated)):
        is_taken[rated[position]] = True
    n_unrated = n_items - len(rated)
    n_wanted = min(negatives, n_unrated)
    draws_left_out = n_unrated - n_wanted < n_wanted
    n_to_draw = n_unrated - n_wanted if draws_left_out else n_wanted

    bound = np.uint64(n_items)
    threshold = (_LOW_HALF + _ONE) % bound
    stream = mixed(mixed(key + np.uint64(user + 1) * _GOLDEN) + np.uint64(item + 1) * _GOLDEN)
    drawn = 0
    step = _ONE
    while drawn < n_to_draw:
        word = mixed(stream + step * _GOLDEN)
        step += _ONE
        for half in range(2):
            product = ((word >> _32) if half else (word & _LOW_HALF)) * bound
            if (product & _LOW_HALF) < threshold:
                continue  # would make the first items likelier than the others
            chosen = np.int64(product >> _32)
            if drawn < n_to_draw and not is_taken[chosen]:
                is_taken[chosen] = True
                if not draws_left_out:
                    candidates[drawn] = chosen
                drawn += 1
    if draws_left_out:
        filled = 0
        for candidate in range(n_items):
            if not is_taken[candidate]:
                candidates[filled] = candidate
                filled += 1
    return n_wanted


@njit(cache=True, nogil=True)
def count_cases(
    key: np.uint64,
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    negatives: int,
    rated_indptr: NDArray[np.int64],
    rated_items: NDArray[np.int32],
    scores: NDArray[np.floating[Any]],
    score_rows: NDArray[np.int64],
    above: NDArray[np.int32],
    tied: NDArray[np.int32],
) -> int:
    """Count, for each case, the candidates scored above and the same as its item; give the first case
    that met a NaN, or -1."""
    n_items = scores.shape[1]
    is_taken = np.empty(n_items, dtype=np.bool_)
    candidates = np.empty(min(negatives, n_items), dtype=np.int32)
    for case in range(len(users)):
        user = users[case]
        rated = rated_items[rated_indptr[user] : rated_indptr[user + 1]]
        size = draw_candidates(key, user, items[case], rated, negatives, is_taken, candidates)
        row = score_rows[case]
        own = scores[row, items[case]]
        n_above = 0
        n_tied = 0
        n_below = 0
        for position in range(size):
            score = scores[row, candidates[position]]
            n_above += score > own
            n_tied += score == own
            n_below += score < own
        if n_above + n_tied + n_below != size or own != own:  # only NaN is none of the three, or not itself
            return case
        above[case] = n_above
        tied[case] = n_tied
    return -1
