"""Failed attention checks: the participant's part ends, and their slot opens again."""

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
def fail_attention(*, participant: Participant, reason: str, actor: Any = None) -> Participant:
    """End the part of somebody who failed the study's attention checks; their data stay, marked.

    Done twice, the second time changes nothing. Raises `studies.not_attention_failed` unless they are under way.
    """
    locked_study(participant.study_id)
    current = (
        Participant.objects.select_for_update(of=("self",)).select_related("condition", "study").get(pk=participant.pk)
    )
    if current.status != ParticipantStatus.ATTENTION_FAILED:
        release_slot(participant=current)
        move(
            current,
            to=ParticipantStatus.ATTENTION_FAILED,
            allowed=PARTICIPANT_MOVES,
            actor=actor,
            reason=reason,
            place=None,
        )
        logger.info("attention failed study=%s participant=%s", current.study.slug, current.code)
    participant.status, participant.place = current.status, current.place
    return current
