"""Rows of studies and runs, as the analyses take them."""

from collections.abc import Callable

Progress = Callable[[str], None]


def silent(words: str) -> None:
    """Report no progress."""
