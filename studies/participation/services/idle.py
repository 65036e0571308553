"""Idle participants: marked as abandoned, and their slots released."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from studies.allocation.services.slots import end_participation, locked_study
from studies.enums import ParticipantStatus
from studies.models import Participant, Study


def release_idle(*, now: datetime | None = None) -> int:
    """Mark participants idle past their study's limit as abandoned, release their slots, and return their number.

    Safe to run at any time and concurrently: each participant is checked again
    under the study's lock.
    """
    moment = now or timezone.now()
    released = 0
    open_statuses = (ParticipantStatus.CONSENTED, ParticipantStatus.ACTIVE)
    is_open = Q(participants__status__in=open_statuses) | Q(participants__waiting_since__isnull=False)
    for study in Study.objects.filter(is_open).distinct().order_by("pk"):
        limit = moment - timedelta(minutes=study.design.idle_minutes)
        gone = Participant.objects.filter(study=study, status=ParticipantStatus.ABANDONED, last_seen_at__lt=limit)
        gone.filter(waiting_since__isnull=False).update(waiting_since=None, network="")
        idle = Participant.objects.filter(study=study, status__in=open_statuses, last_seen_at__lt=limit)
        for participant_id in list(idle.order_by("pk").values_list("pk", flat=True)):
            released += _abandoned(study.pk, participant_id, limit)
    return released


@transaction.atomic
def _abandoned(study_id: int, participant_id: int, limit: datetime) -> int:
    locked_study(study_id)
    participant = Participant.objects.select_for_update(of=("self",)).select_related("condition").get(pk=participant_id)
    is_open = participant.status in (ParticipantStatus.CONSENTED, ParticipantStatus.ACTIVE)
    if not is_open or participant.last_seen_at >= limit:
        return 0
    reason = "Idle longer than the study's limit."
    end_participation(participant=participant, to=ParticipantStatus.ABANDONED, reason=reason)
    return 1
