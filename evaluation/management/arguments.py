"""Argument types of the commands."""

from __future__ import annotations

from argparse import ArgumentTypeError


def at_least_one(text: str) -> int:
    """Parse a whole number of at least 1. Raises ArgumentTypeError for another value."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1; omit the option for the default.")
    return number
