"""Least-filled assignment: a new participant joins the condition furthest from its target."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from studies.allocation.assignment.draws import Draws, Seed


def ranking(
    seed: Seed, stratum: str, next_place: int, counts: Sequence[int], targets: Sequence[int | None]
) -> tuple[int, ...]:
    """Rank the conditions from the least to the most filled; ties are broken at random.

    Without targets the raw counts are compared. The result has each index once.

    Examples
    --------
    >>> ranking(1, "women", 0, counts=[5, 9, 4], targets=[10, 30, 10])
    (1, 2, 0)
    """
    order = list(range(len(counts)))
    Draws(seed, "least filled", stratum, next_place).shuffle(order)
    return tuple(sorted(order, key=lambda condition: Fraction(counts[condition], targets[condition] or 1)))
