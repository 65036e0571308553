"""The sequences of a study with several lists for each person: made from its flow, its conditions and their targets."""

from __future__ import annotations

from string import ascii_uppercase

from core.errors import ParameterError
from studies.allocation.assignment.sequences import pair_sequences, williams_square
from studies.enums import Mode, StudyStatus
from studies.flow_pages import IN_TURN, SIDE_BY_SIDE, Lists
from studies.models import Allocation, Participant, Sequence, Study

LONGEST_LABEL = 80
Occasions = list[list[int]]


def arrange(study: Study) -> None:
    """Give a study the sequences that follow from its flow, its conditions and their targets, in their order.

    The caller holds the study's lock, in a transaction. A study with one list for each person has none, and so has a
    draft with too few or too many conditions: the launch says so. Once the design is frozen, only targets change.
    Where sequences change, previews are removed: they walk sequences that there are no more.
    """
    conditions = list(study.conditions.order_by("position"))
    try:
        orders = orders_of(study.design.flow.lists, len(conditions))
    except ParameterError:
        orders = []
    participants = max((condition.target for condition in conditions), default=0)
    target = -(-participants // max(len(orders), 1))
    if study.status != StudyStatus.DRAFT:
        study.sequences.update(target=target)
        return
    before = list(study.sequences.order_by("position"))
    if [sequence.occasions for sequence in before] != orders:
        Allocation.objects.filter(study=study, mode=Mode.PREVIEW).delete()
        Participant.objects.filter(study=study, mode=Mode.PREVIEW).delete()
        study.sequences.all().delete()
        before = [Sequence(study=study, position=at, occasions=order) for at, order in enumerate(orders)]
    for sequence, label in zip(before, _labels(orders, [condition.label for condition in conditions]), strict=True):
        if (sequence.label, sequence.target) != (label, target):
            sequence.label, sequence.target = label, target
            sequence.save()


def orders_of(lists: Lists, k: int) -> list[Occasions]:
    """Return the conditions of each occasion, from left to right, of each sequence of `k` conditions.

    None with one list. Raises ParameterError where there is no such design.
    """
    if lists.shown == IN_TURN:
        return [[[condition] for condition in order] for order in williams_square(k)]
    if lists.shown == SIDE_BY_SIDE:
        return [[list(pair) for pair in order] for order in pair_sequences(k, lists.pairs_each)]
    return []


def _labels(orders: list[Occasions], names: list[str]) -> list[str]:
    """The conditions of each sequence by their labels, or by letters in their order where these are too long."""
    labels = [", ".join("–".join(names[at] for at in occasion) for occasion in order) for order in orders]
    is_short = all(len(label) <= LONGEST_LABEL for label in labels)
    return labels if is_short else _labels(orders, [*ascii_uppercase[: len(names)]])
