"""Permuted blocks within strata.

Each stratum has an endless sequence of slots, determined by the seed and the stratum's name. It consists of blocks;
each block holds the conditions in proportion to their targets, in random order. A newcomer is assigned the first free
slot of their stratum whose condition has room. Released slots are therefore refilled first, full conditions are
skipped, and the same seed and order of arrival give the same assignment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from math import gcd

from core.errors import ParameterError
from studies.allocation.assignment.draws import Assignment, Draws, Seed, Slot

TOLERANCE = 20  # a condition's share of a block is within 1/20 of its share of the targets


def block_weights(targets: Sequence[int]) -> tuple[int, ...]:
    """Return the slots of each condition in the smallest block, so that all conditions fill at the same rate.

    They are the fewest slots, at least one each, that match every condition's share of the targets to within 5% of that
    share; the exact ratio of the targets when no smaller block does. Raises ParameterError when there is no condition,
    or a target is below 1.

    Examples
    --------
    >>> block_weights([30, 30, 30]), block_weights([30, 30, 60]), block_weights([30, 31, 60])
    ((1, 1, 1), (1, 1, 2), (1, 1, 2))
    """
    if not targets or min(targets) < 1:
        raise ParameterError(f"Each condition needs a target of at least one participant; got {list(targets)}.")
    total, divisor = sum(targets), gcd(*targets)
    # From the smallest on: short blocks keep conditions balanced wherever recruitment ends.
    for size in range(len(targets), total // divisor):
        # Largest remainders; ties go to the earlier condition.
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
    *,
    weights: Sequence[int] = (),
) -> tuple[int, ...]:
    """Return the conditions of one block in their random order.

    Blocks are numbered from 0. One of `multiples` is drawn as the size of the block, in multiples of the smallest
    block, which has `weights` slots of each condition (`block_weights`), or one each. Raises ParameterError when there
    is no condition or no multiple, a multiple or weight is below 1, or the weights do not match the conditions in
    number. Source: Matts & Lachin (1988), "Properties of permuted-block randomization in clinical trials", Controlled
    Clinical Trials 9(4):327-344. The permutation is drawn by the Fisher-Yates shuffle.

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
    return _random_block(seed, stratum, block, each, tuple(multiples))


@lru_cache(maxsize=4096)
def _random_block(
    seed: Seed, stratum: str, block: int, weights: tuple[int, ...], multiples: tuple[int, ...]
) -> tuple[int, ...]:
    """Draw a block. Blocks are cached, because every arrival goes through its stratum's blocks from the first."""
    draws = Draws(seed, stratum, block)
    # Blocks of random length make the last assignments of a block harder to guess.
    multiple = multiples[draws.below(len(multiples))]
    order = [condition for condition, weight in enumerate(weights) for _ in range(weight)] * multiple
    draws.shuffle(order)
    return tuple(order)


def slots(
    seed: Seed, stratum: str, n_conditions: int, multiples: Sequence[int] = (1,), weights: Sequence[int] = ()
) -> Iterator[Slot]:
    """Generate the endless sequence of a stratum's slots.

    Examples
    --------
    >>> from itertools import islice
    >>> [slot.place for slot in islice(slots(1, "men", 2), 3)]
    [0, 1, 2]
    """
    next_place = 0
    for block in count():  # pragma: no branch
        for condition in block_order(seed, stratum, block, n_conditions, multiples, weights=weights):
            yield Slot(next_place, block, condition)
            next_place += 1


def first_open(sequence: Iterable[Slot], occupied: Collection[int], has_room: Sequence[bool]) -> Assignment:
    """Return the first free slot for the next participant of a stratum, in its sequence.

    `occupied` are places of the stratum; `has_room` says for each condition whether it is below its target over all
    strata. At least one condition must have room.

    Examples
    --------
    >>> first_open(slots(1, "women", 2), occupied=set(), has_room=[False, True]).slot.condition
    1
    """
    passed_over: list[Slot] = []
    for slot in sequence:
        if slot.place in occupied:
            continue
        # Over all strata: targets are those of conditions, whereas sequences belong to strata.
        if has_room[slot.condition]:
            return Assignment(slot, tuple(passed_over))
        passed_over.append(slot)
    raise AssertionError("The sequence of slots is endless.")  # pragma: no cover


def own_slot(
    sequence: Iterable[Slot], occupied: Collection[int], condition: int, *, preferred: int | None = None
) -> Slot:
    """Return the slot for a participant who returns to their own condition.

    It is their previous slot if that is still free, otherwise the first free slot of the condition. That slot may be
    ahead in the sequence; later assignments skip it, so the stratum becomes balanced again. `preferred` is the place of
    their previous slot.

    Examples
    --------
    >>> own_slot(slots(1, "women", 2), occupied={0, 1}, condition=1).block
    1
    """
    first: Slot | None = None
    for slot in sequence:
        if slot.condition == condition and slot.place not in occupied:
            if preferred is None or slot.place == preferred:
                return slot
            first = first or slot
        if preferred is not None and slot.place >= preferred and first is not None:
            return first
    raise AssertionError("The sequence of slots is endless.")  # pragma: no cover
