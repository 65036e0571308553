"""The level of a test as it is printed."""

from __future__ import annotations


def coverage(alpha: float) -> str:
    """The coverage of intervals that belong to tests at this level.

    Examples
    --------
    >>> coverage(0.05), coverage(0.005)
    ('95%', '99.5%')
    """
    return f"{round(100 * (1 - alpha), 4):g}%"
