"""Ids of users and items as indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def ordered_ids(ids: NDArray[Any], *, in_place: bool = False) -> tuple[NDArray[np.str_], NDArray[np.int32]]:
    """Distinct ids in order, and the position of each entry among them.

    `ids` has shape (n_rows,), whole numbers or str. With `in_place` the codes may overwrite its memory. Returns the
    distinct ids, in order of number where all are whole numbers spelled plainly, else of text; and int32 codes, shape
    (n_rows,).

    Examples
    --------
    >>> ordered_ids(np.array(["10", "9", "10"], dtype=object))
    (array(['9', '10'], dtype='<U2'), array([1, 0, 1], dtype=int32))
    """
    from catalog.importers.kernels.ids import mark

    if np.issubdtype(ids.dtype, np.integer):
        low, high = (int(ids.min()), int(ids.max())) if len(ids) else (0, 0)
        if low >= 0 and high < _largest_direct(len(ids)):
            is_met = np.zeros(high + 1, dtype=np.bool_)
            mark(_plain_numbers(ids), is_met)
            position = np.cumsum(is_met, dtype=np.int32) - np.int32(1)
            return np.flatnonzero(is_met).astype(np.str_), _looked_up(ids, position, in_place=in_place)
        distinct, inverse = np.unique(ids, return_inverse=True)
        return distinct.astype(np.str_), inverse.astype(np.int32)
    texts = np.array(list(dict.fromkeys(ids.tolist())), dtype=np.str_)
    texts = texts[_order(texts)]
    place_of = {text: position for position, text in enumerate(texts.tolist())}
    codes = np.fromiter((place_of[text] for text in ids.tolist()), dtype=np.int32, count=len(ids))
    return texts, codes


def _plain_numbers(ids: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """The ids as the compiled loops take them."""
    return np.ascontiguousarray(ids, dtype=np.int32 if ids.dtype == np.int32 else np.int64)


def _looked_up(ids: NDArray[np.integer[Any]], table: NDArray[np.int32], *, in_place: bool) -> NDArray[np.int32]:
    """The entry of each id; -1 where it lies beyond the table.

    In place where that can be: memory that nothing has touched yet costs a large import more than the look-up.
    """
    from catalog.importers.kernels.ids import look_up

    plain = _plain_numbers(ids)
    is_room = in_place and plain.dtype == np.int32 and plain.flags.writeable
    codes: NDArray[np.int32] = plain.view(np.int32) if is_room else np.empty(len(ids), dtype=np.int32)
    look_up(plain, table, codes)
    return codes


def _largest_direct(n_rows: int) -> int:
    """Whole-number ids below this are looked up in an array, others by search: about the memory of the rows."""
    return 2**20 + 4 * n_rows


def _order(texts: NDArray[np.str_]) -> NDArray[np.int64]:
    """The order of distinct ids: by number where each is a plain whole number, else by text."""
    if len(texts) and all(map(_is_plain, texts.tolist())):
        return np.array(sorted(range(len(texts)), key=lambda i: int(texts[i])), dtype=np.int64)
    return np.argsort(texts, kind="stable")


def _is_plain(text: str) -> bool:
    """Whether an id is a whole number as one writes it."""
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")


def codes_among(known_ids: Sequence[str], ids: NDArray[Any], *, in_place: bool = False) -> NDArray[np.int32]:
    """The place of each id among those that are known.

    `known_ids` are distinct, at least one. Returns an int32 array, shape (n_rows,), with -1 where an id is not known.
    With `in_place` the places may take the memory of the ids where every id is known; with one that is not, the ids
    stay.

    Examples
    --------
    >>> codes_among(["7", "3"], np.array([3, 4, 7]))
    array([ 1, -1,  0], dtype=int32)
    """
    from catalog.importers.kernels.ids import are_known

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
            is_spare = in_place and bool(are_known(_plain_numbers(ids), position))
            return _looked_up(ids, position, in_place=is_spare)
        nearest = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        return np.where(known[nearest] == ids, order[nearest], -1).astype(np.int32)
    place_of = {text: position for position, text in enumerate(known_ids)}
    return np.fromiter((place_of.get(text, -1) for text in ids.tolist()), dtype=np.int32, count=len(ids))


def counts_of(codes: NDArray[np.integer[Any]], n: int) -> NDArray[np.int64]:
    """How often each of 0, 1, … n - 1 comes. Returns an int64 array, shape (n,).

    Parameters
    ----------
    codes : int array, shape (n_rows,)
        From 0 to n - 1.
    """
    from catalog.importers.kernels.ids import count

    counts = np.zeros(n, dtype=np.int64)
    count(np.ascontiguousarray(codes, dtype=np.int32), counts)
    return counts
