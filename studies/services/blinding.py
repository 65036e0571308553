"""Blinding: outcomes by condition stay shut until the study is closed, or somebody opens them and says why."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import ParallaxError
from core.transitions import record
from studies.enums import Mode, StudyStatus
from studies.models import Study


@transaction.atomic
def open_outcomes(*, study: Study, reason: str, actor: Any = None) -> Study:
    """Show outcomes by condition before the study is closed; done twice, the first time counts.

    Raises `blinding.no_reason`, `blinding.not_needed` where the study is closed or not launched yet.
    """
    said = reason.strip()
    if not said:
        raise ParallaxError("blinding.no_reason", "Say why the outcomes are opened early: the record keeps it.")
    current = Study.objects.select_for_update().get(pk=study.pk)
    if current.status in (StudyStatus.CLOSED, StudyStatus.DRAFT):
        raise ParallaxError(
            "blinding.not_needed", "Outcomes are blinded from the launch of a study to its close, and not now."
        )
    if current.outcomes_opened_at is None:
        current.outcomes_opened_at = timezone.now()
        current.save(update_fields=["outcomes_opened_at", "updated_at"])
        why = f"Outcomes opened before the close: {said}"
        record(current, reason=why, actor=actor, act="outcomes_opened")
    study.outcomes_opened_at = current.outcomes_opened_at
    return study


def note_export(*, study: Study, kind: str, actor: Any = None, with_external_ids: bool = False) -> None:
    """Record that data were taken; before the close, that the outcomes were opened by it."""
    has_people = study.participants.filter(mode=Mode.LIVE).exists()
    is_early = study.status in (StudyStatus.LIVE, StudyStatus.PAUSED) and has_people
    said = "An export opened the outcomes before the close" if is_early else "Data exported"
    ids = ", with external ids" if with_external_ids else ""
    facts = {"act": "exported", "format": kind, "with_external_ids": with_external_ids}
    record(study, reason=f"{said}: {kind}{ids}.", actor=actor, **facts)
