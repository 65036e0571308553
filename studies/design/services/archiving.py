"""Archive and restore studies; archived studies are unlisted and read-only."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import NotAllowedInState
from core.transitions import record
from studies.allocation.services.slots import locked_study
from studies.enums import StudyStatus
from studies.models import Study


def refuse_archived(study: Study) -> None:
    """Raise `study.archived` for an archived study, which cannot be changed."""
    if study.archived_at is not None:
        raise NotAllowedInState(
            "study.archived", "This study is archived and can only be read. Restore it before you change it."
        )


@transaction.atomic
def archive_study(*, study: Study, actor: Any = None) -> Study:
    """Archive a study; idempotent. Raises `study.live_not_archived`."""
    current = locked_study(study.pk)
    if current.status == StudyStatus.LIVE:
        raise NotAllowedInState(
            "study.live_not_archived", "A live study takes participants. Pause or close it before you archive it."
        )
    if current.archived_at is None:
        _write(current, timezone.now(), actor, "Archived.")
    study.archived_at = current.archived_at
    return study


@transaction.atomic
def restore_study(*, study: Study, actor: Any = None) -> Study:
    """Bring an archived study back in the state it had; of one that is not archived nothing changes."""
    current = locked_study(study.pk)
    if current.archived_at is not None:
        _write(current, None, actor, "Restored from the archive.")
    study.archived_at = None
    return study


def _write(study: Study, moment: Any, actor: Any, reason: str) -> None:
    study.archived_at = moment
    study.save(update_fields=["archived_at", "updated_at"])
    record(study, reason=reason, actor=actor)
