"""What the commands' arguments have to be."""

from __future__ import annotations

from argparse import ArgumentTypeError


def at_least_one(text: str) -> int:
    """Read a whole number of 1 or more.

    Raises
    ------
    ArgumentTypeError
        It is none.
    """
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"{text!r} is no whole number of at least 1; leave it out for the default.")
    return number
