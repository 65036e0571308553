"""Withdrawal: what is known of a person is erased, and a row without a person stays."""

from __future__ import annotations

import logging

from django.db import transaction
from django.utils import timezone

from core.transitions import move
from studies.enums import PARTICIPANT_MOVES, Mode, ParticipantStatus
from studies.models import Guest, Interview, Participant, PersonalLink, RecommendationList
from studies.services.exporting import drop_archives
from studies.services.slots import locked_study, release_slot

logger = logging.getLogger(__name__)


def erase(*, participant: Participant) -> None:
    """Delete everything a participant gave and got, and what was said of them; the caller writes the row, with no
    completion code, and holds its lock.

    That somebody was excluded stays, without the words.
    """
    participant.responses.all().delete()
    participant.profile.all().delete()
    participant.events.all().delete()
    ids = list(participant.external_ids.values_list("value", flat=True))
    Guest.objects.filter(study=participant.study_id, value__in=ids).delete()
    participant.external_ids.all().delete()
    participant.submissions.all().delete()
    participant.exclusions.update(reason="", undo_reason="")
    Interview.objects.filter(participant=participant).update(place="", label="")
    PersonalLink.objects.filter(study=participant.study_id, digest=participant.entry_key).update(label="")
    RecommendationList.objects.filter(participant=participant).delete()


@transaction.atomic
def withdraw(*, participant: Participant, reason: str = "Withdrew by their own link.") -> Participant:
    """Erase answers, ratings, the list, events, external ids and the link's parameters; open the slot again.

    Exports that workers made before are deleted. A completion code is shown for the last time by whoever asked for
    it before.

    Condition, stratum and status stay, so that the allocation can still be replayed. Done twice, the second
    time changes nothing.
    """
    locked_study(participant.study_id)
    current = (
        Participant.objects.select_for_update(of=("self",)).select_related("condition", "study").get(pk=participant.pk)
    )
    if current.status == ParticipantStatus.WITHDRAWN:
        return current
    release_slot(participant=current)
    erase(participant=current)
    move(
        current,
        to=ParticipantStatus.WITHDRAWN,
        allowed=PARTICIPANT_MOVES,
        reason=reason,
        place=None,
        parameters={},
        shown_orders={},
        source_user="",
        completion_code="",
        erased_at=timezone.now(),
    )
    if current.mode != Mode.PREVIEW:  # they are in no export
        drop_archives(study=current.study)
    participant.status = current.status
    logger.info("withdrawn study=%s participant=%s", current.study.slug, current.code)
    return current
