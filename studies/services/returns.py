"""Submissions that a panel reports as returned or timed out: their slots open again."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction

from core.transitions import move
from studies.enums import PARTICIPANT_MOVES, ParticipantStatus
from studies.models import Participant
from studies.services.slots import locked_study, release_slot

logger = logging.getLogger(__name__)


@transaction.atomic
def return_participant(*, participant: Participant, reason: str, actor: Any = None) -> Participant:
    """Mark somebody as returned and open their slot; their data stay, marked.

    Done twice, the second time changes nothing. Raises `studies.not_returned` where they have ended already:
    someone who completed keeps their slot, and the researcher decides about their data.
    """
    locked_study(participant.study_id)
    current = (
        Participant.objects.select_for_update(of=("self",)).select_related("condition", "study").get(pk=participant.pk)
    )
    if current.status == ParticipantStatus.RETURNED:
        return current
    release_slot(participant=current)
    move(
        current,
        to=ParticipantStatus.RETURNED,
        allowed=PARTICIPANT_MOVES,
        actor=actor,
        reason=reason,
        place=None,
    )
    participant.status = current.status
    logger.info("returned study=%s participant=%s", current.study.slug, current.code)
    return current
