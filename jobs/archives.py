"""The files that jobs make, in the default storage: stored under random names, and deleted when they are not wanted."""

from __future__ import annotations

import secrets
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.cache import cache
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils import timezone
from django.utils.module_loading import import_string

from jobs.kinds import KINDS
from jobs.models import JOB_OPEN, Job, JobStatus

FOLDER = "jobs"  # of the default storage, with a folder for each kind
UNNAMED_SECONDS = 3600  # a file is named by its job soon after it is stored
UNNAMED_KEY = "jobs.unnamed-files"  # in the cache, while nothing has to be looked for


def store(job: Job, content: File[Any]) -> str:
    """Store an archive that a job made; returns the name for its `file`."""
    # A random name: two attempts at one job never overwrite each other's file, and no name can be guessed.
    return default_storage.save(f"{FOLDER}/{job.kind}/{secrets.token_hex(16)}.zip", content)


def store_folder(job: Job, folder: Path) -> str:
    """Store a folder as an archive; returns the name for the job's `file`."""
    archive = folder.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as whole:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            whole.write(file, f"{folder.name}/{file.relative_to(folder)}")
    with archive.open("rb") as opened:
        return store(job, File(opened))


def clean_jobs() -> None:
    """Delete old jobs with their files, files that may no longer be downloaded, and those that no job names."""
    for kind in KINDS.values():
        jobs = Job.objects.filter(kind=kind.key)
        if kind.kept_days is not None:
            before = timezone.now() - timedelta(days=kind.kept_days)
            for job in jobs.filter(created_at__lt=before).exclude(status__in=(JobStatus.WAITING, *JOB_OPEN)):
                if job.file:
                    default_storage.delete(job.file)
                job.delete()
        if kind.keeps_file:
            for job in jobs.exclude(file=""):
                if not import_string(kind.keeps_file)(job):
                    default_storage.delete(job.file)
                    Job.objects.filter(pk=job.pk, file=job.file).update(file="")
    if not cache.add(UNNAMED_KEY, True, UNNAMED_SECONDS):
        return
    # Files without a job: it or its study was deleted, or its worker was gone before it was done.
    in_use = set(Job.objects.exclude(file="").values_list("file", flat=True))
    limit = timezone.now() - timedelta(seconds=UNNAMED_SECONDS)
    try:
        folders = default_storage.listdir(FOLDER)[0]
    except FileNotFoundError:
        return
    for folder in folders:
        for name in (f"{FOLDER}/{folder}/{file}" for file in default_storage.listdir(f"{FOLDER}/{folder}")[1]):
            if name not in in_use and default_storage.get_modified_time(name) < limit:
                default_storage.delete(name)
