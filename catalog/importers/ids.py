"""Ids of users and items as indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def ordered_ids(ids: NDArray[Any]) -> tuple[NDArray[np.str_], NDArray[np.int32]]:
    """Distinct ids in order, and the position of each entry among them.

    `ids` has shape (n_rows,), whole numbers or str. Returns the distinct ids, in order of number where all are
    whole numbers spelled plainly, else of text; and int32 codes, shape (n_rows,).

    Examples
    --------
    >>> ordered_ids(np.array(["10", "9", "10"], dtype=object))
    (array(['9', '10'], dtype='<U2'), array([1, 0, 1], dtype=int32))
    """
    if np.issubdtype(ids.dtype, np.integer):
        low, high = (int(ids.min()), int(ids.max())) if len(ids) else (0, 0)
        # A table of what was met needs no sorting, but its size is the largest id, which may be anything.
        if low >= 0 and high < _largest_direct(len(ids)):
            is_met = np.zeros(high + 1, dtype=np.bool_)
            is_met[ids] = True
            position = np.cumsum(is_met, dtype=np.int32) - np.int32(1)
            return np.flatnonzero(is_met).astype(np.str_), position[ids]
        distinct, inverse = np.unique(ids, return_inverse=True)
        return distinct.astype(np.str_), inverse.astype(np.int32)
    # A dictionary keeps distinct strings in one pass; numpy would compare all of them to sort first.
    texts = np.array(list(dict.fromkeys(ids.tolist())), dtype=np.str_)
    are_numbers = all(map(_is_plain, texts.tolist()))
    by_number = sorted(range(len(texts)), key=lambda at: int(texts[at])) if are_numbers else []
    texts = texts[by_number if len(by_number) else np.argsort(texts, kind="stable")]
    place_of = {text: position for position, text in enumerate(texts.tolist())}
    codes = np.fromiter((place_of[text] for text in ids.tolist()), dtype=np.int32, count=len(ids))
    return texts, codes


def _largest_direct(n_rows: int) -> int:
    """Whole-number ids below this are looked up in an array, others by search: about the memory of the rows."""
    return 2**20 + 4 * n_rows


def _is_plain(text: str) -> bool:
    # Plainly spelled: 07 and 7 are two ids, and digits of other scripts are text.
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")


def codes_among(known_ids: Sequence[str], ids: NDArray[Any]) -> NDArray[np.int32]:
    """The place of each id among those that are known.

    `known_ids` are distinct, at least one. Returns an int32 array, shape (n_rows,), with -1 where an id is not known.

    Examples
    --------
    >>> codes_among(["7", "3"], np.array([3, 4, 7]))
    array([ 1, -1,  0], dtype=int32)
    """
    if np.issubdtype(ids.dtype, np.integer):
        # Ids that are digits alone are numbers here; another known id is none of them.
        positions = np.array(
            [position for position, text in enumerate(known_ids) if _is_plain(text) and len(text) <= 18], dtype=np.int64
        )
        known = np.array([int(known_ids[position]) for position in positions.tolist()], dtype=np.int64)
        if not len(known):
            return np.full(len(ids), -1, dtype=np.int32)
        order = np.argsort(known)
        known, order = known[order], positions[order]
        if known[0] >= 0 and known[-1] < _largest_direct(len(ids)):
            position = np.full(int(known[-1]) + 1, -1, dtype=np.int32)
            position[known] = order
            is_beyond = (ids < 0) | (ids >= len(position))
            return np.where(is_beyond, np.int32(-1), position[np.where(is_beyond, 0, ids)])
        nearest = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        return np.where(known[nearest] == ids, order[nearest], -1).astype(np.int32)
    place_of = {text: position for position, text in enumerate(known_ids)}
    return np.fromiter((place_of.get(text, -1) for text in ids.tolist()), dtype=np.int32, count=len(ids))
