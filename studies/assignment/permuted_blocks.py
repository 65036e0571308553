"""Permuted blocks within strata.

Each stratum has an endless sequence of slots, drawn from the seed and the stratum's name alone: block after
block, each holding the conditions in proportion to their targets, in a drawn order. A newcomer takes the first slot
of their stratum that nobody holds and whose condition has room. So slots that were given back are filled
first, full conditions are passed over, and the same seed and order of arrival give the same assignment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import count
from math import gcd

from core.errors import ParameterError
from studies.assignment.draws import Assignment, Draws, Seed, Slot

TOLERANCE = 20  # a condition's share of a block is within a 20th of its share of the targets


def block_weights(targets: Sequence[int]) -> tuple[int, ...]:
    """How often the smallest block holds each condition, so that all conditions fill up together.

    Parameters
    ----------
    targets : sequence of int
        Planned participants of each condition, >= 1.

    Returns
    -------
    tuple of int, length n_conditions
        The fewest slots, at least one each, that give every condition its share of the targets to within 5% of that
        share; the targets' exact ratio where no smaller block does.

    Raises
    ------
    ParameterError
        No condition, or a target below 1.

    Examples
    --------
    >>> block_weights([30, 30, 30]), block_weights([30, 30, 60]), block_weights([30, 31, 60])
    ((1, 1, 1), (1, 1, 2), (1, 1, 2))
    """
    if not targets or min(targets) < 1:
        raise ParameterError(f"Each condition needs a target of at least one participant; got {list(targets)}.")
    total, divisor = sum(targets), gcd(*targets)
    for size in range(len(targets), total // divisor):
        # Largest remainders, earlier conditions first among equal ones.
        weights = [size * target // total for target in targets]
        by_remainder = sorted(range(len(targets)), key=lambda c: (-(size * targets[c] % total), c))
        for condition in by_remainder[: size - sum(weights)]:
            weights[condition] += 1
        if all(
            TOLERANCE * abs(weight * total - size * target) <= size * target
            for weight, target in zip(weights, targets, strict=True)
        ):
            return tuple(weights)
    return tuple(target // divisor for target in targets)


def block_order(
    seed: Seed,
    stratum: str,
    block: int,
    n_conditions: int,
    multiples: Sequence[int] = (1,),
    weights: Sequence[int] = (),
) -> tuple[int, ...]:
    """The conditions of one block, in the order in which they are given out.

    Parameters
    ----------
    seed : int or str
        Seed of the sequence.
    stratum : str
        Name of the stratum.
    block : int
        Number of the block, from 0.
    n_conditions : int
        Number of conditions, >= 1.
    multiples : sequence of int
        How many times the block holds the smallest block, >= 1; one of several is drawn for each block.
    weights : sequence of int
        How often the smallest block holds each condition, >= 1; empty for once each. See `block_weights`.

    Returns
    -------
    tuple of int, length sum of the weights * one of `multiples`
        Indexes of conditions.

    Raises
    ------
    ParameterError
        No condition, or no multiple, or a multiple or weight below 1, or another number of weights than conditions.

    References
    ----------
    Matts & Lachin (1988), "Properties of permuted-block randomization in clinical trials", Controlled
    Clinical Trials 9(4):327-344. The permutation is drawn by Fisher and Yates' method.

    Examples
    --------
    >>> sorted(block_order(1, "women", 0, 3, (2,)))
    [0, 0, 1, 1, 2, 2]
    """
    if n_conditions < 1:
        raise ParameterError("A study needs at least one condition to assign participants to.")
    if not multiples or min(multiples) < 1:
        raise ParameterError(f"A block holds each condition at least once; got {list(multiples)} times.")
    each = tuple(weights) or (1,) * n_conditions
    if len(each) != n_conditions or min(each) < 1:
        raise ParameterError(f"A block needs a weight of at least 1 for each of {n_conditions} conditions; got {each}.")
    return _drawn(seed, stratum, block, each, tuple(multiples))


@lru_cache(maxsize=4096)
def _drawn(
    seed: Seed, stratum: str, block: int, weights: tuple[int, ...], multiples: tuple[int, ...]
) -> tuple[int, ...]:
    """Draw a block; every arrival walks along its stratum's blocks from the first on, so they are kept."""
    draws = Draws(seed, stratum, block)
    multiple = multiples[draws.below(len(multiples))]
    order = [condition for condition, weight in enumerate(weights) for _ in range(weight)] * multiple
    draws.shuffle(order)
    return tuple(order)


