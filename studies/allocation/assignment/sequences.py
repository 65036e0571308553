"""Sequences of conditions for people who meet all of them, one after the other."""

from __future__ import annotations

from core.errors import ParameterError

FEWEST, MOST = 2, 6  # conditions; more lists than six are too many for one person


def williams_square(k: int) -> tuple[tuple[int, ...], ...]:
    """Return the sequences of a Williams square: each of `k` conditions, from 0, once in each.

    k sequences if k is even, 2k if it is odd. Every condition is equally often at each position, and follows every
    other one equally often, so that neither order nor carry-over favours a condition. Raises ParameterError unless k is
    2 to 6. Source: Williams (1949), "Experimental designs balanced for the estimation of residual effects of
    treatments", Australian Journal of Scientific Research A 2(2):149-168.

    Examples
    --------
    >>> williams_square(3)
    ((0, 1, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0), (0, 2, 1), (1, 0, 2))
    """
    if not FEWEST <= k <= MOST:
        raise ParameterError(f"A person meets {FEWEST} to {MOST} conditions in turn; got {k}.")
    # 0, 1, k - 1, 2, k - 2, …: neighbours differ by another number each time, and so they do after a shift.
    first = [(position + 1) // 2 if position % 2 else -(position // 2) % k for position in range(k)]
    square = tuple(tuple((condition + shift) % k for condition in first) for shift in range(k))
    # With an odd number each difference is there twice or not at all; backwards it is the other way round.
    return square if k % 2 == 0 else (*square, *(row[::-1] for row in square))
