"""Simple randomisation: each newcomer's condition is drawn afresh."""

from __future__ import annotations

from studies.assignment.draws import Draws, Seed


def ranking(seed: Seed, stratum: str, place: int, n_conditions: int) -> tuple[int, ...]:
    """The conditions in the drawn order in which a newcomer tries them.

    The first that has room is theirs, so each open condition is equally likely, whatever came before.

    Parameters
    ----------
    seed : int or str
        Seed of the assignment.
    stratum : str
        The newcomer's stratum.
    place : int
        The stratum's next unused place: it names the draw.
    n_conditions : int
        Number of conditions, >= 1.

    Returns
    -------
    tuple of int, length n_conditions
        Each index once.

    Examples
    --------
    >>> sorted(ranking(1, "women", 0, 3))
    [0, 1, 2]
    """
    order = list(range(n_conditions))
    Draws(seed, "simple", stratum, place).shuffle(order)
    return tuple(order)
