"""Order of entry into conditions for concurrent walks."""

from __future__ import annotations

import threading


class EntryTurn:
    """One person's turn to enter a condition: it begins when all turns before it are over.

    Conditions and source users depend on the order of entry. To make concurrent walks reproducible, each walk waits
    for its turn before it submits the form about the person and ends the turn once both are assigned.
    """

    def __init__(self, before: EntryTurn | None = None) -> None:
        self._before = before
        self._over = threading.Event()

    def wait(self) -> None:
        """Block until all earlier participants are assigned, unless this turn is over."""
        while self._before is not None and not self._over.is_set():
            self._before._over.wait()
            self._before = self._before._before

    def over(self) -> None:
        """End the turn; repeated calls have no effect."""
        self._over.set()
