"""Exports: small ones at once, large ones by a worker into the default storage."""

from __future__ import annotations

import hashlib
import logging
import secrets
import tempfile
from dataclasses import asdict
from datetime import timedelta
from io import BufferedReader
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from core.errors import NotAllowedInState, ParallaxError
from core.jobs import enqueue_on_commit
from core.transitions import move
from studies.enums import EXPORT_MOVES, ExportStatus
from studies.exports import FORMATS, Options, exported_modes, write_export, zipped_to
from studies.models import ExportJob, Study
from studies.services.blinding import WITHOUT_OUTCOMES, note_export, require_open

logger = logging.getLogger(__name__)

AT_ONCE = 500  # participants; more are exported by a worker
KEPT_DAYS = 7


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
    job = ExportJob.objects.create(study=study, kind=kind, options=asdict(options), requested_by=actor)
    enqueue_on_commit("studies.make_export", job_id=job.pk)
    return job


def make_export(*, job_id: int) -> None:
    """Do a job: claim it, write the archive, store it. Delivered twice, the second time does nothing."""
    job = ExportJob.objects.select_related("study__dataset_version__dataset", "requested_by").get(pk=job_id)
    try:
        move(job, to=ExportStatus.RUNNING, allowed=EXPORT_MOVES)
    except NotAllowedInState:
        return
    options = Options(**job.options)
    try:
        with archive_of(study=job.study, kind=job.kind, options=options, actor=job.requested_by) as archive:
            digest = hashlib.file_digest(archive, "sha256").hexdigest()
            n_bytes = archive.tell()
            archive.seek(0)
            name = default_storage.save(f"exports/{job.study_id}/{secrets.token_hex(16)}.zip", File(archive))
    except (ParallaxError, OSError) as problem:
        move(job, to=ExportStatus.FAILED, allowed=EXPORT_MOVES, error=str(problem))
        logger.warning("export failed job=%s: %s", job.pk, problem)
        return
    move(job, to=ExportStatus.DONE, allowed=EXPORT_MOVES, file=name, sha256=digest, n_bytes=n_bytes)


def clean_exports() -> int:
    """Delete the archives of exports older than a week, and their rows; how many."""
    old = list(ExportJob.objects.filter(created_at__lt=timezone.now() - timedelta(days=KEPT_DAYS)))
    for job in old:
        if job.file:
            default_storage.delete(job.file)
        job.delete()
    return len(old)
