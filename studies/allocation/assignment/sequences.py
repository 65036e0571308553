"""Sequences of conditions for people who meet several of them, one after the other or beside one another."""

from __future__ import annotations

from itertools import combinations

from core.errors import ParameterError

FEWEST, MOST = 2, 6  # conditions; more lists than six are too many for one person
MOST_IN_PAIRS = 4  # conditions; five have ten pairs


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


def pair_sequences(k: int, pairs_each: int | None = None) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return sequences of pairs of `k` conditions, from 0: of each occasion the conditions on the left and the right.

    2m sequences for the m = k(k - 1)/2 pairs. Each starts at another pair, or with the sides changed, and has the first
    `pairs_each` pairs from there; m unless given. Every pair is equally often at each position and with each condition
    on the left. A participant who compares all pairs of three conditions sees each condition once on each side. Raises
    ParameterError unless k is 2 to 4 and `pairs_each` 1 to m.

    Examples
    --------
    >>> pair_sequences(2)
    (((0, 1),), ((1, 0),))
    >>> pair_sequences(3)[:2]
    (((0, 1), (2, 0), (1, 2)), ((2, 0), (1, 2), (0, 1)))
    """
    if not FEWEST <= k <= MOST_IN_PAIRS:
        raise ParameterError(f"Lists of {FEWEST} to {MOST_IN_PAIRS} conditions are compared side by side; got {k}.")
    pairs = list(combinations(range(k), 2))
    m = len(pairs)
    n = m if pairs_each is None else pairs_each
    if not 1 <= n <= m:
        raise ParameterError(f"{k} conditions have {m} pairs to compare; got {pairs_each} for each participant.")
    # Sides alternate, so that no condition is always on the same one.
    one_way = [pair[::-1] if at % 2 else pair for at, pair in enumerate(pairs)]
    other_way = [pair[::-1] for pair in one_way]
    return tuple(tuple(of[(start + at) % m] for at in range(n)) for of in (one_way, other_way) for start in range(m))
