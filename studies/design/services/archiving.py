"""Archive, restore and delete studies; archived studies are unlisted and read-only.

A deleted study is gone with everything that belongs to it; its run, its models and the dataset stay.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from accounts.models import Invitation
from core.errors import NotAllowedInState, ParallaxError
from core.transitions import log_change, record
from studies.allocation.services.slots import locked_study
from studies.enums import Mode, StudyStatus
from studies.models import Allocation, Condition, ConsentVersion, Participant, Study, StudyVersion

logger = logging.getLogger(__name__)


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


@transaction.atomic
def delete_study(*, study: Study, typed: str = "", actor: Any = None) -> None:
    """Delete a study for good, with its participants, reports, exports and links.

    Where people took part, `typed` has to be the study's slug. What remains is a line in the log, with counts and
    the design hash. Raises `study.live_not_deleted`, `study.slug_not_typed`.
    """
    current = Study.objects.select_for_update().get(pk=study.pk)
    if current.status == StudyStatus.LIVE:
        raise NotAllowedInState(
            "study.live_not_deleted", "A live study takes participants. Pause or close it before you delete it."
        )
    # Rows of people count also where nothing of them is left.
    if current.participants.filter(mode=Mode.LIVE).exists() and typed.strip() != current.slug:
        raise ParallaxError(
            "study.slug_not_typed",
            f"People took part in this study. To delete what they gave, type the end of its link: {current.slug}",
        )
    files = [name for name in current.jobs.values_list("file", flat=True) if name]
    facts = {
        "slug": current.slug,
        "title": current.title,
        "design_hash": current.design_hash,
        "run": current.run_id,
        "participants": current.participants.count(),
    }
    # What others may not lose by accident is protected, so it goes first, in this order.
    for kind in (Allocation, Participant, ConsentVersion, StudyVersion, Condition):
        kind._default_manager.filter(study=current).delete()
    Invitation.objects.filter(study_invitation__study=current).delete()
    log_change(current, current.status, "deleted", actor=actor, reason="Deleted.", facts=facts)
    current.delete()
    for name in files:
        transaction.on_commit(partial(default_storage.delete, name))
    logger.info("deleted study=%s participants=%s", facts["slug"], facts["participants"])
