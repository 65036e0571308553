"""Recommendations of all conditions for one profile, side by side; nothing is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from catalog.models import Item
from core.errors import ParallaxError, StorageUnavailable
from studies.design.services.condition_serving import recommend_in
from studies.enums import StudyStatus
from studies.models import Condition, Study
from studies.monitoring.selectors.outcomes import are_outcomes_open
from studies.participation.services.previewing import tickets


@dataclass(frozen=True)
class Slot:
    """One slot of a list; `n_lists` is the number of lists that contain its item."""

    item: Item
    is_filled: bool
    n_lists: int


@dataclass(frozen=True)
class ConditionList:
    """The list of one condition, or the `problem` that prevents it. `ticket` is the condition's number in previews."""

    ticket: int
    name: str
    slots: tuple[Slot, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class SideBySide:
    """The lists of all conditions; `overlaps` has the number of shared items for each pair of lists."""

    lists: tuple[ConditionList, ...]
    overlaps: tuple[tuple[str, tuple[int | None, ...]], ...]
    n_different: int


def are_named(study: Study) -> bool:
    """Whether lists may show their conditions: in a draft, and after unblinding."""
    return study.status == StudyStatus.DRAFT or are_outcomes_open(study)


def letter(number: int) -> str:
    """Return the label of a blinded list: A, B, …, Z, AA, …"""
    first, last = divmod(number, len(ascii_uppercase))
    return (ascii_uppercase[first - 1] if first else "") + ascii_uppercase[last]


def side_by_side(*, study: Study, ratings: Mapping[int, int]) -> SideBySide:
    """Compute each condition's list for a profile, `ratings` being points of the elicitation scale by item index.

    Conditions are in the order of the design if named; if blinded, they are in random order and labelled by letters.
    A model that cannot be used is reported in its list and does not affect the others.
    """
    is_open = are_named(study)
    numbered = list(enumerate(tickets(study)))
    if is_open:
        numbered.sort(key=lambda pair: pair[1].position)
    served = [
        (ticket, condition.label if is_open else f"List {letter(ticket)}", _served(study, condition, ratings, is_open))
        for ticket, condition in numbered
    ]
    counted = Counter(index for *_, listed in served if not isinstance(listed, str) for index, _filled in listed)
    items = {item.index: item for item in study.dataset_version.items.filter(index__in=list(counted))}
    lists = [
        ConditionList(ticket, name, problem=listed)
        if isinstance(listed, str)
        else ConditionList(ticket, name, tuple(Slot(items[index], filled, counted[index]) for index, filled in listed))
        for ticket, name, listed in served
    ]
    return SideBySide(tuple(lists), _overlaps(lists), len(counted))


def _served(
    study: Study, condition: Condition, ratings: Mapping[int, int], is_open: bool
) -> list[tuple[int, bool]] | str:
    try:
        length = study.design.listed_in(condition.shown)
        served = recommend_in(study=study, condition=condition, ratings=ratings, n=length)
    except (ParallaxError, StorageUnavailable, OSError) as problem:
        return str(problem) if is_open else "The model of this condition cannot be used."  # the reason may reveal it
    return list(zip(served.items, served.is_filled, strict=True))


def _overlaps(lists: Sequence[ConditionList]) -> tuple[tuple[str, tuple[int | None, ...]], ...]:
    sets = [{slot.item.pk for slot in entry.slots} for entry in lists]
    return tuple(
        (entry.name, tuple(None if i == j else len(sets[i] & sets[j]) for j in range(len(lists))))
        for i, entry in enumerate(lists)
    )
