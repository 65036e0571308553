"""Exports: small ones at once, large ones by a worker into the default storage."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import secrets
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any

from django.core.cache import cache
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import Error as DatabaseError
from django.db import transaction
from django.dispatch import receiver
from django.utils import timezone

from core.errors import ParallaxError
from jobs.heartbeat import LeaseLost
from jobs.leases import TRANSIENT, UNFORESEEN, JobLeases
from studies.allocation.services.slots import locked_study
from studies.data.exports import FORMATS, Options, exported_modes, write_export, zipped_to
from studies.enums import EXPORT_MOVES, ExportStatus, Mode
from studies.models import ExportJob, Participant, Study
from studies.monitoring.selectors.outcomes import WITHOUT_OUTCOMES
from studies.monitoring.services.blinding import note_export, require_open
from studies.participation.services.withdrawal import answers_erased

logger = logging.getLogger(__name__)

AT_ONCE = 500  # participants; more are exported by a worker
KEPT_DAYS = 7
FOLDER = "exports"  # of the default storage
UNNAMED_SECONDS = 3600  # an archive is named by its job soon after it is stored
UNNAMED_KEY = "studies.unnamed-exports"  # in the cache, while nothing has to be looked for
JOBS = JobLeases(ExportJob, EXPORT_MOVES, task="studies.make_export")
DROPPED = "Deleted: a participant's data were erased after this export was created. Request it again."
ERASED_MEANWHILE = "A participant's data were erased while this export was being created."


def is_large(study: Study) -> bool:
    """Whether an export of this study is left to a worker."""
    return study.participants.count() > AT_ONCE


def archive_name(study: Study, kind: str, options: Options) -> str:
    """The name of the archive; it is marked if it identifies people."""
    return f"study-{study.slug}_{options.mark}{kind}.zip"


def _require_open(study: Study, kind: str) -> None:
    """Every export other than page times contains answers."""
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


@transaction.atomic
def request_export(*, study: Study, kind: str, options: Options, actor: Any = None) -> ExportJob:
    """Request an export from a worker.

    Raises `export.unknown_format`, `export.only_simulated`, `blinding.outcomes_shut`.
    """
    if kind not in FORMATS:
        raise ParallaxError("export.unknown_format", f"An export is one of {', '.join(FORMATS)}; got {kind!r}.")
    exported_modes(study, include_simulated=options.include_simulated)
    _require_open(study, kind)
    job = ExportJob.objects.create(
        study=study, kind=kind, options=asdict(options), requested_by=actor, hinted_at=timezone.now()
    )
    JOBS.send(job.pk)
    return job


@transaction.atomic
def _leased_job(job_id: int) -> ExportJob | None:
    """Lease a job under its study's lock, so that any erasure under way finishes before data are read."""
    jobs = ExportJob.objects.filter(pk=job_id)
    study_id = jobs.values_list("study_id", flat=True).first()
    if study_id is None:
        return None
    locked_study(study_id)
    job = jobs.select_related("study__dataset_version__dataset", "requested_by").first()
    return job if job is not None and JOBS.take(job) else None


def drop_archives(*, study: Study) -> int:
    """Delete a study's stored archives and restart exports under way; return the number of both.

    Called when a participant's data are erased; the caller holds the study's lock. Files are deleted on commit.
    """
    jobs = ExportJob.objects.filter(study=study, status__in=(ExportStatus.RUNNING, ExportStatus.DONE))
    dropped = 0
    for job in jobs.select_for_update().order_by("pk"):
        if job.status == ExportStatus.RUNNING:
            dropped += JOBS.revoke(job.pk, reason=ERASED_MEANWHILE)
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


def make_export(*, job_id: int) -> bool:
    """Run a job: lease it, write the archive, store it. True if this worker finished it.

    Repeated or late messages, and those for finished or deleted jobs, have no effect. A refusal is stored with the job.
    A database fault or the end of the worker releases the job, any other fault fails it; all of these are raised.
    """
    job = _leased_job(job_id)
    if job is None:
        return False
    try:
        with (
            JOBS.heartbeat(job) as heartbeat,
            archive_of(
                study=job.study, kind=job.kind, options=Options(**job.options), actor=job.requested_by
            ) as archive,
        ):
            digest = hashlib.file_digest(archive, "sha256").hexdigest()
            n_bytes = archive.tell()
            archive.seek(0)
            heartbeat.check()
            name = default_storage.save(f"{FOLDER}/{job.study_id}/{secrets.token_hex(16)}.zip", File(archive))
        if not JOBS.finish(job, to=ExportStatus.DONE, file=name, sha256=digest, n_bytes=n_bytes):
            default_storage.delete(name)  # another worker has leased it meanwhile
            return False
    except LeaseLost:
        logger.info("lease lost export=%s", job.pk)
        return False
    except (*TRANSIENT, DatabaseError, KeyboardInterrupt, SystemExit):
        # The database or storage is unavailable or the worker is stopping: the sweep enqueues the job again.
        with contextlib.suppress(DatabaseError):
            JOBS.release(job)
        raise
    except (ParallaxError, OSError) as refused:
        JOBS.finish(job, to=ExportStatus.FAILED, error=str(refused))
        logger.warning("export failed job=%s: %s", job.pk, refused)
        return False
    except Exception:
        logger.exception("export failed job=%s", job.pk)
        JOBS.finish(job, to=ExportStatus.FAILED, error=UNFORESEEN)
        raise
    return True


def clean_exports() -> int:
    """Delete exports older than a week with their archives; return their number."""
    old = list(ExportJob.objects.filter(created_at__lt=timezone.now() - timedelta(days=KEPT_DAYS)))
    for job in old:
        if job.file:
            default_storage.delete(job.file)
        job.delete()
    if cache.add(UNNAMED_KEY, True, UNNAMED_SECONDS):
        _delete_unnamed()
    return len(old)


def _delete_unnamed() -> None:
    """Delete archives that no job names: their deletion failed, or their worker was gone before the job was done."""
    in_use = set(ExportJob.objects.exclude(file="").values_list("file", flat=True))
    limit = timezone.now() - timedelta(seconds=UNNAMED_SECONDS)
    try:
        folders = default_storage.listdir(FOLDER)[0]
    except FileNotFoundError:
        return
    for folder in folders:
        for name in (f"{FOLDER}/{folder}/{file}" for file in default_storage.listdir(f"{FOLDER}/{folder}")[1]):
            if name not in in_use and default_storage.get_modified_time(name) < limit:
                default_storage.delete(name)
