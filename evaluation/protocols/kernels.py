"""Compiled loops of the 1 + N protocol.

Import through `evaluation.protocols.cases`, which loads this module (and numba) at first use.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import boolean, float32, float64, int32, int64, njit, types, uint8, uint64, void
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

_READ_I32 = types.Array(int32, 1, "C", readonly=True)
_READ_I64 = types.Array(int64, 1, "C", readonly=True)
_READ_U8 = types.Array(uint8, 1, "C", readonly=True)
_CHANCES = float64[::1]


@njit(uint64(uint64), cache=True, nogil=True)
def mixed(word: np.uint64) -> np.uint64:
    """SplitMix64's finaliser of one word."""
    word = (word ^ (word >> _30)) * _MIX_1
    word = (word ^ (word >> _27)) * _MIX_2
    return word ^ (word >> _31)


@njit(int64(uint64, int64, int64, _READ_I32, _READ_I32, int64, boolean[::1], int32[::1]), cache=True, nogil=True)
def draw_candidates(
    key: np.uint64,
    user: int,
    item: int,
    rated: NDArray[np.int32],
    closed: NDArray[np.int32],
    negatives: int,
    is_taken: NDArray[np.bool_],
    candidates: NDArray[np.int32],
) -> int:
    """Fill `candidates` with min(negatives, m) of the m items neither `rated` nor `closed`; give their number.

    Items are drawn by rejection (Lemire's bounded integers on the halves of the words drawn for
    (key, user, item, step)), so every set is equally likely. Where fewer are to be left out than taken,
    those left out are drawn: a case costs at most about 0.7 draws for each item of the catalogue.
    `is_taken`, of the length of the catalogue, is working space.
    """
    n_items = len(is_taken)
    is_taken[:] = False
    n_unrated = n_items
    for position in range(len(closed)):
        is_taken[closed[position]] = True
    n_unrated -= len(closed)
    for position in range(len(rated)):
        if not is_taken[rated[position]]:
            is_taken[rated[position]] = True
            n_unrated -= 1
    n_wanted = min(negatives, n_unrated)
    draws_left_out = n_unrated - n_wanted < n_wanted
    n_to_draw = n_unrated - n_wanted if draws_left_out else n_wanted

    bound = np.uint64(n_items)
    threshold = (_LOW_HALF + _ONE) % bound
    stream = mixed(mixed(key + np.uint64(user + 1) * _GOLDEN) + np.uint64(item + 1) * _GOLDEN)
    n_drawn = 0
    step = _ONE
    while n_drawn < n_to_draw:
        word = mixed(stream + step * _GOLDEN)
        step += _ONE
        for half in range(2):
            product = ((word >> _32) if half else (word & _LOW_HALF)) * bound
            if (product & _LOW_HALF) < threshold:
                continue  # would make the first items likelier than the others
            chosen = np.int64(product >> _32)
            if n_drawn < n_to_draw and not is_taken[chosen]:
                is_taken[chosen] = True
                if not draws_left_out:
                    candidates[n_drawn] = chosen
                n_drawn += 1
    if draws_left_out:
        filled = 0
        for candidate in range(n_items):
            if not is_taken[candidate]:
                candidates[filled] = candidate
                filled += 1
    return n_wanted


@njit(
    void(uint64, _READ_I32, _READ_I32, int64, _READ_I64, _READ_I32, _READ_I32, int64, uint8[:, ::1]),
    cache=True,
    nogil=True,
)
def draw_bitmaps(
    key: np.uint64,
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    negatives: int,
    rated_indptr: NDArray[np.int64],
    rated_items: NDArray[np.int32],
    closed: NDArray[np.int32],
    n_items: int,
    bits: NDArray[np.uint8],
) -> None:
    """Draw the candidates of each case into its row of `bits`, which is all zeros."""
    is_taken = np.empty(n_items, dtype=np.bool_)
    candidates = np.empty(min(negatives, n_items), dtype=np.int32)
    for case in range(len(users)):
        user = users[case]
        rated = rated_items[rated_indptr[user] : rated_indptr[user + 1]]
        size = draw_candidates(key, user, items[case], rated, closed, negatives, is_taken, candidates)
        for position in range(size):
            item = candidates[position]
            if item != items[case]:
                bits[case, item >> 3] |= np.uint8(1 << (item & 7))


