"""Exports: small ones at once, large ones by a worker into the default storage."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.dispatch import receiver

from core.errors import ParallaxError
from jobs.archives import store
from jobs.kinds import Progress
from jobs.models import Job, JobStatus
from jobs.services import LEASES, request
from studies.allocation.services.slots import locked_study
from studies.data.exports import FORMATS, Options, exported_modes, write_export, zipped_to
from studies.enums import Mode
from studies.models import Participant, Study
from studies.monitoring.selectors.outcomes import WITHOUT_OUTCOMES
from studies.monitoring.services.blinding import note_export, require_open
from studies.participation.services.withdrawal import answers_erased

AT_ONCE = 500  # participants; more are exported by a worker
DROPPED = "Deleted: a participant's data were erased after this export was created. Request it again."
ERASED_MEANWHILE = "A participant's data were erased while this export was being created."


def is_large(study: Study) -> bool:
    """Whether an export of this study is left to a worker."""
    return study.participants.count() > AT_ONCE


def archive_name(study: Study, kind: str, options: Options) -> str:
    """The name of the archive; it is marked if it identifies people."""
    return f"study-{study.slug}_{options.mark}{kind}.zip"


def _require_open(study: Study, kind: str) -> None:
    # Every export other than page times contains answers.
    if kind not in WITHOUT_OUTCOMES:
        require_open(study=study)


def archive_of(*, study: Study, kind: str, options: Options, actor: Any = None) -> BufferedReader:
    """Create an export now, and open its archive, which is deleted when closed. Recorded.

    Raises `export.unknown_format`, `export.only_simulated`, `blinding.outcomes_shut`.
    """
    _require_open(study, kind)
    with tempfile.TemporaryDirectory(prefix="export-") as name:
        folder = Path(name)
        files = write_export(study, kind, folder / "files", options)
        zipped_to(files, folder / "files", folder / "all.zip")
        opened = (folder / "all.zip").open("rb")
    note_export(study=study, kind=kind, actor=actor, with_external_ids=options.include_external_ids)
    return opened


def request_export(*, study: Study, kind: str, options: Options, actor: Any = None) -> Job:
    """Request an export from a worker.

    Raises `export.unknown_format`, `export.only_simulated`, `blinding.outcomes_shut`.
    """
    if kind not in FORMATS:
        raise ParallaxError("export.unknown_format", f"An export is one of {', '.join(FORMATS)}; got {kind!r}.")
    exported_modes(study, include_simulated=options.include_simulated)
    _require_open(study, kind)
    return request("export", owner=actor, subject=study, payload={"format": kind, "options": asdict(options)})


def write_requested(job: Job, progress: Progress) -> dict[str, Any]:
    """Write and store the archive of a requested export.

    An erasure that began before is awaited by the study's lock; one that begins later returns the job to the queue.
    """
    with transaction.atomic():
        study = locked_study(job.subject.pk)
    progress("Writing the file")
    options = Options(**job.payload["options"])
    try:
        with archive_of(study=study, kind=job.payload["format"], options=options, actor=job.owner) as archive:
            digest = hashlib.file_digest(archive, "sha256").hexdigest()
            n_bytes = archive.tell()
            archive.seek(0)
            return {"file": store(job, File(archive)), "result": {"sha256": digest, "n_bytes": n_bytes}}
    except OSError as problem:
        raise ParallaxError("export.not_written", str(problem)) from problem


def drop_archives(*, study: Study) -> int:
    """Delete a study's stored archives and restart exports under way; return the number of both.

    Called when a participant's data are erased; the caller holds the study's lock. Files are deleted on commit.
    """
    jobs = study.jobs.filter(kind="export", status__in=(JobStatus.RUNNING, JobStatus.SUCCEEDED))
    dropped = 0
    for job in jobs.select_for_update().order_by("pk"):
        if job.status == JobStatus.RUNNING:
            dropped += LEASES.revoke(job.pk, reason=ERASED_MEANWHILE)
        elif job.file:
            transaction.on_commit(partial(default_storage.delete, job.file), robust=True)
            job.file, job.error = "", DROPPED
            job.save(update_fields=["file", "error", "updated_at"])
            dropped += 1
    return dropped


@receiver(answers_erased, dispatch_uid="studies.drop_archives")
def drop_archives_of_erased(*, study: Study, participants: Sequence[Participant], **_details: Any) -> None:
    """Delete the stored exports of a study whose participants' answers are erased; previews are in no export."""
    if any(participant.mode != Mode.PREVIEW for participant in participants):
        drop_archives(study=study)
