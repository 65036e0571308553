"""Create a backup of the running installation."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import storages
from django.db import connection
from django.utils import timezone

from core.errors import ParallaxError
from core.provenance import versions
from parallax.backup import encryption, erasures, postgresql, sqlite, stored_files
from parallax.backup.archive import SECRET_KEY, Manifest, digest_file, digest_of, new_archive, new_file, refuse_path
from parallax.backup.results import log_result
from parallax.backup.trial import try_restore

MAX_ATTEMPTS = 3  # where files that the copied database may refer to are deleted meanwhile
Progress = Callable[[str], None]


def create_backup(path: Path, progress: Progress, *, is_tried: bool = True) -> tuple[Manifest, list[str]]:
    """Write a backup while the installation is running: tried, encrypted if the settings name a public key, copied if
    they name a bucket. Log the result, and return the problems that the trial restore found in the data.

    Data with problems are backed up too: they may be all there is. Raises ParallaxError `backup.exists`,
    `backup.no_folder`, `backup.plain_copy`, `backup.damaged`, and as `_create_archive`, `try_restore` and `encrypt` do.
    """
    try:
        # Failures are logged as results too, so that `doctor` can report that backups have stopped.
        manifest, problems = _create_backup(path, progress, is_tried)
    except BaseException as problem:
        log_result(is_good=False, words=str(problem) or type(problem).__name__)
        raise
    log_result(is_good=not problems, words="\n".join(problems))
    return manifest, problems


def _create_backup(path: Path, progress: Progress, is_tried: bool) -> tuple[Manifest, list[str]]:
    keys, digest_path = encryption.recipients(), digest_file(path)
    # A bucket belongs to somebody else's machines: nothing personal leaves this one readable.
    if "backups" in settings.STORAGES and not keys:
        raise ParallaxError(
            "backup.plain_copy", "PARALLAX_BACKUP_S3 takes encrypted backups only: set PARALLAX_BACKUP_RECIPIENT."
        )
    refuse_path(path)
    with encryption.scratch_folder() as folder:
        archive = folder / "backup.zip"
        manifest = _create_archive(archive, progress)
        problems = try_restore(archive, folder / "trial", progress) if is_tried else []
        progress(f"Encrypting to {len(keys)} public keys" if keys else "Writing the file")
        with archive.open("rb") as source, new_file(path) as target:
            encryption.encrypt(source, target, keys) if keys else shutil.copyfileobj(source, target)
    with path.open("rb") as source:
        digest = digest_of(source)
    digest_path.write_text(f"{digest}  {path.name}\n")  # as sha256sum writes it
    if "backups" in settings.STORAGES:
        progress("Copying to the bucket")
        for file in (path, digest_path):
            with file.open("rb") as source:
                storages["backups"].save(file.name, File(source))
        # Read back, because a copy that cannot be read is found out only when it is needed.
        with storages["backups"].open(path.name) as copy:
            if digest_of(copy) != digest:
                raise ParallaxError("backup.damaged", f"The copy of {path.name} in the bucket does not match {path}.")
    erasures.update_list(is_forced=True)
    erasures.append(path.with_name(erasures.NAME), erasures.lines_of(erasures.list_file()))
    return manifest, problems


def _create_archive(path: Path, progress: Progress) -> Manifest:
    """Write the archive of a backup, which is not encrypted.

    The database is copied first, at one moment, and the files afterwards: files are written before rows refer to them,
    so the copy holds every file that its rows name. Where a file was deleted meanwhile, the backup starts again.

    Raises ParallaxError `backup.no_tables`, `backup.files_deleted` and those of the database.
    """
    if "django_migrations" not in connection.introspection.table_names():
        raise ParallaxError("backup.no_tables", "The database is empty: there is nothing to back up.")
    for _attempt in range(MAX_ATTEMPTS):
        try:
            return _create(path, progress)
        except FileNotFoundError:
            progress("Files were deleted during the backup; starting again")
    raise ParallaxError(
        "backup.files_deleted", "Files were deleted during the backup, several times in a row. Run it again later."
    )


def _create(path: Path, progress: Progress) -> Manifest:
    folders = tuple(stored_files.STORAGE_OF)
    # Listed before the database is copied: what it names was there by then.
    before = {folder: stored_files.list_files(folder) for folder in folders}
    engine = sqlite if connection.vendor == "sqlite" else postgresql
    with new_archive(path) as writer:
        progress("Copying the database")
        copy = path.with_name("database")
        copy.unlink(missing_ok=True)  # of an attempt before
        database = engine.copy_database(copy)
        manifest = Manifest(
            created_at=timezone.now().isoformat(timespec="seconds"),
            versions=versions(),
            database=database,
            storages=folders,
            files=writer.files,
        )
        with copy.open("rb") as source:
            writer.add(manifest.database_file, source)
        copy.unlink()
        for folder in folders:
            names = stored_files.list_files(folder)
            if not set(before[folder]) <= set(names):
                raise FileNotFoundError(f"A file of {folder} was deleted after the backup began.")
            progress(f"Copying {len(names)} files of {folder}")
            stored_files.add_files(writer, folder, names)
        writer.add_bytes(SECRET_KEY, settings.SECRET_KEY.encode())
        writer.add_manifest(manifest)
    return manifest