@njit(
    [
        void(types.Array(each, 1, "C", readonly=True), int64, _READ_U8, _READ_I64, int32[::1])
        for each in (float32, float64)
    ],
    cache=True,
    nogil=True,
)
def count_masked(
    row: NDArray[np.floating[Any]],
    item: int,
    mask: NDArray[np.uint8],
    popularity: NDArray[np.int64],
    counts: NDArray[np.int32],
) -> None:
    """Count the items of `mask` above the test item, tied with it, before it, and with a score.

    `counts` gets: scored above the test item; scored the same; before it as a list is served (equal scores
    by popularity, then number); scored at all, the test item included; all of them.
    """
    own = row[item]
    above = np.int32(0)
    tied = np.int32(0)
    no_progress = np.int32(0)
    size = np.int32(0)
    for candidate in range(len(row)):
        score = row[candidate]
        is_member = mask[candidate]
        above += np.int32((score > own) & (is_member != 0))
        tied += np.int32((score == own) & (is_member != 0))
        no_progress += np.int32((score == -np.inf) & (is_member != 0))
        size += np.int32(is_member)
    tied -= np.int32(mask[item])
    before = above
    if tied > 0:
        ours = popularity[item]
        for candidate in range(len(row)):
            if mask[candidate] and row[candidate] == own and candidate != item:
                before += np.int32(popularity[candidate] > ours or (popularity[candidate] == ours and candidate < item))
    counts[0] = above
    counts[1] = tied
    counts[2] = before
    counts[3] = size - no_progress + np.int32(mask[item] == 0 and own > -np.inf)
    counts[4] = size - np.int32(mask[item])


