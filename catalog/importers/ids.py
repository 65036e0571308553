"""Ids of users and items as indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def ordered_ids(ids: NDArray[Any]) -> tuple[NDArray[np.str_], NDArray[np.int32]]:
    """Distinct ids in order, and the position of each entry among them.

    `ids` has shape (n_rows,), whole numbers or str. Returns the distinct ids, in order of number where all are whole
    numbers spelled plainly, else of text; and int32 codes, shape (n_rows,).

    Examples
    --------
    >>> ordered_ids(np.array(["10", "9", "10"], dtype=object))
    (array(['9', '10'], dtype='<U2'), array([1, 0, 1], dtype=int32))
    """
    import pandas as pd

    codes, distinct = pd.factorize(ids)
    texts: NDArray[np.str_] = np.asarray(distinct).astype(np.str_)
    numbers = distinct
    if not np.issubdtype(ids.dtype, np.integer):
        numbers = [int(text) for text in texts.tolist()] if all(map(is_plain, texts.tolist())) else texts
    order = np.argsort(np.asarray(numbers), kind="stable")
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order))
    return texts[order], position[codes]


def is_plain(text: str) -> bool:
    """Whether an id is a whole number as one writes it."""
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")


def codes_among(known_ids: Sequence[str], ids: NDArray[Any]) -> NDArray[np.int32]:
    """The place of each id among those that are known.

    `known_ids` are distinct. Returns an int32 array, shape (n_rows,), with -1 where an id is not known.

    Examples
    --------
    >>> codes_among(["7", "3"], np.array([3, 4, 7]))
    array([ 1, -1,  0], dtype=int32)
    """
    import pandas as pd

    codes, distinct = pd.factorize(ids)
    position_of = {text: position for position, text in enumerate(known_ids)}
    positions = [position_of.get(str(text), -1) for text in np.asarray(distinct).tolist()]
    return np.array(positions, dtype=np.int32)[codes]