def slots(
    seed: Seed, stratum: str, n_conditions: int, multiples: Sequence[int] = (1,), weights: Sequence[int] = ()
) -> Iterator[Slot]:
    """The endless sequence of a stratum's slots.

    Parameters
    ----------
    seed, stratum, n_conditions, multiples, weights
        As in `block_order`.

    Yields
    ------
    Slot
        In order of place.

    Examples
    --------
    >>> from itertools import islice
    >>> [slot.place for slot in islice(slots(1, "men", 2), 3)]
    [0, 1, 2]
    """
    place = 0
    for block in count():  # pragma: no branch
        for condition in block_order(seed, stratum, block, n_conditions, multiples, weights):
            yield Slot(place, block, condition)
            place += 1


def first_open(
    *,
    seed: Seed,
    stratum: str,
    taken: Collection[int],
    has_room: Sequence[bool],
    multiples: Sequence[int] = (1,),
    weights: Sequence[int] = (),
) -> Assignment | None:
    """The slot that the next participant of a stratum takes.

    Parameters
    ----------
    seed, stratum, multiples, weights
        As in `block_order`.
    taken : collection of int
        Places of the stratum that someone holds.
    has_room : sequence of bool
        For each condition, whether it is below its target (over all strata).

    Returns
    -------
    Assignment or None
        None where no condition has room.

    Examples
    --------
    >>> first_open(seed=1, stratum="women", taken=set(), has_room=[False, True]).slot.condition
    1
    """
    if not any(has_room):
        return None
    passed_over: list[Slot] = []
    for slot in slots(seed, stratum, len(has_room), multiples, weights):
        if slot.place in taken:
            continue
        if has_room[slot.condition]:
            return Assignment(slot, tuple(passed_over))
        passed_over.append(slot)
    raise AssertionError("The sequence of slots has no end.")  # pragma: no cover


def own_slot(
    *,
    seed: Seed,
    stratum: str,
    taken: Collection[int],
    n_conditions: int,
    condition: int,
    multiples: Sequence[int] = (1,),
    weights: Sequence[int] = (),
    preferred: int | None = None,
) -> Slot:
    """The slot for someone who comes back to their own condition.

    Their old slot where nobody took it, else the first open one of the condition. That may lie ahead in the
    sequence, which then passes over it, so the stratum evens out again by itself.

    Parameters
    ----------
    seed, stratum, taken, n_conditions, multiples, weights
        As in `first_open` and `block_order`.
    condition : int
        Index of their condition.
    preferred : int or None
        Place of their old slot.

    Returns
    -------
    Slot

    Raises
    ------
    ParameterError
        No condition has that index.

    Examples
    --------
    >>> own_slot(seed=1, stratum="women", taken={0, 1}, n_conditions=2, condition=1).block
    1
    """
    if not 0 <= condition < n_conditions:
        raise ParameterError(f"There are {n_conditions} conditions, counted from 0; got {condition}.")
    first: Slot | None = None
    for slot in slots(seed, stratum, n_conditions, multiples, weights):
        if slot.condition == condition and slot.place not in taken:
            if preferred is None or slot.place == preferred:
                return slot
            first = first or slot
        if preferred is not None and slot.place >= preferred and first is not None:
            return first
    raise AssertionError("The sequence of slots has no end.")  # pragma: no cover
