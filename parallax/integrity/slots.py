"""Checks that slots, targets and the allocation log of a study agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from parallax.integrity.findings import Finding, finding
from studies.allocation.selectors.allocations import arms_of, assigned_to, replayed_log
from studies.enums import HOLDS_SLOT, AllocationKind, Mode
from studies.models import Allocation, Participant, Study
from studies.monitoring.services.exclusions import is_reopened

TAKES = (AllocationKind.ASSIGNED, AllocationKind.RETAKEN)


def check_slots(study: Study) -> Iterator[Finding]:
    """Slots by the log and by the participants' rows agree; no arm exceeds its target."""
    for mode in Mode.values:
        yield from _log(study, mode)
        if mode != Mode.PREVIEW and (problem := replayed_log(study, mode).problem):
            yield finding("allocation.not_replayed", study.slug, problem, study=[study.pk])
    yield from _targets(study)
    yield from _statuses(study)


def _log(study: Study, mode: str) -> Iterator[Finding]:
    holding: dict[tuple[str, int], tuple[int | None, int]] = {}
    used: Counter[tuple[str, int]] = Counter()
    for row in Allocation.objects.filter(study=study, mode=mode).order_by("id"):
        slot = (row.stratum, row.place)
        if row.kind in TAKES:
            if slot in holding:
                yield _line(study, row, f"gives place {row.place} of {row.stratum!r} to a second participant")
            holding[slot] = (row.participant_id, row.arm_id)
        elif row.kind == AllocationKind.RELEASED and holding.pop(slot, None) is None:
            yield _line(study, row, f"releases place {row.place} of {row.stratum!r}, which no participant held")
        if row.kind in (AllocationKind.ASSIGNED, AllocationKind.SKIPPED):
            used[slot] += 1
            if used[slot] == 2:
                yield _line(study, row, f"uses up place {row.place} of {row.stratum!r} a second time")
    by_log = {person: (slot, arm) for slot, (person, arm) in holding.items() if person is not None}
    people = Participant.objects.filter(study=study, mode=mode, status__in=HOLDS_SLOT)
    rows = [person for person in people.order_by("pk") if not is_reopened(study, person)]
    by_row = {person.pk: ((person.stratum, person.place), person.arm_id) for person in rows}
    for pk in sorted(by_log.keys() | by_row.keys()):
        if by_log.get(pk) != by_row.get(pk):
            here, there = _described(by_row.get(pk)), _described(by_log.get(pk))
            what = f"Participant {pk} holds {here} by their row and {there} by the log."
            yield finding("slot.differs", study.slug, what, participant=[pk])


def _described(slot: tuple[tuple[str, int | None], int | None] | None) -> str:
    return "no slot" if slot is None else f"place {slot[0][1]} of {slot[0][0]!r} in arm {slot[1]}"


def _line(study: Study, row: Allocation, what: str) -> Finding:
    sentence = f"Line {row.pk} of the allocation log {what}."
    return finding("allocation.wrong", study.slug, sentence, allocation=[row.pk])


def _targets(study: Study) -> Iterator[Finding]:
    for arm in arms_of(study):
        live = Participant.objects.filter(study=study, mode=Mode.LIVE, status__in=HOLDS_SLOT)
        people = live.filter(**assigned_to(arm))
        n = sum(not is_reopened(study, person) for person in people)
        if n > arm.target:
            what = f"{arm.label} has {n} participants and a target of {arm.target}."
            yield finding("target.overrun", study.slug, what, arm=[arm.pk])


def _statuses(study: Study) -> Iterator[Finding]:
    """A participant holds a slot if and only if their status says so."""
    for person in Participant.objects.filter(study=study).order_by("pk"):
        is_holder = person.status in HOLDS_SLOT and not is_reopened(study, person)
        if is_holder and (person.arm_id is None or person.place is None or person.assigned_at is None):
            what = f"Participant {person.code} is {person.status} without a slot."
            yield finding("slot.missing", study.slug, what, participant=[person.pk])
        if not is_holder and person.place is not None:
            what = f"Participant {person.code} is {person.status} and keeps a slot."
            yield finding("slot.kept", study.slug, what, participant=[person.pk])
