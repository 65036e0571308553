"""The methods by name, and the one decision that all of them make: which slot somebody takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import ParameterError
from studies.assignment import least_filled, minimisation, permuted_blocks, simple
from studies.assignment.draws import Assignment, Seed, Slot

PERMUTED_BLOCKS = "permuted_blocks"
MINIMISATION = "minimisation"
LEAST_FILLED = "least_filled"
SIMPLE = "simple"
METHODS = (PERMUTED_BLOCKS, MINIMISATION, LEAST_FILLED, SIMPLE)


@dataclass(frozen=True)
class Method:
    """A method and its parameters.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    multiples : tuple of int
        Permuted blocks: how many times a block holds the smallest block; one of several is drawn.
    probability : float
        Minimisation: how likely the best condition is.
    weights : tuple of int
        Permuted blocks: how often the smallest block holds each condition; empty for once each.

    Raises
    ------
    ParameterError
        An unknown name, or a parameter outside its range.
    """

    name: str = PERMUTED_BLOCKS
    multiples: tuple[int, ...] = (1,)
    probability: float = minimisation.PROBABILITY
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.name not in METHODS:
            raise ParameterError(f"The method of assignment is one of {', '.join(METHODS)}; got {self.name!r}.")
        numbers: list[Any] = list(self.multiples)  # from a design, which may hold anything
        weights: list[Any] = list(self.weights)
        probability: Any = self.probability
        if not numbers or any(isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 10 for n in numbers):
            raise ParameterError(f"A block holds each condition 1 to 10 times; got {numbers!r}.")
        if any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in weights):
            raise ParameterError(f"The weights of a block are whole numbers from 1; got {weights!r}.")
        is_number = isinstance(probability, int | float) and not isinstance(probability, bool)
        if not is_number or not 0.0 <= probability <= 1.0:
            raise ParameterError(f"The probability of the best condition lies between 0 and 1; got {probability!r}.")


def method_from(settings: Mapping[str, Any]) -> Method:
    """Read the method from a study's settings; a design without one has permuted blocks.

    Parameters
    ----------
    settings : mapping
        ``method``, ``block_multiples``, ``block_weights``, ``minimisation_probability``; each may be missing.

    Returns
    -------
    Method

    Raises
    ------
    ParameterError
        As `Method`.

    Examples
    --------
    >>> method_from({"block_multiples": [1, 2]})
    Method(name='permuted_blocks', multiples=(1, 2), probability=0.8, weights=())
    """
    multiples = settings.get("block_multiples", (1,))
    if not isinstance(multiples, list | tuple):
        raise ParameterError(f"A block holds each condition 1 to 10 times; got {multiples!r}.")
    weights = settings.get("block_weights", ())
    if not isinstance(weights, list | tuple):
        raise ParameterError(f"The weights of a block are whole numbers from 1; got {weights!r}.")
    return Method(
        settings.get("method", PERMUTED_BLOCKS),
        tuple(multiples),
        settings.get("minimisation_probability", minimisation.PROBABILITY),
        tuple(weights),
    )


@dataclass(frozen=True)
class Standing:
    """What is known when somebody arrives.

    Parameters
    ----------
    targets : sequence of int or None
        How many participants each condition is to have; None for as many as come.
    counts : sequence of int
        Participants who hold a slot in each condition.
    margins : sequence of sequence of int
        The same among those who share one trait with the newcomer, a row a trait, and among all; see `minimisation`.
    taken : frozenset of int
        Places of the newcomer's stratum that somebody holds.
    next_place : int
        The first place of that stratum that was never assigned or skipped, nor any after it.
    """

    targets: Sequence[int | None]
    counts: Sequence[int]
    margins: Sequence[Sequence[int]]
    taken: frozenset[int]
    next_place: int

    @property
    def has_room(self) -> list[bool]:
        """For each condition, whether it is below its target."""
        return [target is None or n < target for n, target in zip(self.counts, self.targets, strict=True)]


def assign(method: Method, *, seed: Seed, stratum: str, standing: Standing) -> Assignment | None:
    """The slot that the next participant of a stratum takes; None where no condition has room.

    Parameters
    ----------
    method : Method
        How.
    seed : int or str
        Seed of the assignment.
    stratum : str
        The newcomer's stratum.
    standing : Standing
        Who is there already.

    Returns
    -------
    Assignment or None
        With blocks, places are those of the stratum's sequence. Without, each decision uses up the next
        places: one for each full condition that it passed over, one for the slot.

    Examples
    --------
    >>> here = Standing([2, 2], [2, 1], [[2, 1]], frozenset({0, 1, 2}), 3)
    >>> assign(Method("least_filled"), seed=1, stratum="women", standing=here)
    Assignment(slot=Slot(place=3, block=0, condition=1), passed_over=())
    """
    has_room = standing.has_room
    if not any(has_room):
        return None
    if method.name == PERMUTED_BLOCKS:
        return permuted_blocks.first_open(
            seed=seed,
            stratum=stratum,
            taken=standing.taken,
            has_room=has_room,
            multiples=method.multiples,
            weights=method.weights,
        )
    place = standing.next_place
    if method.name == MINIMISATION:
        chosen, full = minimisation.choose(
            seed=seed,
            stratum=stratum,
            place=place,
            margins=standing.margins,
            targets=standing.targets,
            has_room=has_room,
            probability=method.probability,
        )
    else:
        if method.name == LEAST_FILLED:
            ranking = least_filled.ranking(seed, stratum, place, standing.counts, standing.targets)
        else:
            ranking = simple.ranking(seed, stratum, place, len(has_room))
        first = next(rank for rank, condition in enumerate(ranking) if has_room[condition])
        chosen, full = ranking[first], ranking[:first]
    passed_over = tuple(Slot(place + n, 0, condition) for n, condition in enumerate(full))
    return Assignment(Slot(place + len(full), 0, chosen), passed_over)


def own_slot(
    method: Method, *, seed: Seed, stratum: str, standing: Standing, condition: int, before: int | None
) -> Slot | None:
    """The slot for someone who comes back to their own condition; None where it has no room.

    Parameters
    ----------
    method, seed, stratum, standing
        As in `assign`.
    condition : int
        Index of their condition.
    before : int or None
        Place of their old slot.

    Returns
    -------
    Slot or None
        Without blocks, their old place, which nobody else can have taken.

    Examples
    --------
    >>> here = Standing([2, 2], [1, 1], [[1, 1]], frozenset({1, 2}), 3)
    >>> own_slot(Method("simple"), seed=1, stratum="women", standing=here, condition=0, before=0)
    Slot(place=0, block=0, condition=0)
    """
    if not 0 <= condition < len(standing.targets):
        raise ParameterError(f"There are {len(standing.targets)} conditions, counted from 0; got {condition}.")
    if not standing.has_room[condition]:
        return None
    if method.name == PERMUTED_BLOCKS:
        return permuted_blocks.own_slot(
            seed=seed,
            stratum=stratum,
            taken=standing.taken,
            n_conditions=len(standing.targets),
            condition=condition,
            multiples=method.multiples,
            weights=method.weights,
            preferred=before,
        )
    return Slot(standing.next_place if before is None else before, 0, condition)
