"""Counter-based random numbers, keyed by purpose instead of drawn from a shared stream.

A number is a function of (seed, purpose, counters) alone, so draws do not depend on order, blocks or workers.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def stream_key(seed: int, purpose: str) -> np.uint64:
    """Return the key of a purpose under a seed.

    `purpose`: the purpose of the draws ("probe", "candidates"); streams of different purposes are independent. Returns
    the first 8 bytes, little-endian, of SHA-256 over "purpose:seed".

    Examples
    --------
    >>> bool(stream_key(1, "probe") == stream_key(1, "reserve"))
    False
    """
    # Hashed, so that neighbouring seeds and purposes that share a prefix give unrelated streams.
    digest = hashlib.sha256(f"{purpose}:{int(seed)}".encode()).digest()
    return np.uint64(int.from_bytes(digest[:8], "little"))


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The SplitMix64 finaliser of each word: a bijection whose output bits look independent. Returns a uint64 array,
    same shape.

    Source: Steele, Lea & Flood (2014), Fast splittable pseudorandom number generators, OOPSLA, figure 16
    (`mix64variant13`), doi:10.1145/2660193.2660195.

    `words`: uint64 array, any shape.

    Examples
    --------
    >>> hex(int(mixed(np.array([0x9E3779B97F4A7C15], dtype=np.uint64))[0]))
    '0xe220a8397b1dcdaf'
    """
    words = words ^ (words >> np.uint64(30))
    words = words * _MIX_1
    words = words ^ (words >> np.uint64(27))
    words = words * _MIX_2
    return words ^ (words >> np.uint64(31))


def draw_keys(key: np.uint64, *counters: ArrayLike) -> NDArray[np.uint64]:
    """Return one uniform 64-bit word per combination of counters. Returns a uint64 array, the counters' broadcast shape
    (at least one-dimensional).

    `key`: from `stream_key`. `*counters`: whole numbers >= 0, for example users and items; their order matters.

    Examples
    --------
    >>> key = stream_key(1, "probe")
    >>> together = draw_keys(key, [3, 3, 4], [0, 1, 0])
    >>> bool(together[1] == draw_keys(key, [3], [1])[0])
    True
    """
    words: NDArray[np.uint64] = np.full(1, key, dtype=np.uint64)
    for counter in counters:
        steps = np.atleast_1d(np.asarray(counter)).astype(np.uint64)
        # One is added because a counter of 0 would leave the word as it is.
        words = mixed(words + (steps + np.uint64(1)) * _GOLDEN)
    return words


def smallest(keys: NDArray[np.uint64], n: int) -> NDArray[np.bool_]:
    """Mark the `n` smallest keys; ties at the border are resolved by order. `keys`: uint64 array, shape (n_keys,). `n`:
    0 <= n <= n_keys. Returns a bool array, shape (n_keys,), exactly `n` are True.

    Examples
    --------
    >>> smallest(np.array([5, 1, 5, 9], dtype=np.uint64), 2)
    array([ True,  True, False, False])
    """
    if n == 0:
        return np.zeros(len(keys), dtype=np.bool_)
    # Partitioned instead of sorted: only the border matters, and there may be a hundred million keys.
    border = np.partition(keys, n - 1)[n - 1]
    chosen: NDArray[np.bool_] = keys < border
    at_border = np.flatnonzero(keys == border)
    chosen[at_border[: n - int(chosen.sum())]] = True
    return chosen
