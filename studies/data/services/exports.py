"""Exports: small ones at once, large ones by a worker into the default storage."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import asdict
from io import BufferedReader
from pathlib import Path
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction

from core.errors import ParallaxError
from jobs.archives import store
from jobs.kinds import Progress
from jobs.models import Job
from jobs.services import request
from studies.allocation.services.slots import locked_study
from studies.data.exports.export_files import FORMATS, exported_modes, write_export
from studies.data.exports.table_files import zipped_to
from studies.data.exports.tables import Options
from studies.models import Study
from studies.monitoring.selectors.outcomes import WITHOUT_OUTCOMES
from studies.monitoring.services.blinding import note_export, require_open

AT_ONCE = 500  # participants; more are exported by a worker


def is_large(study: Study) -> bool:
    """Whether an export of this study is left to a worker."""
    return study.participants.count() > AT_ONCE


def archive_name(study: Study, kind: str, options: Options) -> str:
    """The name of the archive; it is marked if it identifies people."""
    return f"study-{study.slug}_{options.mark}{kind}.zip"


def require_allowed(options: Options, *, is_owner: bool) -> None:
    """Refuse an export that names people to all but owners. Raises PermissionDenied."""
    if options.include_external_ids and not is_owner:
        raise PermissionDenied("This export names people; the study's owner alone may take it.")


def stored_archive(*, job: Job, is_owner: bool) -> tuple[Any, str]:
    """Open the archive that a worker made; return it with its name.

    Raises as `require_allowed`, and `export.deleted` once the data of someone in it are erased.
    """
    options = Options(**job.payload["options"])
    require_allowed(options, is_owner=is_owner)
    if not job.file:
        raise ParallaxError("export.deleted", job.error)
    return default_storage.open(job.file), archive_name(job.subject, job.payload["format"], options)


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
