"""Restore an installation from a backup: everything is checked first, and the database is replaced last, at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from core.errors import ParallaxError
from jobs.worker_lock import is_worker_running
from parallax.backup import postgresql, sqlite, stored_files
from parallax.backup.archive import BackupReader, open_archive
from parallax.backup.manifest import SECRET_KEY, Manifest
from parallax.env import env_secret

OUR_TABLES = ("accounts_", "analysis_", "catalog_", "core_", "evaluation_", "studies_")
DATABASES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
Progress = Callable[[str], None]


def restore_backup(path: Path, *, is_replacing: bool, progress: Progress) -> Manifest:
    """Restore database, stored files and secret key; `is_replacing` allows an installation that holds data already.

    Until all checks have passed nothing is changed. Stored files are put in place before the database, so an
    interruption leaves the installation as it was, and files that no row refers to.

    Raises ParallaxError `restore.other_database`, `restore.other_secret_key`, `restore.not_empty`, `restore.in_use`,
    `restore.no_space`, `restore.migration_failed`, `backup.newer`, `backup.damaged` and `backup.not_one`.
    """
    engine = sqlite if connection.vendor == "sqlite" else postgresql
    with open_archive(path) as archive:
        manifest = archive.manifest
        _refuse_unsuitable(manifest)
        _refuse_other_secret_key(archive, path)
        if not is_replacing:
            _refuse_data()
        if is_worker_running():
            raise ParallaxError(
                "restore.in_use", "A worker is running. Stop the web server and all workers, then restore."
            )
        engine.refuse_in_use()
        _refuse_without_space(manifest)
        with tempfile.TemporaryDirectory(prefix="restore-") as temporary:
            extracted = Path(temporary)
            progress(f"Checking {len(manifest.files)} files")
            archive.extract(extracted)
            database = extracted / manifest.database_file
            if engine is sqlite:
                progress("Applying migrations to the copy of the database")
                _migrate(DATABASE_URL=f"sqlite:///{database}")
            for folder in manifest.storages:
                progress(f"Restoring {folder}")
                stored_files.put_back(extracted, folder)
            progress("Replacing the database")
            _replace_with_key(lambda: engine.replace_database(database), extracted / SECRET_KEY)
    if engine is postgresql:
        progress("Applying migrations")
        _migrate()
    cache.clear()  # counts and queries of the data before
    return manifest


def _refuse_unsuitable(manifest: Manifest) -> None:
    vendor = manifest.database.vendor
    if vendor != connection.vendor:
        raise ParallaxError(
            "restore.other_database",
            f"The backup holds a {DATABASES.get(vendor, vendor)} database, and this installation uses "
            f"{DATABASES.get(connection.vendor, connection.vendor)}. Set DATABASE_URL to a database of the same kind.",
        )
    known = MigrationLoader(None).disk_migrations
    apps = {app for app, _ in known}
    unknown = [
        name
        for name in manifest.database.migrations
        if name.split(".", 1)[0] in apps and tuple(name.split(".", 1)) not in known
    ]
    if unknown:
        raise ParallaxError(
            "backup.newer",
            f"A newer version of Parallax ({manifest.versions.get('parallax', 'unknown')}) wrote this backup: "
            f"migration {unknown[-1]} is unknown to this version. Install that version, then restore.",
        )


def _refuse_other_secret_key(archive: BackupReader, path: Path) -> None:
    configured = env_secret("SECRET_KEY")
    if configured and configured.encode() != archive.read(SECRET_KEY):
        raise ParallaxError(
            "restore.other_secret_key",
            "SECRET_KEY in the environment is not that of the backup, and participants' links depend on it. Set it to "
            f"the key that `unzip -p {path} {SECRET_KEY}` prints, or unset it: the key is then stored in PARALLAX_VAR.",
        )


def _refuse_data() -> None:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if not table.startswith(OUR_TABLES) or table == "core_worker":
                continue
            cursor.execute(f"SELECT 1 FROM {connection.ops.quote_name(table)} LIMIT 1")  # noqa: S608 -- quoted by the database
            if cursor.fetchone():
                raise ParallaxError(
                    "restore.not_empty",
                    "This installation holds data already. Restore into an empty one (name another folder in "
                    "PARALLAX_VAR, or another database in DATABASE_URL), or pass --replace to delete its data.",
                )


def _refuse_without_space(manifest: Manifest) -> None:
    needed = manifest.size + 2 * manifest.files[manifest.database_file].size
    free = shutil.disk_usage(settings.VAR_DIR).free
    if free < needed:
        raise ParallaxError(
            "restore.no_space",
            f"The backup needs {needed / 1e6:,.0f} MB of disk space in {settings.VAR_DIR}, and {free / 1e6:,.0f} MB "
            "are free. Free some space, then restore.",
        )


def _replace_with_key(replace: Callable[[], None], key: Path) -> None:
    """Store the secret key and replace the database; where that fails, the key is as before."""
    if env_secret("SECRET_KEY"):  # which is the same
        replace()
        return
    file = Path(settings.VAR_DIR) / SECRET_KEY
    before = file.with_name("secret_key.before-restore")
    file.replace(before)
    try:
        shutil.copyfile(key, file)
        replace()
    except BaseException:
        before.replace(file)
        raise
    before.unlink()


def _migrate(**environment: str) -> None:
    done = subprocess.run(
        [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), "migrate", "--no-input", "--verbosity", "0"],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "parallax.settings", **environment},
        cwd=settings.BASE_DIR, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        words = done.stderr.strip().splitlines() or ["no reason given"]
        raise ParallaxError(
            "restore.migration_failed",
            f"The migrations of this version failed on the backup: {words[-1]} Restore it with the version that "
            "wrote it.",
        )
