"""Slots in conditions: taken, given back, taken again, each under the study's lock and logged.

`locked_study` has to be called first, in the transaction that changes slots: it makes a hundred people at the
same instant wait for one another. On PostgreSQL it locks the study's row; on SQLite the transaction
itself has held the write lock since it began.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from studies.assignment.draws import Slot
from studies.assignment.methods import PERMUTED_BLOCKS, Standing, assign, method_from, own_slot
from studies.assignment.quotas import Quota, first_full, quotas_from
from studies.assignment.strata import strata_from
from studies.assignment.traits import margins_of, with_interviewer
from studies.enums import AllocationKind, Mode
from studies.models import Allocation, Condition, Interview, Participant, Study
from studies.questionnaires.schema import plain_answer
from studies.selectors.allocation import answers_of_holders, slots_held_by_stratum, targets
from studies.selectors.assignment_seed import assignment_seed
from studies.selectors.compiled import Columns, Compiled
from studies.selectors.kept import conditions_of

USES_UP = (AllocationKind.ASSIGNED, AllocationKind.SKIPPED)
_interviews = Compiled(lambda participant: Interview.objects.filter(participant=participant).order_by("pk"))
_taken = Columns(
    lambda mode, stratum, study: (
        Participant.objects.filter(mode=mode, stratum=stratum, study=study).order_by().values_list("place")
    )
)
_log_lines = Allocation.objects.order_by().values_list("place")
_used_up = Columns(
    lambda one, other, mode, stratum, study: _log_lines.filter(
        kind__in=(one, other), mode=mode, stratum=stratum, study=study
    )
)


def locked_study(study_id: int) -> Study:
    """Read the study under its lock; anything about slots is read after this."""
    # Only rows that would change the study wait: people giving consent refer to it and need not.
    return Study.objects.select_for_update(no_key=True).get(pk=study_id)


def _plain(answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers as rules of assignment compare them: what was declined counts as not given."""
    return {key: plain_answer(value) for key, value in answers.items()}


def stratum_for(study: Study, answers: Mapping[str, Any], participant: Participant) -> str:
    """The stratum of someone who gave these answers; sparse ones are merged where blocks are made within them.

    Whoever started them is a trait of it, so that interviewers are crossed with conditions.
    """
    is_merged = method_from(study.settings).name == PERMUTED_BLOCKS
    stratum = strata_from(study.settings).of(_plain(answers), is_merged=is_merged)
    interview = _interviews.row(participant.pk)
    return stratum if interview is None else with_interviewer(stratum, interview.number)


def open_targets(study: Study, conditions: list[Condition], participant: Participant) -> list[int | None]:
    """The targets as they are open to a newcomer: 0 where their interviewer is nested in another condition."""
    every = targets(study, conditions, participant.mode)
    only = _interviews.row(participant.pk)
    if only is None or only.condition_id is None:
        return every
    return [
        target if condition.pk == only.condition_id else 0 for condition, target in zip(conditions, every, strict=True)
    ]


def full_quota(study: Study, mode: str, answers: Mapping[str, Any]) -> Quota | None:
    """The quota that keeps a newcomer out; quotas are about people, so simulated ones and previews meet none."""
    quotas = quotas_from(study.settings) if mode == Mode.LIVE else ()
    return first_full(quotas, _plain(answers), answers_of_holders(study, mode, quotas)) if quotas else None


def _standing(study: Study, mode: str, stratum: str, conditions: list[Condition]) -> Standing:
    index_of = {condition.pk: index for index, condition in enumerate(conditions)}
    by_stratum = slots_held_by_stratum(study, mode)
    held = {(name, index_of[condition_id]): n for (name, condition_id), n in by_stratum.items()}
    margins = margins_of(stratum, held, len(conditions))
    used = _used(study, mode, stratum)
    return Standing(
        targets=targets(study, conditions, mode),
        counts=margins[-1],
        margins=margins,
        taken=frozenset(place for (place,) in _taken.columns(mode, stratum, study.pk) if place is not None),
        next_place=max(used, default=-1) + 1,
    )


def _used(study: Study, mode: str, stratum: str) -> set[int]:
    """The places of a stratum that the log has as used up."""
    return {place for (place,) in _used_up.columns(*USES_UP, mode, stratum, study.pk)}


def _log(
    study: Study,
    participant: Participant | None,
    mode: str,
    stratum: str,
    kind: str,
    slot: Slot,
    conditions: list[Condition],
    seen: list[int | None] | None = None,
) -> Allocation:
    return Allocation(
        study=study,
        mode=mode,
        kind=kind,
        stratum=stratum,
        place=slot.place,
        block=slot.block,
        condition=conditions[slot.condition],
        participant=participant,
        targets=targets(study, conditions, mode) if seen is None else seen,
    )


def take_slot(*, study: Study, participant: Participant, stratum: str) -> tuple[Condition, int] | None:
    """Find and log the slot of a newcomer; None where the study is full.

    The caller holds the study's lock and writes condition, stratum and place to the participant.
    """
    conditions = conditions_of(study)
    mode = participant.mode
    seen = open_targets(study, conditions, participant)
    found = assign(
        method_from(study.settings),
        seed=assignment_seed(study, mode),
        stratum=stratum,
        standing=replace(_standing(study, mode, stratum, conditions), targets=seen),
    )
    if found is None:
        return None
    used = _used(study, mode, stratum)
    lines = [
        _log(study, None, mode, stratum, AllocationKind.SKIPPED, slot, conditions, seen)
        for slot in found.passed_over
        if slot.place not in used
    ]
    kind = AllocationKind.RETAKEN if found.slot.place in used else AllocationKind.ASSIGNED
    lines.append(_log(study, participant, mode, stratum, kind, found.slot, conditions, seen))
    Allocation.objects.bulk_create(lines)
    return conditions[found.slot.condition], found.slot.place


def release_slot(*, participant: Participant) -> None:
    """Log that a participant gives their slot back.

    The caller holds the study's lock and clears the place in the move that ends the holding.
    """
    if participant.place is None or participant.condition is None:
        return
    study, mode, stratum = participant.study, participant.mode, participant.stratum
    conditions = conditions_of(study)
    line = Allocation.objects.filter(study=study, mode=mode, stratum=stratum, place=participant.place).first()
    index = next(i for i, condition in enumerate(conditions) if condition.pk == participant.condition_id)
    slot = Slot(participant.place, line.block if line else 0, index)
    _log(study, participant, mode, stratum, AllocationKind.RELEASED, slot, conditions).save()


def retake_slot(*, study: Study, participant: Participant) -> int | None:
    """Find and log a slot in the participant's own condition; None where it has no room.

    The caller holds the study's lock and writes the place to the participant.
    """
    conditions = conditions_of(study)
    mode, stratum = participant.mode, participant.stratum
    released = Allocation.objects.filter(participant=participant, kind=AllocationKind.RELEASED).order_by("-id")
    slot = own_slot(
        method_from(study.settings),
        seed=assignment_seed(study, mode),
        stratum=stratum,
        standing=_standing(study, mode, stratum, conditions),
        condition=next(i for i, condition in enumerate(conditions) if condition.pk == participant.condition_id),
        before=released.values_list("place", flat=True).first(),
    )
    if slot is None:
        return None
    is_used = slot.place in _used(study, mode, stratum)
    # A slot ahead in the sequence counts as assigned: it is used up for everybody else.
    kind = AllocationKind.RETAKEN if is_used else AllocationKind.ASSIGNED
    _log(study, participant, mode, stratum, kind, slot, conditions).save()
    return slot.place
