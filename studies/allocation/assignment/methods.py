"""Assignment methods by name, and the slot each assigns to a participant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import ParameterError
from studies.allocation.assignment import least_filled, minimisation, permuted_blocks, simple
from studies.allocation.assignment.draws import Assignment, Seed, Slot
from studies.settings import StudySettings

PERMUTED_BLOCKS = "permuted_blocks"
MINIMISATION = "minimisation"
LEAST_FILLED = "least_filled"
SIMPLE = "simple"
METHODS = (PERMUTED_BLOCKS, MINIMISATION, LEAST_FILLED, SIMPLE)


@dataclass(frozen=True)
class Method:
    """An assignment method and its parameters."""

    name: str = PERMUTED_BLOCKS  # one of `METHODS`
    # permuted blocks: sizes of a block in multiples of the smallest block; one is drawn per block
    multiples: tuple[int, ...] = (1,)
    probability: float = minimisation.PROBABILITY  # minimisation: probability of assigning the best condition
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
    # `minimisation`
    margins: Sequence[Sequence[int]]
    occupied: frozenset[int]  # occupied places of the newcomer's stratum
    next_place: int  # the place after the last one that was ever assigned or skipped in that stratum

    @property
    def has_room(self) -> list[bool]:
        """For each condition, whether it is below its target."""
        return [target is None or n < target for n, target in zip(self.counts, self.targets, strict=True)]


def assign(method: Method, *, seed: Seed, stratum: str, occupancy: Occupancy) -> Assignment | None:
    """Return the slot for the next participant of a stratum; None when all conditions are full.

    With blocks, places follow the stratum's sequence. Without blocks, each assignment uses up the next places: one for
    each full condition that was skipped, and one for the slot.

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
        return permuted_blocks.first_open(
            seed=seed,
            stratum=stratum,
            occupied=occupancy.occupied,
            has_room=has_room,
            multiples=method.multiples,
            weights=method.weights,
        )
    next_place = occupancy.next_place
    if method.name == MINIMISATION:
        chosen, full = minimisation.choose(
            seed=seed,
            stratum=stratum,
            next_place=next_place,
            margins=occupancy.margins,
            targets=occupancy.targets,
            has_room=has_room,
            probability=method.probability,
        )
    else:
        if method.name == LEAST_FILLED:
            ranking = least_filled.ranking(seed, stratum, next_place, occupancy.counts, occupancy.targets)
        else:
            ranking = simple.ranking(seed, stratum, next_place, len(has_room))
        first = next(rank for rank, condition in enumerate(ranking) if has_room[condition])
        chosen, full = ranking[first], ranking[:first]
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
        return permuted_blocks.own_slot(
            seed=seed,
            stratum=stratum,
            occupied=occupancy.occupied,
            n_conditions=len(occupancy.targets),
            condition=condition,
            multiples=method.multiples,
            weights=method.weights,
            preferred=before,
        )
    return Slot(occupancy.next_place if before is None else before, 0, condition)
