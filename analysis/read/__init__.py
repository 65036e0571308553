"""Rows of studies and runs, as the analyses take them."""

from collections.abc import Callable

Progress = Callable[[str], None]


def no_progress(words: str) -> None:
    """Report no progress."""
