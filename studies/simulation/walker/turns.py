"""Order of entry into conditions for concurrent walks."""

from __future__ import annotations

import threading


class EntryTurn:
    """One person's turn to enter a condition; this base class never waits.

    Conditions and source users depend on the order of entry. To make concurrent walks reproducible, each walk waits
    for its turn before it submits the form about the person and ends the turn once both are assigned.
    """

    def wait(self) -> None:
        """Block until all earlier participants are assigned."""

    def over(self) -> None:
        """End the turn; repeated calls have no effect."""


class EntryQueue:
    """Assigns turns in numerical order, whichever walk is faster."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[int] = []

    def of(self, number: int) -> EntryTurn:
        """Create the turn of a number; turns are served in order of creation."""
        with self._changed:
            self._waiting.append(number)
        return _QueuedTurn(self, number)

    def wait(self, number: int) -> None:
        """Block until it is the number's turn or its turn is over."""
        with self._changed:
            self._changed.wait_for(lambda: number in self._waiting[:1] or number not in self._waiting)

    def over(self, number: int) -> None:
        """End the number's turn and start the next."""
        with self._changed:
            if number in self._waiting:
                self._waiting.remove(number)
                self._changed.notify_all()


class _QueuedTurn(EntryTurn):
    def __init__(self, queue: EntryQueue, number: int) -> None:
        self._queue = queue
        self._number = number

    def wait(self) -> None:
        self._queue.wait(self._number)

    def over(self) -> None:
        self._queue.over(self._number)
