"""Create a backup of the running installation."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils import timezone

from core.errors import ParallaxError
from core.provenance import versions
from parallax.backup import postgresql, sqlite, stored_files
from parallax.backup.archive import new_archive
from parallax.backup.manifest import SECRET_KEY, Manifest

MAX_ATTEMPTS = 3  # where files that the copied database may refer to are deleted meanwhile
Progress = Callable[[str], None]


class _FilesDeleted(Exception):
    """A stored file was deleted after the backup began."""


def create_backup(path: Path, progress: Progress) -> Manifest:
    """Write a backup of database, stored files and secret key, while the installation is running.

    The database is copied first, at one moment, and the files afterwards: files are written before rows refer to them,
    so the copy holds every file that its rows name. Where a file was deleted meanwhile, the backup starts again.

    Raises ParallaxError `backup.exists`, `backup.no_folder`, `backup.no_tables`, `backup.files_deleted` and those of
    the database.
    """
    if "django_migrations" not in connection.introspection.table_names():
        raise ParallaxError("backup.no_tables", "The database is empty: there is nothing to back up.")
    for _attempt in range(MAX_ATTEMPTS):
        try:
            return _create(path, progress)
        except _FilesDeleted:
            progress("Files were deleted during the backup; starting again")
    raise ParallaxError(
        "backup.files_deleted", "Files were deleted during the backup, several times in a row. Run it again later."
    )


def _create(path: Path, progress: Progress) -> Manifest:
    folders = tuple(stored_files.STORAGE_OF)
    before = {folder: stored_files.list_files(folder) for folder in folders}
    engine = sqlite if connection.vendor == "sqlite" else postgresql
    with new_archive(path) as writer, tempfile.TemporaryDirectory(prefix="backup-") as temporary:
        progress("Copying the database")
        copy = Path(temporary) / "database"
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
        for folder in folders:
            names = stored_files.list_files(folder)
            if not set(before[folder]) <= set(names):
                raise _FilesDeleted
            progress(f"Copying {len(names)} files of {folder}")
            try:
                stored_files.add_files(writer, folder, names)
            except FileNotFoundError as problem:
                raise _FilesDeleted from problem
        writer.add_bytes(SECRET_KEY, settings.SECRET_KEY.encode())
        writer.add_manifest(manifest)
    return manifest
