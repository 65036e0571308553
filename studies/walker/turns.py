"""Whose turn it is to enter a condition, where many people are walked at the same time."""

from __future__ import annotations

import threading


class Turn:
    """When it is this person's turn to enter a condition; by itself nobody has to wait.

    Walks go on side by side, and conditions and source users depend on who comes first: who waits for their turn
    before the form about the person, and says when both are theirs, gets the same ones every time.
    """

    def wait(self) -> None:
        """Return when everybody before has a condition."""

    def over(self) -> None:
        """Let the next one go on; said again, it changes nothing."""


class Turns:
    """People enter conditions by their numbers, however their walks overtake one another."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waited_for: list[int] = []

    def of(self, number: int) -> Turn:
        """The next number's turn; they are given out in the order in which they are to be taken."""
        with self._changed:
            self._waited_for.append(number)
        return _TurnOfMany(self, number)

    def wait(self, number: int) -> None:
        """Return when it is the number's turn, or its turn is over."""
        with self._changed:
            self._changed.wait_for(lambda: number in self._waited_for[:1] or number not in self._waited_for)

    def over(self, number: int) -> None:
        """Let the number after this one go on."""
        with self._changed:
            if number in self._waited_for:
                self._waited_for.remove(number)
                self._changed.notify_all()


class _TurnOfMany(Turn):
    def __init__(self, turns: Turns, number: int) -> None:
        self._turns = turns
        self._number = number

    def wait(self) -> None:
        self._turns.wait(self._number)

    def over(self) -> None:
        self._turns.over(self._number)
