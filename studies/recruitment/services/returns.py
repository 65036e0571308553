"""Release of slots whose submissions a panel reports as returned or timed out."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction

from studies.allocation.services.slots import end_participation, locked_study
from studies.enums import ParticipantStatus
from studies.models import Participant

logger = logging.getLogger(__name__)


@transaction.atomic
def return_participant(*, participant: Participant, reason: str, actor: Any = None) -> Participant:
    """Mark a participant as returned and release their slot; their data are kept and marked.

    Idempotent. Raises `studies.not_returned` for participants who have already ended: completers keep their slot, and
    the researcher decides about their data.
    """
    locked_study(participant.study_id)
    current = (
        Participant.objects.select_for_update(of=("self",)).select_related("condition", "study").get(pk=participant.pk)
    )
    if current.status == ParticipantStatus.RETURNED:
        return current
    end_participation(participant=current, to=ParticipantStatus.RETURNED, reason=reason, actor=actor)
    participant.status = current.status
    logger.info("returned study=%s participant=%s", current.study.slug, current.code)
    return current