@njit(
    [
        int64(
            _READ_I32,
            _READ_I32,
            types.Array(uint8, 2, "C", readonly=True),
            _READ_I64,
            _READ_I32,
            _READ_I32,
            types.Array(each, 2, "C", readonly=True),
            _READ_I64,
            _READ_I64,
            int32[:, ::1],
            int32[:, ::1],
        )
        for each in (float32, float64)
    ],
    cache=True,
    nogil=True,
)
def count_cases(
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    bits: NDArray[np.uint8],
    rated_indptr: NDArray[np.int64],
    rated_items: NDArray[np.int32],
    closed: NDArray[np.int32],
    scores: NDArray[np.floating[Any]],
    score_rows: NDArray[np.int64],
    popularity: NDArray[np.int64],
    sampled: NDArray[np.int32],
    everyone: NDArray[np.int32],
) -> int:
    """Count the items around each test item, among its candidates and among all items that are not excluded.

    Each case has a row of five counts, as in `count_masked`. `bits` without a column: there are no
    candidates to count. Gives the first case whose user has a NaN among the scores that are needed, or -1.
    """
    n_items = scores.shape[1]
    mask = np.zeros(-(-n_items // 8) * 8, dtype=np.uint8)
    included = np.empty(n_items, dtype=np.uint8)
    last = -1
    for case in range(len(users)):
        user = users[case]
        row = scores[score_rows[case]]
        if user != last:
            included[:] = 1
            for position in range(len(closed)):
                included[closed[position]] = 0
            for position in range(rated_indptr[user], rated_indptr[user + 1]):
                included[rated_items[position]] = 0
            unknown = 0
            for candidate in range(n_items):
                unknown += (row[candidate] != row[candidate]) & (included[candidate] != 0)
            if unknown:
                return case
            last = user
        item = items[case]
        if row[item] != row[item]:  # only NaN is not itself
            return case
        count_masked(row, item, included, popularity, everyone[case])
        if bits.shape[1]:
            for byte in range(bits.shape[1]):
                word = bits[case, byte]
                for bit in range(8):
                    mask[byte * 8 + bit] = (word >> np.uint8(bit)) & np.uint8(1)
            count_masked(row, item, mask[:n_items], popularity, sampled[case])
    return -1


@njit(void(int64, int64, int64, types.Array(float64, 1, "C", readonly=True), _CHANCES), cache=True, nogil=True)
def below_or_at(
    n_all: int, n_above: int, n_drawn: int, log_factorials: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Fill `out` with P(X <= k), k = 0, 1, …, where X of `n_above` are among `n_drawn` taken from `n_all`."""
    fewest = max(0, n_above + n_drawn - n_all)
    most = min(n_above, n_drawn)
    n_others = n_all - n_above
    whole = log_factorials[n_all] - log_factorials[n_drawn] - log_factorials[n_all - n_drawn]
    total = 0.0
    for k in range(len(out)):
        if k >= most:
            total = 1.0
        elif k >= fewest:
            chosen = log_factorials[n_above] - log_factorials[k] - log_factorials[n_above - k]
            rest = log_factorials[n_others] - log_factorials[n_drawn - k] - log_factorials[n_others - n_drawn + k]
            total = min(1.0, total + np.exp(chosen + rest - whole))
        out[k] = total


@njit(
    void(int64, int64, int64, types.Array(float64, 1, "C", readonly=True), _CHANCES, _CHANCES), cache=True, nogil=True
)
def sum_of_hits(
    n_all: int,
    stop: int,
    n_drawn: int,
    log_factorials: NDArray[np.float64],
    work: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Fill `out` with the sum over g < `stop` of P(X_g < n), n = 1, 2, …, X_g as in `below_or_at`.

    P(X_g < n) is the chance that the n-th item drawn stands after place g, so the sum is the mean of the
    smaller of that place and `stop`, which has a closed form.
    """
    longest = len(out)
    below_or_at(n_all + 1, min(stop + 1, n_all + 1), n_drawn + 1, log_factorials, work)
    for n in range(1, longest + 1):
        out[n - 1] = n * (n_all + 1) / (n_drawn + 1) * (1.0 - work[n])
    if stop <= n_all:
        below_or_at(n_all, stop, n_drawn, log_factorials, work)
        for n in range(1, longest + 1):
            out[n - 1] += stop * work[n - 1]
    for n in range(n_drawn + 1, longest + 1):  # a list that holds all that are drawn
        out[n - 1] = stop


@njit(
    void(_READ_I32, _READ_I32, _READ_I32, int64, int64, types.Array(float64, 1, "C", readonly=True), float64[:, ::1]),
    cache=True,
    nogil=True,
)
def exact_hits(
    above: NDArray[np.int32],
    tied: NDArray[np.int32],
    n_unrated: NDArray[np.int32],
    negatives: int,
    few: int,
    log_factorials: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Fill `out` (cases × list lengths 1, 2, …) with the chance that each test item is in the list.

    Ties are in random order. Up to `few` of them are summed one by one, more by the closed form.
    """
    longest = out.shape[1]
    work = np.empty(longest + 1)
    low = np.empty(longest)
    high = np.empty(longest)
    for case in range(len(above)):
        n_all = n_unrated[case]
        n_drawn = min(negatives, n_all)
        first = above[case]
        together = tied[case] + 1
        if n_drawn == n_all or together == n_all + 1:  # nothing is left to chance but the order of ties
            for n in range(1, longest + 1):
                if together == n_all + 1:
                    out[case, n - 1] = min(1.0, n / (n_drawn + 1))
                else:
                    out[case, n - 1] = min(max(n - first, 0), together) / together
        elif together <= few:
            low[:] = 0.0
            for position in range(first, first + together):
                below_or_at(n_all, position, n_drawn, log_factorials, high)
                low += high
            out[case] = low / together
        else:
            sum_of_hits(n_all, first, n_drawn, log_factorials, work, low)
            sum_of_hits(n_all, first + together, n_drawn, log_factorials, work, high)
            for n in range(longest):
                out[case, n] = min(1.0, max(0.0, (high[n] - low[n]) / together))
