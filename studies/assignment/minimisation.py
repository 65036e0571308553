"""Minimisation: the condition that leaves the newcomer's margins most even, with a random element."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.errors import ParameterError
from studies.assignment.draws import Draws, Seed

PROBABILITY = 0.8
PARTS = 10_000  # a probability is kept to four decimals, so that the draw is exact


def weights(targets: Sequence[int | None]) -> tuple[int, ...]:
    """What one participant counts in each condition, so that conditions at their targets count the same.

    Parameters
    ----------
    targets : sequence of int or None
        How many each condition is to have; without targets all count 1.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> weights([30, 30, 15])
    (1, 1, 2)
    """
    sizes = [target or 1 for target in targets]
    whole = math.lcm(*sizes)
    return tuple(whole // size for size in sizes)


def imbalances(margins: Sequence[Sequence[int]], targets: Sequence[int | None]) -> tuple[int, ...]:
    r"""How uneven the newcomer's margins would be, for each condition they could join.

    .. math:: G_i = \sum_m \Big( K \sum_k (y^i_{mk})^2 - \big(\sum_k y^i_{mk}\big)^2 \Big)

    where y is the weighted count of condition k in margin m once the newcomer has joined condition i: K² times
    the variance of the counts, in whole numbers.

    Parameters
    ----------
    margins : sequence of sequence of int, shape (n_margins, n_conditions)
        Participants of each condition who share one trait with the newcomer; one row holds all participants.
    targets : sequence of int or None, length n_conditions
        See `weights`.

    Returns
    -------
    tuple of int, length n_conditions

    References
    ----------
    Pocock & Simon (1975), "Sequential treatment assignment with balancing for prognostic factors in the controlled
    clinical trial", Biometrics 31(1):103-115, section 3: the amount of variation D is the variance, G is the
    unweighted sum. Deviation: with unequal targets, counts are taken in shares of the target.

    Examples
    --------
    >>> imbalances([[2, 1, 1], [1, 0, 1]], [None, None, None])
    (14, 2, 8)
    """
    unit = weights(targets)
    n_conditions = len(unit)
    found = [0] * n_conditions
    for margin in margins:
        counts = [n * weight for n, weight in zip(margin, unit, strict=True)]
        total, squares = sum(counts), sum(n * n for n in counts)
        for condition, weight in enumerate(unit):
            new = squares + 2 * weight * counts[condition] + weight * weight
            found[condition] += n_conditions * new - (total + weight) ** 2
    return tuple(found)


def choose(
    *,
    seed: Seed,
    stratum: str,
    place: int,
    margins: Sequence[Sequence[int]],
    targets: Sequence[int | None],
    has_room: Sequence[bool],
    probability: float = PROBABILITY,
) -> tuple[int, tuple[int, ...]]:
    """The condition a newcomer joins, and the full ones that would have left the margins more even.

    Of the conditions with room the best is taken with the stated probability, else one of the others, each
    equally likely. Equally good ones are ranked by a draw.

    Parameters
    ----------
    seed, stratum, place
        As in `studies.assignment.simple.ranking`.
    margins, targets
        As in `imbalances`.
    has_room : sequence of bool
        For each condition, whether it is below its target; at least one is.
    probability : float
        From 0 to 1, kept to four decimals; 1 leaves chance to ties alone.

    Returns
    -------
    tuple of int and tuple of int
        Indexes of conditions.

    Raises
    ------
    ParameterError
        A probability outside 0 to 1, or no condition with room.

    References
    ----------
    Pocock & Simon (1975), section 3.3, with p for the best and (1 - p)/(K - 1) for each of the others.

    Examples
    --------
    >>> choose(seed=1, stratum="women", place=4, margins=[[2, 1, 1], [1, 0, 1]], targets=[9, 9, 9],
    ...        has_room=[True, True, True], probability=1.0)
    (1, ())
    """
    if not 0.0 <= probability <= 1.0:
        raise ParameterError(f"The probability of the best condition lies between 0 and 1; got {probability!r}.")
    if not any(has_room):
        raise ParameterError("No condition has room, so there is none to choose.")
    draws = Draws(seed, "minimisation", stratum, place)
    order = list(range(len(targets)))
    draws.shuffle(order)
    uneven = imbalances(margins, targets)
    order.sort(key=lambda condition: uneven[condition])
    first = next(rank for rank, condition in enumerate(order) if has_room[condition])
    others = [condition for condition in order[first + 1 :] if has_room[condition]]
    is_best = draws.below(PARTS) < round(probability * PARTS)
    chosen = order[first] if is_best or not others else others[draws.below(len(others))]
    return chosen, tuple(order[:first])
