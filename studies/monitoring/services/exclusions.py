"""Exclusions: a researcher's decision with a reason, undone with a reason, never forgotten."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from core.errors import ParallaxError
from core.transitions import record
from studies.enums import Mode
from studies.models import Exclusion, Participant
from studies.monitoring.selectors.quality import flags_by_participant

LONGEST_REASON = 2000


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
