"""Slots in conditions: taken, given back, taken again, each under the study's lock and logged.

`locked_study` has to be called first, in the transaction that changes slots: it makes a hundred people at the
same instant wait for one another. On PostgreSQL it locks the study's row; on SQLite the transaction
itself has held the write lock since it began.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import Count

from core.provenance import derived_seed
from studies.assignment import Slot, first_open, own_slot
from studies.enums import HOLDS_SLOT, AllocationKind, Mode
from studies.models import Allocation, Condition, Participant, Study


def locked_study(study_id: int) -> Study:
    """Read the study under its lock; anything about slots is read after this."""
    # Only rows that would change the study wait: people giving consent refer to it and need not.
    return Study.objects.select_for_update(no_key=True).get(pk=study_id)


def targets(study: Study, conditions: list[Condition], mode: str) -> list[int | None]:
    """How many participants of that mode each condition is to have; None for as many as come."""
    if mode == Mode.PREVIEW:
        return [None] * len(conditions)
    simulated = study.settings.get("simulated_per_condition")
    if mode == Mode.SIMULATED and simulated is not None:
        return [int(simulated)] * len(conditions)
    return [condition.target for condition in conditions]


def held(study: Study, mode: str) -> Mapping[int, int]:
    """Slots held in each condition, by the condition's key."""
    counted = (
        Participant.objects.filter(study=study, mode=mode, status__in=HOLDS_SLOT)
        .order_by()
        .values_list("condition_id")
        .annotate(n=Count("pk"))
    )
    return dict(counted)


def _rooms(study: Study, conditions: list[Condition], mode: str) -> list[bool]:
    counts = held(study, mode)
    return [
        target is None or counts.get(condition.pk, 0) < target
        for condition, target in zip(conditions, targets(study, conditions, mode), strict=True)
    ]


def _taken(study: Study, mode: str, stratum: str) -> set[int]:
    held = Participant.objects.filter(study=study, mode=mode, stratum=stratum).order_by()
    return {place for place in held.values_list("place", flat=True) if place is not None}


def _seed(study: Study, mode: str) -> int:
    return derived_seed(study.seed, "assignment", mode)


def _multiples(study: Study) -> tuple[int, ...]:
    return tuple(study.settings.get("block_multiples") or (1,))


def _log(
    study: Study,
    mode: str,
    stratum: str,
    kind: str,
    slot: Slot,
    condition: Condition,
    participant: Participant | None,
) -> Allocation:
    return Allocation(
        study=study,
        mode=mode,
        kind=kind,
        stratum=stratum,
        place=slot.place,
        block=slot.block,
        condition=condition,
        participant=participant,
    )


def take_slot(*, study: Study, participant: Participant, stratum: str) -> tuple[Condition, int] | None:
    """Find and log the slot of a newcomer; None where the study is full.

    The caller holds the study's lock and writes condition, stratum and place to the participant.
    """
    conditions = list(study.conditions.order_by("position"))
    mode = participant.mode
    found = first_open(
        seed=_seed(study, mode),
        stratum=stratum,
        taken=_taken(study, mode, stratum),
        has_room=_rooms(study, conditions, mode),
        multiples=_multiples(study),
    )
    if found is None:
        return None
    used = set(
        Allocation.objects.filter(
            study=study,
            mode=mode,
            stratum=stratum,
            kind__in=[AllocationKind.ASSIGNED, AllocationKind.SKIPPED],
        ).values_list("place", flat=True)
    )
    lines = [
        _log(study, mode, stratum, AllocationKind.SKIPPED, slot, conditions[slot.condition], None)
        for slot in found.passed_over
        if slot.place not in used
    ]
    kind = AllocationKind.RETAKEN if found.slot.place in used else AllocationKind.ASSIGNED
    condition = conditions[found.slot.condition]
    lines.append(_log(study, mode, stratum, kind, found.slot, condition, participant))
    Allocation.objects.bulk_create(lines)
    return condition, found.slot.place


def release_slot(*, participant: Participant) -> None:
    """Log that a participant gives their slot back.

    The caller holds the study's lock and clears the place in the move that ends the holding.
    """
    if participant.place is None or participant.condition is None:
        return
    block = (
        Allocation.objects.filter(
            study=participant.study_id,
            mode=participant.mode,
            stratum=participant.stratum,
            place=participant.place,
        )
        .values_list("block", flat=True)
        .first()
    )
    Allocation.objects.create(
        study_id=participant.study_id,
        mode=participant.mode,
        kind=AllocationKind.RELEASED,
        stratum=participant.stratum,
        place=participant.place,
        block=block or 0,
        condition=participant.condition,
        participant=participant,
    )


def retake_slot(*, study: Study, participant: Participant) -> int | None:
    """Find and log a slot in the participant's own condition; None where it has no room.

    The caller holds the study's lock and writes the place to the participant.
    """
    conditions = list(study.conditions.order_by("position"))
    index = next(i for i, condition in enumerate(conditions) if condition.pk == participant.condition_id)
    if not _rooms(study, conditions, participant.mode)[index]:
        return None
    before = (
        Allocation.objects.filter(participant=participant, kind=AllocationKind.RELEASED)
        .order_by("-id")
        .values_list("place", flat=True)
        .first()
    )
    slot = own_slot(
        seed=_seed(study, participant.mode),
        stratum=participant.stratum,
        taken=_taken(study, participant.mode, participant.stratum),
        n_conditions=len(conditions),
        condition=index,
        multiples=_multiples(study),
        preferred=before,
    )
    is_used = Allocation.objects.filter(
        study=study,
        mode=participant.mode,
        stratum=participant.stratum,
        place=slot.place,
        kind__in=[AllocationKind.ASSIGNED, AllocationKind.SKIPPED],
    ).exists()
    # A slot ahead in the sequence counts as assigned: it is used up for everybody else.
    kind = AllocationKind.RETAKEN if is_used else AllocationKind.ASSIGNED
    _log(study, participant.mode, participant.stratum, kind, slot, conditions[index], participant).save()
    return slot.place
