"""Least filled: the newcomer joins the condition that is furthest from its target."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from studies.assignment.draws import Draws, Seed


def ranking(
    seed: Seed, stratum: str, place: int, counts: Sequence[int], targets: Sequence[int | None]
) -> tuple[int, ...]:
    """The conditions from the least to the most filled, equal ones in a drawn order.

    Parameters
    ----------
    seed, stratum, place
        As in `studies.assignment.simple.ranking`.
    counts : sequence of int
        Participants in each condition.
    targets : sequence of int or None
        How many each is to have; where there is no target the counts themselves are compared.

    Returns
    -------
    tuple of int, length n_conditions
        Each index once.

    Examples
    --------
    >>> ranking(1, "women", 0, counts=[5, 9, 4], targets=[10, 30, 10])
    (1, 2, 0)
    """
    order = list(range(len(counts)))
    Draws(seed, "least filled", stratum, place).shuffle(order)
    return tuple(sorted(order, key=lambda condition: Fraction(counts[condition], targets[condition] or 1)))
