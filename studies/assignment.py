"""Assignment to conditions: permuted blocks within strata.

Each stratum has an endless sequence of slots, drawn from the seed and the stratum's name alone: block after
block, each holding every condition the same number of times in a drawn order. A newcomer takes the first slot
of their stratum that nobody holds and whose condition has room. So slots that were given back are filled
first, full conditions are passed over, and the same seed and order of arrival give the same assignment.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from core.errors import ParameterError

NOT_GIVEN = "not given"


@dataclass(frozen=True)
class Slot:
    """One slot of a stratum's sequence.

    Parameters
    ----------
    place : int
        Its number in the sequence, from 0.
    block : int
        The block it belongs to, from 0.
    condition : int
        Index of the condition, from 0.
    """

    place: int
    block: int
    condition: int


@dataclass(frozen=True)
class Assignment:
    """The slot a newcomer takes.

    Parameters
    ----------
    slot : Slot
        The slot.
    passed_over : tuple of Slot
        Open slots before it, all of full conditions.
    """

    slot: Slot
    passed_over: tuple[Slot, ...]


class _Draws:
    """Whole numbers from SHA-256 in counter mode: the same on every machine and in every version."""

    def __init__(self, *names: str | int) -> None:
        self._names = names
        self._counter = count()

    def below(self, n: int) -> int:
        # Numbers of the incomplete last cycle are drawn again, so that each result is equally likely.
        limit = 2**64 - 2**64 % n
        while True:
            text = json.dumps([*self._names, next(self._counter)], ensure_ascii=False)
            value = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
            if value < limit:
                return value % n


def block_order(
    seed: int, stratum: str, block: int, n_conditions: int, multiples: Sequence[int] = (1,)
) -> tuple[int, ...]:
    """The conditions of one block, in the order in which they are given out.

    Parameters
    ----------
    seed : int
        Seed of the sequence.
    stratum : str
        Name of the stratum.
    block : int
        Number of the block, from 0.
    n_conditions : int
        Number of conditions, >= 1.
    multiples : sequence of int
        How many times the block holds each condition, >= 1; one of several is drawn for each block.

    Returns
    -------
    tuple of int, length n_conditions * one of `multiples`
        Indexes of conditions.

    Raises
    ------
    ParameterError
        No condition, or no multiple, or a multiple below 1.

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
    draws = _Draws(seed, stratum, block)
    multiple = multiples[draws.below(len(multiples))]
    order = list(range(n_conditions)) * multiple
    for last in range(len(order) - 1, 0, -1):
        other = draws.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return tuple(order)


def slots(seed: int, stratum: str, n_conditions: int, multiples: Sequence[int] = (1,)) -> Iterator[Slot]:
    """The endless sequence of a stratum's slots.

    Parameters
    ----------
    seed, stratum, n_conditions, multiples
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
    for block in count():
        for condition in block_order(seed, stratum, block, n_conditions, multiples):
            yield Slot(place, block, condition)
            place += 1


def first_open(
    *,
    seed: int,
    stratum: str,
    taken: Collection[int],
    has_room: Sequence[bool],
    multiples: Sequence[int] = (1,),
) -> Assignment | None:
    """The slot that the next participant of a stratum takes.

    Parameters
    ----------
    seed, stratum, multiples
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
    for slot in slots(seed, stratum, len(has_room), multiples):
        if slot.place in taken:
            continue
        if has_room[slot.condition]:
            return Assignment(slot, tuple(passed_over))
        passed_over.append(slot)
    raise AssertionError("The sequence of slots has no end.")  # pragma: no cover


def own_slot(
    *,
    seed: int,
    stratum: str,
    taken: Collection[int],
    n_conditions: int,
    condition: int,
    multiples: Sequence[int] = (1,),
    preferred: int | None = None,
) -> Slot:
    """The slot for someone who comes back to their own condition.

    Their old slot where nobody took it, else the first open one of the condition. That may lie ahead in the
    sequence, which then passes over it, so the stratum evens out again by itself.

    Parameters
    ----------
    seed, stratum, taken, n_conditions, multiples
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
    for slot in slots(seed, stratum, n_conditions, multiples):
        if slot.condition == condition and slot.place not in taken:
            if preferred is None or slot.place == preferred:
                return slot
            first = first or slot
        if preferred is not None and slot.place >= preferred and first is not None:
            return first
    raise AssertionError("The sequence of slots has no end.")  # pragma: no cover


def stratum_of(answers: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]) -> str:
    """The stratum of someone who gave these answers.

    Parameters
    ----------
    answers : mapping
        Question key to value.
    rules : sequence of mapping
        One for each field: ``{"question", "groups": [{"name", "values"}], "rest"}`` for words, where values
        outside every group are merged into the rest; ``{"question", "bands": [[low, high], …]}`` for whole
        numbers, in rising order, both ends included, where a number outside every band counts with the band
        next below it, or with the first.

    Returns
    -------
    str
        Names of the groups and bands, joined by commas; "all" where there is no rule.

    Raises
    ------
    ParameterError
        A rule that has neither groups nor bands, or bands that do not rise.

    Examples
    --------
    >>> women = {"name": "women", "values": ["woman"]}
    >>> by_gender = {"question": "gender", "groups": [women], "rest": "all others"}
    >>> rules = [by_gender, {"question": "age", "bands": [[20, 34], [35, 50]]}]
    >>> stratum_of({"gender": "woman", "age": 35}, rules)
    'women, 35-50'
    """
    return ", ".join(_part(answers.get(rule.get("question", "")), rule) for rule in rules) or "all"


def _part(value: Any, rule: Mapping[str, Any]) -> str:
    if "groups" in rule:
        for group in rule["groups"]:
            if value in group["values"]:
                return str(group["name"])
        return str(rule.get("rest", "all others"))
    bands = rule.get("bands")
    if not bands:
        raise ParameterError(f"The stratum by {rule.get('question')!r} has neither groups nor bands.")
    ends = [end for band in bands for end in band]
    if ends != sorted(ends):
        raise ParameterError(f"The bands of the stratum by {rule.get('question')!r} do not rise: {bands}.")
    if value is None:
        return NOT_GIVEN
    low, high = next((band for band in reversed(bands) if value >= band[0]), bands[0])
    return f"{low}-{high}"
