"""Exclusions: a researcher's decision with a reason, undone with a reason, never forgotten; and reopened slots.

In designs that refill, the slots of completers excluded by the plan are open again.
"""

from __future__ import annotations

import logging
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from core.errors import ParallaxError
from core.transitions import record
from studies.allocation.services.slots import locked_study, release_slot
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.models import Exclusion, Participant, Study
from studies.monitoring.selectors.exclusions import excluded_by_rule, planned_rule
from studies.monitoring.selectors.quality import flags_by_participant

logger = logging.getLogger(__name__)

LONGEST_REASON = 2000
RUNNING = (StudyStatus.LIVE, StudyStatus.PAUSED)


def _checked(reason: str) -> str:
    wording = reason.strip()
    if not wording:
        raise ParallaxError("exclusion.no_reason", "Say why: the reason is kept, and every analysis prints it.")
    if len(wording) > LONGEST_REASON:
        raise ParallaxError("exclusion.long_reason", f"A reason has at most {LONGEST_REASON} characters.")
    return wording


@transaction.atomic
def exclude(*, participant: Participant, reason: str, actor: Any = None) -> Exclusion:
    """Leave a participant out of analyses; their answers stay, and their slot stays taken.

    Raises `exclusion.no_reason`, `exclusion.long_reason`, `exclusion.already`, `exclusion.preview`.
    """
    wording = _checked(reason)
    if participant.mode == Mode.PREVIEW:
        raise ParallaxError("exclusion.preview", "Previews are in no analysis, so there is nothing to exclude.")
    own = flags_by_participant(participant.study, [participant.mode]).get(participant.pk, ())
    try:
        with transaction.atomic():
            exclusion = Exclusion.objects.create(
                participant=participant, reason=wording, flags=[flag.key for flag in own], excluded_by=actor
            )
    except IntegrityError as refused:
        raise ParallaxError("exclusion.already", "This participant is excluded already.") from refused
    record(participant, reason=f"Excluded from analyses: {wording}", actor=actor, act="excluded")
    return exclusion


@transaction.atomic
def undo_exclusion(*, participant: Participant, reason: str, actor: Any = None) -> Exclusion:
    """Take a participant in again; the exclusion stays in the record with both reasons.

    Raises `exclusion.no_reason`, `exclusion.long_reason`, `exclusion.none`.
    """
    wording = _checked(reason)
    open_one = Exclusion.objects.select_for_update(of=("self",)).filter(participant=participant, undone_at__isnull=True)
    row = open_one.first()
    if row is None:
        raise ParallaxError("exclusion.none", "This participant is not excluded.")
    row.undone_at, row.undone_by, row.undo_reason = timezone.now(), actor, wording
    row.save(update_fields=["undone_at", "undone_by", "undo_reason"])
    record(participant, reason=f"Taken into analyses again: {wording}", actor=actor, act="exclusion_undone")
    return row


def is_reopened(study: Study, participant: Participant) -> bool:
    """Whether a completer's slot has been reopened, as the design provides."""
    return (
        participant.status == ParticipantStatus.COMPLETED and participant.place is None and study.design.refill_excluded
    )


def reopen_excluded_slots() -> int:
    """Reopen the slots of completers excluded by the plan's rule, in running studies that refill; return their number.

    Safe to run at any time and twice. A slot stays open where a flag vanishes later, because a threshold depends on
    the others' times: then a condition has one analysable participant more than its target.
    """
    running = Study.objects.filter(status__in=RUNNING, archived_at__isnull=True, settings__refill_excluded=True)
    return sum(_reopen(study) for study in running.order_by("pk"))


def _completed(study: Study) -> dict[int, Participant]:
    rows = Participant.objects.filter(
        study=study, mode=Mode.LIVE, status=ParticipantStatus.COMPLETED, place__isnull=False
    )
    return rows.select_related("condition", "study").in_bulk()


def _reopen(study: Study) -> int:
    if not _completed(study):
        return 0
    excluded = excluded_by_rule(flags_by_participant(study, [Mode.LIVE]), planned_rule(study))
    with transaction.atomic():
        locked_study(study.pk)
        completed = _completed(study)
        reopened = [(completed[pk], name) for pk, name in sorted(excluded.items()) if pk in completed]
        for participant, name in reopened:
            release_slot(participant=participant)
            Participant.objects.filter(pk=participant.pk).update(place=None)
            reason = f"Excluded by the plan ({name}): the slot is open again."
            record(participant, reason=reason, act="slot_reopened")
    if reopened:
        logger.info("reopened slots study=%s n=%s", study.slug, len(reopened))
    return len(reopened)
