"""Reopening the slots of completers excluded by the plan, in designs that refill."""

from __future__ import annotations

import logging

from django.db import transaction

from core.transitions import record
from studies.allocation.services.slots import locked_study, release_slot
from studies.enums import Mode, ParticipantStatus, StudyStatus
from studies.models import Participant, Study
from studies.monitoring.selectors.exclusions import excluded_by_rule, planned_rule
from studies.monitoring.selectors.quality import flags_by_participant

logger = logging.getLogger(__name__)

RUNNING = (StudyStatus.LIVE, StudyStatus.PAUSED)


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
