"""Slots whose holders have rated nothing yet: they are reserved only, and yield to others once the study is full."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet

from studies.allocation.services.slots import end_participation
from studies.enums import Mode, ParticipantStatus
from studies.models import Participant, ProfileRating, Study

AWAY = timedelta(minutes=5)  # since the last page
LONGEST = timedelta(minutes=20)  # since the assignment, even with pages opened in between


def unused_slots(study: Study, moment: datetime) -> QuerySet[Participant]:
    """Holders of a slot who have rated no item, and were last seen before AWAY or assigned before LONGEST."""
    rated = ProfileRating.objects.filter(participant=OuterRef("pk"))
    return Participant.objects.filter(
        ~Exists(rated),
        Q(last_seen_at__lt=moment - AWAY) | Q(assigned_at__lt=moment - LONGEST),
        study=study,
        mode=Mode.LIVE,
        status=ParticipantStatus.ACTIVE,
        place__isnull=False,
    ).order_by("pk")


def release_unused_slots(study: Study, moment: datetime) -> int:
    """Release those slots and return their number. Their holders continue if there is room when they come back.

    The caller holds the study's lock, and has found the study or a quota full for a newcomer.
    """
    holders = unused_slots(study, moment).select_for_update(of=("self",)).select_related("condition")
    reason = "Rated nothing, and the place was needed."
    for participant in holders:
        end_participation(participant=participant, to=ParticipantStatus.ABANDONED, reason=reason)
    return len(holders)
