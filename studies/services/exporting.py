"""Exports: small ones at once, large ones by a worker into the default storage."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import secrets
import tempfile
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import Error as DatabaseError
from django.db import transaction
from django.utils import timezone

from core.errors import ParallaxError
from core.heartbeat import LeaseLost
from core.jobs import enqueue_on_commit
from core.leases import UNFORESEEN, Leases
from studies.enums import EXPORT_MOVES, ExportStatus
from studies.exports import FORMATS, Options, exported_modes, write_export, zipped_to
from studies.models import ExportJob, Study
from studies.selectors.outcomes import WITHOUT_OUTCOMES
from studies.services.blinding import note_export, require_open
from studies.services.slots import locked_study

logger = logging.getLogger(__name__)

AT_ONCE = 500  # participants; more are exported by a worker
KEPT_DAYS = 7
TASK = "studies.make_export"
JOBS = Leases(ExportJob, EXPORT_MOVES)
DROPPED = "Deleted: somebody's data were erased after it was made. Ask for it again."
ERASED_MEANWHILE = "Somebody's data were erased while it was made."


def is_large(study: Study) -> bool:
    """Whether an export of this study is a worker's business."""
    return study.participants.count() > AT_ONCE


def archive_name(study: Study, kind: str, options: Options) -> str:
    """The name of the archive; it says when people are named in it."""
    return f"study-{study.slug}_{options.mark}{kind}.zip"


def _require_open(study: Study, kind: str) -> None:
    """Every export holds people's answers, page times apart."""
    if kind not in WITHOUT_OUTCOMES:
        require_open(study=study)


def archive_of(*, study: Study, kind: str, options: Options, actor: Any = None) -> BufferedReader:
    """Make an export now, and open its archive; the file is gone when it is closed. Recorded.

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
    """Ask a worker for an export.

    Raises `export.unknown_format`, `export.only_simulated`, `blinding.outcomes_shut`.
    """
    if kind not in FORMATS:
        raise ParallaxError("export.unknown_format", f"An export is one of {', '.join(FORMATS)}; got {kind!r}.")
    exported_modes(study, include_simulated=options.include_simulated)
    _require_open(study, kind)
    job = ExportJob.objects.create(
        study=study, kind=kind, options=asdict(options), requested_by=actor, hinted_at=timezone.now()
    )
    enqueue_on_commit(TASK, job_id=job.pk)
    return job


@transaction.atomic
def _taken(job_id: int) -> ExportJob | None:
    """Take a job under its study's lock, so that an erasure under way is over before anything is read."""
    found = ExportJob.objects.filter(pk=job_id)
    study_id = found.values_list("study_id", flat=True).first()
    if study_id is None:
        return None
    locked_study(study_id)
    job = found.select_related("study__dataset_version__dataset", "requested_by").first()
    return job if job is not None and JOBS.take(job) else None


def drop_archives(*, study: Study) -> int:
    """Delete the archives that workers made of a study, and have those in the making made anew; how many of both.

    For whoever erases somebody's data: the caller holds the study's lock. Files are deleted on commit.
    """
    held = ExportJob.objects.filter(study=study, status__in=(ExportStatus.RUNNING, ExportStatus.DONE))
    dropped = 0
    for job in held.select_for_update().order_by("pk"):
        if job.status == ExportStatus.RUNNING:
            dropped += JOBS.take_back(job.pk, reason=ERASED_MEANWHILE)
        elif job.file:
            transaction.on_commit(partial(default_storage.delete, job.file), robust=True)
            job.file, job.error = "", DROPPED
            job.save(update_fields=["file", "error", "updated_at"])
            dropped += 1
    return dropped


def make_export(*, job_id: int) -> bool:
    """Do a job: take it, write the archive, store it; True where this worker was the one to finish it.

    Delivered twice, late, or for a job that is over or cleaned up, it does nothing. What is refused is kept in words;
    a fault of the database and the end of the worker give the job back, any other fault fails it; all are raised.
    """
    job = _taken(job_id)
    if job is None:
        return False
    try:
        with (
            JOBS.beating(job) as heartbeat,
            archive_of(study=job.study, kind=job.kind, options=Options(**job.options), actor=job.requested_by) as made,
        ):
            digest = hashlib.file_digest(made, "sha256").hexdigest()
            n_bytes = made.tell()
            made.seek(0)
            heartbeat.check()
            name = default_storage.save(f"exports/{job.study_id}/{secrets.token_hex(16)}.zip", File(made))
        if not JOBS.finish(job, to=ExportStatus.DONE, file=name, sha256=digest, n_bytes=n_bytes):
            default_storage.delete(name)  # it was given to another worker meanwhile
            return False
    except LeaseLost:
        logger.info("lease lost export=%s", job.pk)
        return False
    except (ParallaxError, OSError) as refused:
        JOBS.finish(job, to=ExportStatus.FAILED, error=str(refused))
        logger.warning("export failed job=%s: %s", job.pk, refused)
        return False
    except (DatabaseError, KeyboardInterrupt, SystemExit):
        # The database is away, or the worker is being stopped: the sweep tells of the job again.
        with contextlib.suppress(DatabaseError):
            JOBS.give_back(job)
        raise
    except Exception:
        logger.exception("export failed job=%s", job.pk)
        JOBS.finish(job, to=ExportStatus.FAILED, error=UNFORESEEN)
        raise
    return True


def bring_back_exports() -> int:
    """Put back what dead workers held, and send the messages of waiting jobs again; returns the messages sent."""
    JOBS.release_dead()
    sent = 0
    for pk in JOBS.due():
        enqueue_on_commit(TASK, job_id=pk)
        sent += 1
    return sent


def clean_exports() -> int:
    """Delete the archives of exports older than a week, and their rows; how many."""
    old = list(ExportJob.objects.filter(created_at__lt=timezone.now() - timedelta(days=KEPT_DAYS)))
    for job in old:
        if job.file:
            default_storage.delete(job.file)
        job.delete()
    return len(old)
