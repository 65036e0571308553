"""What becomes of stored exports when answers in them are erased.

Apart from `exports`, which loads the libraries that write tables: every process listens for erasures.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.dispatch import receiver

from jobs.models import JobStatus
from jobs.services import LEASES
from studies.enums import Mode
from studies.models import Participant, Study
from studies.participation.services.withdrawal import answers_erased

DROPPED = "Deleted: a participant's data were erased after this export was created. Request it again."
ERASED_MEANWHILE = "A participant's data were erased while this export was being created."


def drop_archives(*, study: Study) -> None:
    """Delete a study's stored archives and restart exports under way, as a participant's data are erased.

    The caller holds the study's lock. Files are deleted on commit.
    """
    jobs = study.jobs.filter(kind="export", status__in=(JobStatus.RUNNING, JobStatus.SUCCEEDED))
    for job in jobs.select_for_update().order_by("pk"):
        if job.status == JobStatus.RUNNING:
            LEASES.revoke(job.pk, reason=ERASED_MEANWHILE)
        elif job.file:
            transaction.on_commit(partial(default_storage.delete, job.file), robust=True)
            job.file, job.error = "", DROPPED
            job.save(update_fields=["file", "error", "updated_at"])


@receiver(answers_erased, dispatch_uid="studies.drop_archives")
def drop_archives_of_erased(*, study: Study, participants: Sequence[Participant], **_details: Any) -> None:
    """Delete the stored exports of a study whose participants' answers are erased; previews are in no export."""
    if any(participant.mode != Mode.PREVIEW for participant in participants):
        drop_archives(study=study)
