"""Draws that depend on their names alone, and what a draw leads to."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import count

Seed = int | str  # a known number, or 128 secret bits in hexadecimal


@dataclass(frozen=True)
class Slot:
    """One slot of a stratum's sequence.

    Parameters
    ----------
    place : int
        Its number in the sequence, from 0.
    block : int
        The block it belongs to, from 0; always 0 where the method has no blocks.
    condition : int
        Index of the condition, from 0.
    """

    place: int
    block: int
    condition: int


@dataclass(frozen=True)
class Assignment:
    """The slot a newcomer takes.

    Parameters
    ----------
    slot : Slot
        The slot.
    passed_over : tuple of Slot
        Slots before it, all of full conditions.
    """

    slot: Slot
    passed_over: tuple[Slot, ...]


class Draws:
    """Whole numbers from SHA-256 in counter mode: the same on every machine and in every version.

    Parameters
    ----------
    *names : str or int
        What the stream is for. Streams of other names have nothing to do with it.

    Examples
    --------
    >>> Draws(1, "women", 0).below(7) == Draws(1, "women", 0).below(7)
    True
    """

    def __init__(self, *names: str | int) -> None:
        self._names = names
        self._counter = count()

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1, each equally likely.

        Parameters
        ----------
        n : int
            At least 1.

        Returns
        -------
        int
        """
        # Numbers of the incomplete last cycle are drawn again, so that each result is equally likely.
        limit = 2**64 - 2**64 % n
        while True:
            text = json.dumps([*self._names, next(self._counter)], ensure_ascii=False)
            value = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
            if value < limit:  # pragma: no branch
                return value % n

    def shuffle(self, values: list[int]) -> None:
        """Put the values in a drawn order, in place, by Fisher and Yates' method.

        Parameters
        ----------
        values : list of int
            Any.
        """
        for last in range(len(values) - 1, 0, -1):
            other = self.below(last + 1)
            values[last], values[other] = values[other], values[last]
