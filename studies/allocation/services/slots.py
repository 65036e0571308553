"""Slots in arms: assigned, released and reassigned under the study's lock; every change is logged.

Arms are a study's conditions, or sequences of them where each person has several lists.

Call `locked_study` first, in the transaction that changes slots: concurrent arrivals are serialised. On PostgreSQL it
locks the study's row; on SQLite the transaction already holds the write lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from core.transitions import move
from studies.allocation.assignment.draws import Slot
from studies.allocation.assignment.methods import PERMUTED_BLOCKS, Occupancy, assign, method_from, own_slot
from studies.allocation.assignment.quotas import first_full
from studies.allocation.assignment.strata import margins_of, strata_from, with_interviewer
from studies.allocation.selectors.allocations import (
    Arm,
    answers_of_holders,
    arms_of,
    assigned_to,
    slots_held_by_stratum,
    targets,
)
from studies.allocation.selectors.assignment_seed import assignment_seed
from studies.enums import HOLDS_SLOT, PARTICIPANT_MOVES, AllocationKind, Mode
from studies.instrument.questionnaires.schema import plain_answer
from studies.models import Allocation, Interview, Participant, Study
from studies.settings import Quota

USES_UP = (AllocationKind.ASSIGNED, AllocationKind.SKIPPED)


def locked_study(study_id: int) -> Study:
    """Lock and load the study; read slots only after this."""
    # A no-key lock does not block inserts that only reference the study, such as consent.
    return Study.objects.select_for_update(no_key=True).get(pk=study_id)


def _plain(answers: Mapping[str, Any]) -> dict[str, Any]:
    return {key: plain_answer(value) for key, value in answers.items()}


def stratum_for(study: Study, answers: Mapping[str, Any], participant: Participant) -> str:
    """Return the stratum of a participant with these answers; with permuted blocks, sparse strata are merged.

    The interviewer of an interview is an additional trait, so that interviewers are crossed with conditions.
    """
    is_merged = method_from(study.design).name == PERMUTED_BLOCKS
    stratum = strata_from(study.design).of(_plain(answers), is_merged=is_merged)
    interview = Interview.objects.filter(participant=participant).order_by("pk").first()
    return stratum if interview is None else with_interviewer(stratum, interview.number)


def open_targets(study: Study, arms: list[Arm], participant: Participant) -> list[int | None]:
    """Return the targets open to a newcomer: 0 if their interviewer is nested in another condition."""
    every = targets(study, arms, participant.mode)
    interview = Interview.objects.filter(participant=participant).order_by("pk").first()
    if interview is None or interview.condition_id is None:
        return every
    return [target if arm == interview.condition else 0 for arm, target in zip(arms, every, strict=True)]


def full_quota(study: Study, mode: str, answers: Mapping[str, Any], statuses: Set[str] = HOLDS_SLOT) -> Quota | None:
    """Return the quota that excludes a newcomer, full of holders of these statuses.

    Quotas do not apply to simulated participants and previews.
    """
    quotas = study.design.quotas if mode == Mode.LIVE else ()
    return first_full(quotas, _plain(answers), answers_of_holders(study, mode, quotas, statuses)) if quotas else None


def _occupancy(study: Study, mode: str, stratum: str, arms: list[Arm]) -> Occupancy:
    index_of = {arm.pk: index for index, arm in enumerate(arms)}
    by_stratum = slots_held_by_stratum(study, mode)
    counts = {(name, index_of[arm_id]): n for (name, arm_id), n in by_stratum.items()}
    margins = margins_of(stratum, counts, len(arms))
    used = _used(study, mode, stratum)
    participants = Participant.objects.filter(study=study, mode=mode, stratum=stratum).order_by()
    return Occupancy(
        targets=targets(study, arms, mode),
        counts=margins[-1],
        margins=margins,
        occupied=frozenset(n for n in participants.values_list("place", flat=True) if n is not None),
        next_place=max(used, default=-1) + 1,
    )


def _used(study: Study, mode: str, stratum: str) -> set[int]:
    lines = Allocation.objects.filter(study=study, mode=mode, stratum=stratum, kind__in=USES_UP)
    return set(lines.order_by().values_list("place", flat=True))


def _log(
    participant: Participant,
    stratum: str,
    kind: str,
    slot: Slot,
    arms: list[Arm],
    *,
    open_now: list[int | None],
) -> Allocation:
    return Allocation(
        study_id=participant.study_id,
        mode=participant.mode,
        kind=kind,
        stratum=stratum,
        place=slot.place,
        block=slot.block,
        **assigned_to(arms[slot.condition]),
        participant=None if kind == AllocationKind.SKIPPED else participant,
        targets=open_now,
    )


def claim_slot(*, study: Study, participant: Participant, stratum: str) -> tuple[Arm, int] | None:
    """Find and log the slot of a newcomer; None when the study is full.

    The caller holds the study's lock and stores arm, stratum and place on the participant.
    """
    arms = arms_of(study)
    mode = participant.mode
    open_now = open_targets(study, arms, participant)
    assignment = assign(
        method_from(study.design),
        seed=assignment_seed(study, mode),
        stratum=stratum,
        occupancy=replace(_occupancy(study, mode, stratum, arms), targets=open_now),
    )
    if assignment is None:
        return None
    used = _used(study, mode, stratum)
    lines = [
        _log(participant, stratum, AllocationKind.SKIPPED, slot, arms, open_now=open_now)
        for slot in assignment.passed_over
        if slot.place not in used
    ]
    kind = AllocationKind.RETAKEN if assignment.slot.place in used else AllocationKind.ASSIGNED
    lines.append(_log(participant, stratum, kind, assignment.slot, arms, open_now=open_now))
    Allocation.objects.bulk_create(lines)
    return arms[assignment.slot.condition], assignment.slot.place


def release_slot(*, participant: Participant) -> None:
    """Log the release of a participant's slot.

    The caller holds the study's lock and clears the place in the same status change.
    """
    if participant.place is None or participant.arm_id is None:
        return
    study, mode, stratum = participant.study, participant.mode, participant.stratum
    arms = arms_of(study)
    # The block is on the log's line only; participants' rows hold the place, from which it could not be derived.
    line = Allocation.objects.filter(study=study, mode=mode, stratum=stratum, place=participant.place).first()
    index = next(i for i, arm in enumerate(arms) if arm.pk == participant.arm_id)
    slot = Slot(participant.place, line.block if line else 0, index)
    open_now = targets(study, arms, mode)
    _log(participant, stratum, AllocationKind.RELEASED, slot, arms, open_now=open_now).save()


def end_participation(*, participant: Participant, to: str, reason: str, actor: Any = None, **changes: Any) -> None:
    """Release the participant's slot, and move them to a status that holds none.

    The caller holds the study's lock. Raises `studies.not_…` where their status does not allow it.
    """
    release_slot(participant=participant)
    # In the same update as the status: a slot that is free in one and held in the other could be given twice.
    changes |= {"place": None, "waiting_since": None, "network": ""}
    move(participant, to=to, allowed=PARTICIPANT_MOVES, actor=actor, reason=reason, **changes)


def retake_slot(*, study: Study, participant: Participant) -> int | None:
    """Find and log a slot in the participant's own arm; None when it is full.

    The caller holds the study's lock and stores the place on the participant.
    """
    arms = arms_of(study)
    mode, stratum = participant.mode, participant.stratum
    released = Allocation.objects.filter(participant=participant, kind=AllocationKind.RELEASED).order_by("-id")
    slot = own_slot(
        method_from(study.design),
        seed=assignment_seed(study, mode),
        stratum=stratum,
        occupancy=_occupancy(study, mode, stratum, arms),
        condition=next(i for i, arm in enumerate(arms) if arm.pk == participant.arm_id),
        before=released.values_list("place", flat=True).first(),
    )
    if slot is None:
        return None
    is_used = slot.place in _used(study, mode, stratum)
    # A slot ahead in the sequence counts as assigned; no other participant will get it.
    kind = AllocationKind.RETAKEN if is_used else AllocationKind.ASSIGNED
    _log(participant, stratum, kind, slot, arms, open_now=targets(study, arms, mode)).save()
    return slot.place
