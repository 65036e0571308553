"""Assignment methods by name, and the slot each assigns to a participant.

Every method but permuted blocks ranks the conditions for each newcomer, who joins the first one with room.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from core.errors import ParameterError
from studies.allocation.assignment import permuted_blocks
from studies.allocation.assignment.draws import Assignment, Draws, Seed, Slot
from studies.settings import StudySettings

PERMUTED_BLOCKS = "permuted_blocks"
MINIMISATION = "minimisation"
LEAST_FILLED = "least_filled"
SIMPLE = "simple"
METHODS = (PERMUTED_BLOCKS, MINIMISATION, LEAST_FILLED, SIMPLE)
PROBABILITY = 0.8
PARTS = 10_000  # probabilities are rounded to four decimals, so that the draw is exact


@dataclass(frozen=True)
class Method:
    """An assignment method and its parameters."""

    name: str = PERMUTED_BLOCKS  # one of `METHODS`
    # permuted blocks: sizes of a block in multiples of the smallest block; one is drawn per block
    multiples: tuple[int, ...] = (1,)
    probability: float = PROBABILITY  # minimisation: probability of assigning the best condition
    weights: tuple[int, ...] = ()  # permuted blocks: slots of each condition in the smallest block; empty for one each


def method_from(design: StudySettings) -> Method:
    """Return a study's method.

    Examples
    --------
    >>> method_from(StudySettings(block_multiples=(1, 2)))
    Method(name='permuted_blocks', multiples=(1, 2), probability=0.8, weights=())
    """
    return Method(design.method, design.block_multiples, design.minimisation_probability, design.block_weights)


@dataclass(frozen=True)
class Occupancy:
    """Current slot occupancy, as a new participant meets it."""

    targets: Sequence[int | None]  # target of each condition; None for no limit
    counts: Sequence[int]  # slots held in each condition
    # slots held by participants who share a trait with the newcomer, one row per trait, then by all; see
    # `imbalances`
    margins: Sequence[Sequence[int]]
    occupied: frozenset[int]  # occupied places of the newcomer's stratum
    next_place: int  # the place after the last one that was ever assigned or skipped in that stratum

    @property
    def has_room(self) -> list[bool]:
        return [target is None or n < target for n, target in zip(self.counts, self.targets, strict=True)]


def ranking(method: Method, draws: Draws, occupancy: Occupancy) -> list[int]:
    """Rank the conditions for a newcomer, by a method without blocks; equal ones are in a drawn order.

    Simple randomisation draws the whole order. The least filled condition is the one furthest from its target; without
    targets the counts are compared. Minimisation ranks by `imbalances`.

    Examples
    --------
    >>> ranking(Method("least_filled"), Draws(1), Occupancy([10, 30, 10], [5, 9, 4], [], frozenset(), 0))
    [1, 2, 0]
    """
    counts, targets = occupancy.counts, occupancy.targets
    order = list(range(len(targets)))
    # Shuffled first and sorted stably after, so that ties are broken by chance and not by the order of conditions.
    draws.shuffle(order)
    if method.name == LEAST_FILLED:
        # Fractions compare exactly: 1/3 and 10/30 are a tie on every machine, and the replay depends on it.
        order.sort(key=lambda condition: Fraction(counts[condition], targets[condition] or 1))
    elif method.name == MINIMISATION:
        order.sort(key=imbalances(occupancy.margins, targets).__getitem__)
    return order


def assign(method: Method, *, seed: Seed, stratum: str, occupancy: Occupancy) -> Assignment | None:
    """Return the slot for the next participant of a stratum; None when all conditions are full.

    With blocks, places follow the stratum's sequence. Without blocks, each assignment uses up the next places, which
    also identify its draws: one for each full condition that was skipped, and one for the slot. Minimisation assigns
    the best condition with room with the stated probability, otherwise one of the others with room, with equal
    probabilities. Source: Pocock & Simon (1975), section 3.3, with p for the best and (1 - p)/(K - 1) for each other.

    Examples
    --------
    >>> occupancy = Occupancy([2, 2], [2, 1], [[2, 1]], frozenset({0, 1, 2}), 3)
    >>> assign(Method("least_filled"), seed=1, stratum="women", occupancy=occupancy)
    Assignment(slot=Slot(place=3, block=0, condition=1), passed_over=())
    """
    has_room = occupancy.has_room
    if not any(has_room):
        return None
    if method.name == PERMUTED_BLOCKS:
        sequence = permuted_blocks.slots(seed, stratum, len(has_room), method.multiples, method.weights)
        return permuted_blocks.first_open(sequence, occupancy.occupied, has_room)
    next_place = occupancy.next_place
    # Draws depend on the place in the stratum alone, so that a log can be replayed without the order of other strata.
    draws = Draws(seed, method.name.replace("_", " "), stratum, next_place)
    order = ranking(method, draws, occupancy)
    first = next(rank for rank, condition in enumerate(order) if has_room[condition])
    chosen, full = order[first], order[:first]
    if method.name == MINIMISATION:
        alternatives = [condition for condition in order[first + 1 :] if has_room[condition]]
        # Whole numbers: a comparison of floats could differ between machines at the border.
        is_best = draws.below(PARTS) < round(method.probability * PARTS)
        chosen = chosen if is_best or not alternatives else alternatives[draws.below(len(alternatives))]
    # Skipped conditions use up places too, so that the log shows why someone did not get the first condition.
    passed_over = tuple(Slot(next_place + n, 0, condition) for n, condition in enumerate(full))
    return Assignment(Slot(next_place + len(full), 0, chosen), passed_over)


def own_slot(
    method: Method, *, seed: Seed, stratum: str, occupancy: Occupancy, condition: int, before: int | None
) -> Slot | None:
    """Return the slot for a participant who returns to their own condition; None when it is full.

    `before` is the place of their previous slot; without blocks it is returned, as it is never assigned to another
    participant.

    Examples
    --------
    >>> occupancy = Occupancy([2, 2], [1, 1], [[1, 1]], frozenset({1, 2}), 3)
    >>> own_slot(Method("simple"), seed=1, stratum="women", occupancy=occupancy, condition=0, before=0)
    Slot(place=0, block=0, condition=0)
    """
    if not 0 <= condition < len(occupancy.targets):
        raise ParameterError(f"There are {len(occupancy.targets)} conditions, counted from 0; got {condition}.")
    if not occupancy.has_room[condition]:
        return None
    if method.name == PERMUTED_BLOCKS:
        sequence = permuted_blocks.slots(seed, stratum, len(occupancy.targets), method.multiples, method.weights)
        return permuted_blocks.own_slot(sequence, occupancy.occupied, condition, preferred=before)
    return Slot(occupancy.next_place if before is None else before, 0, condition)


def weights(targets: Sequence[int | None]) -> tuple[int, ...]:
    """Return the weight of a participant in each condition, so that conditions at their targets count equally.

    Without targets, every weight is 1.

    Examples
    --------
    >>> weights([30, 30, 15])
    (1, 1, 2)
    """
    sizes = [target or 1 for target in targets]
    # Whole weights keep the imbalances integers, so that equal ones are equal.
    whole = math.lcm(*sizes)
    return tuple(whole // size for size in sizes)


def imbalances(margins: Sequence[Sequence[int]], targets: Sequence[int | None]) -> tuple[int, ...]:
    r"""Return the imbalance of the newcomer's margins for each condition they could join.

    .. math:: G_i = \sum_m \Big( K \sum_k (y^i_{mk})^2 - \big(\sum_k y^i_{mk}\big)^2 \Big)

    where y is the weighted count of condition k in margin m after the newcomer has joined condition i. This is K²
    times the variance of the counts, as an integer. `margins`, of shape (n_margins, n_conditions), has the
    participants of each condition who share a trait with the newcomer; one row counts all participants.

    References
    ----------
    Pocock & Simon (1975), "Sequential treatment assignment with balancing for prognostic factors in the controlled
    clinical trial", Biometrics 31(1):103-115, section 3: the amount of variation D is the variance, G is the
    unweighted sum. Deviation: with unequal targets, counts are relative to the target.

    Examples
    --------
    >>> imbalances([[2, 1, 1], [1, 0, 1]], [None, None, None])
    (14, 2, 8)
    """
    unit = weights(targets)
    n_conditions = len(unit)
    scores = [0] * n_conditions
    for margin in margins:
        counts = [n * weight for n, weight in zip(margin, unit, strict=True)]
        total, squares = sum(counts), sum(n * n for n in counts)
        for condition, weight in enumerate(unit):
            new = squares + 2 * weight * counts[condition] + weight * weight
            scores[condition] += n_conditions * new - (total + weight) ** 2
    return tuple(scores)
