"""Simple randomisation: each participant's condition is drawn independently."""

from __future__ import annotations

from studies.allocation.assignment.draws import Draws, Seed


def ranking(seed: Seed, stratum: str, next_place: int, n_conditions: int) -> tuple[int, ...]:
    """Draw the order in which the conditions are tried for a new participant.

    The first condition with room is assigned, so every open condition is equally likely, independent of earlier draws.
    The stratum's next unused place identifies the draw. The result has each index once.

    Examples
    --------
    >>> sorted(ranking(1, "women", 0, 3))
    [0, 1, 2]
    """
    order = list(range(n_conditions))
    Draws(seed, "simple", stratum, next_place).shuffle(order)
    return tuple(order)
