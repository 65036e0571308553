"""Reproducible random draws, and the slots they assign."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import count

Seed = int | str  # a known number, or 128 secret bits in hexadecimal


@dataclass(frozen=True)
class Slot:
    """One slot of a stratum's sequence."""

    place: int  # position in the sequence, from 0
    block: int  # index of the block, from 0; always 0 for methods without blocks
    condition: int  # index of the condition, from 0


@dataclass(frozen=True)
class Assignment:
    """The slot assigned to a new participant."""

    slot: Slot  # the assigned slot
    passed_over: tuple[Slot, ...]  # earlier slots skipped because their conditions are full


class Draws:
    """Random integers from SHA-256 in counter mode, identical on every machine and in every version.

    Streams with different names are independent.

    Examples
    --------
    >>> Draws(1, "women", 0).below(7) == Draws(1, "women", 0).below(7)
    True
    """

    def __init__(self, *names: str | int) -> None:
        self._names = names
        self._counter = count()

    def below(self, n: int) -> int:
        """Return a uniform random integer from 0 to n - 1. `n` is at least 1."""
        # Rejection sampling: values in the incomplete last cycle are redrawn, so every result is equally likely.
        limit = 2**64 - 2**64 % n
        while True:
            # JSON separates the names unambiguously: joined by a character, "a b", "c" and "a", "b c" would share a
            # stream. Its form may never change: stored allocation logs are replayed with it.
            text = json.dumps([*self._names, next(self._counter)], ensure_ascii=False)
            value = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
            if value < limit:  # pragma: no branch
                return value % n

    def shuffle(self, values: list[int]) -> None:
        """Shuffle the values in place (Fisher-Yates)."""
        for last in range(len(values) - 1, 0, -1):
            # Including the value's own place; without it not every order could occur.
            swap = self.below(last + 1)
            values[last], values[swap] = values[swap], values[last]
