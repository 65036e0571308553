"""Restore an installation from a backup: everything is checked first, and the database is replaced last, at once."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

from core.errors import ParallaxError
from jobs.worker_lock import is_worker_running
from parallax.backup import erasures, postgresql, sqlite, stored_files
from parallax.backup.archive import SECRET_KEY, BackupReader, Manifest, check_digest, open_archive
from parallax.backup.encryption import decrypted, scratch_folder
from parallax.backup.trial import last_line, run_command
from parallax.database import unfinished_restore
from parallax.env import env_secret

OUR_TABLES = ("accounts_", "analysis_", "catalog_", "core_", "evaluation_", "studies_")
DATABASES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
Progress = Callable[[str], None]


def restore_backup(
    path: Path,
    *,
    is_replacing: bool,
    progress: Progress,
    key: Path | None = None,
    erasure_lists: Collection[Path] = (),
) -> Manifest:
    """Restore database, stored files and secret key, and erase again the participants on a list of erasures.

    `is_replacing` allows an installation that holds data already; `key` is the private key of an encrypted backup.

    Until all checks have passed nothing is changed. Stored files are put in place first; until then an interruption
    leaves the installation as it was, and files that no row refers to. While secret key and database are replaced, a
    file marks the installation: nothing else starts, and the same restore can be repeated.

    Raises ParallaxError `restore.other_database`, `restore.other_secret_key`, `restore.not_empty`, `restore.in_use`,
    `restore.no_space`, `restore.migration_failed`, `backup.newer`, `backup.damaged`, `backup.not_one`, `backup.no_key`
    and `backup.wrong_key`.
    """
    engine = sqlite if connection.vendor == "sqlite" else postgresql
    check_digest(path)
    marker = unfinished_restore()
    with scratch_folder() as folder, open_archive(decrypted(path, key, folder)) as archive:
        manifest = archive.manifest
        _refuse_unsuitable(manifest)
        _refuse_other_secret_key(archive)
        # Of the backup, so that after an interruption only the same one can be restored without `--replace`.
        identity = hashlib.sha256(manifest.as_json().encode()).hexdigest()
        is_repeated = marker.exists() and marker.read_text() == identity
        has_data = _has_data()
        if has_data and not is_replacing and not is_repeated:
            raise ParallaxError(
                "restore.not_empty",
                "This installation holds data already. Restore into an empty one (name another folder in PARALLAX_VAR, "
                "or another database in DATABASE_URL), or pass --replace to delete its data.",
            )
        if is_worker_running():
            raise ParallaxError(
                "restore.in_use", "A worker is running. Stop the web server and all workers, then restore."
            )
        # The lock of workers says nothing of web servers and shells.
        engine.refuse_in_use()
        _refuse_without_space(manifest)
        _update_erasures(erasure_lists, has_data, progress)
        extracted = folder / "extracted"
        progress(f"Checking {len(manifest.files)} files")
        # Everything is checked by its digest before anything of the installation is changed.
        archive.extract(extracted)
        database = extracted / manifest.database_file
        if engine is sqlite:
            progress("Applying migrations to the copy of the database")
            # On the copy: a migration that fails then leaves the installation as it was.
            _migrate(DATABASE_URL=f"sqlite:///{database}")
        for name in manifest.storages:
            progress(f"Restoring {name}")
            stored_files.restore_files(extracted, name)
        progress("Replacing the database")
        # From here on key and database may not belong together, and nothing else may start.
        marker.write_text(identity)
        try:
            _replace_with_key(lambda: engine.replace_database(database), extracted / SECRET_KEY, is_repeated)
            if engine is postgresql:
                progress("Applying migrations")
                _migrate()
        except ParallaxError:
            if not is_repeated:
                marker.unlink()
            raise
        n = erasures.replay((extracted / SECRET_KEY).read_text())
        progress(f"Erased again: {n} participants who withdrew after the backup")
    cache.clear()  # counts and queries of the data before
    marker.unlink()
    return manifest


def _update_erasures(lists: Collection[Path], has_data: bool, progress: Progress) -> None:
    """Bring the list of erasures up to date before the database is replaced."""
    erasures.append(erasures.list_file(), set().union(*map(erasures.lines_of, lists)))
    try:
        erasures.update_list(is_forced=True) if has_data else erasures.merge_with_bucket()
    except DatabaseError as problem:
        progress(f"The present database does not say who withdrew ({problem}); the list may lack the latest")


def _refuse_unsuitable(manifest: Manifest) -> None:
    vendor = manifest.database.vendor
    if vendor != connection.vendor:
        raise ParallaxError(
            "restore.other_database",
            f"The backup holds a {DATABASES.get(vendor, vendor)} database, and this installation uses "
            f"{DATABASES.get(connection.vendor, connection.vendor)}. Set DATABASE_URL to a database of the same kind.",
        )
    # Names on the disk: the present database may be empty, damaged or older.
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


def _refuse_other_secret_key(archive: BackupReader) -> None:
    configured = env_secret("SECRET_KEY")
    if configured and configured.encode() != archive.read(SECRET_KEY):
        raise ParallaxError(
            "restore.other_secret_key",
            "SECRET_KEY in the environment is not that of the backup, and participants' links depend on it. Set it to "
            f"the contents of {SECRET_KEY} in the backup (`unzip -p FILE {SECRET_KEY}`, after `age --decrypt` of an "
            "encrypted one), or unset it: the key is then stored in PARALLAX_VAR.",
        )


def _has_data() -> bool:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            # Sessions, log-ins and running processes are no data that anyone would miss.
            if not table.startswith(OUR_TABLES) or table == "core_worker":
                continue
            cursor.execute(f"SELECT 1 FROM {connection.ops.quote_name(table)} LIMIT 1")  # noqa: S608 -- quoted by the database
            if cursor.fetchone():
                return True
    return False


def _refuse_without_space(manifest: Manifest) -> None:
    needed = manifest.size + 2 * manifest.files[manifest.database_file].size
    free = shutil.disk_usage(settings.VAR_DIR).free
    if free < needed:
        raise ParallaxError(
            "restore.no_space",
            f"The backup needs {needed / 1e6:,.0f} MB of disk space in {settings.VAR_DIR}, and {free / 1e6:,.0f} MB "
            "are free. Free some space, then restore.",
        )


def _replace_with_key(replace: Callable[[], None], key: Path, is_repeated: bool) -> None:
    """Store the secret key and replace the database; where that fails, the key is as before, also as before the first
    attempt.
    """
    if env_secret("SECRET_KEY"):  # which is the same
        replace()
        return
    file = Path(settings.VAR_DIR) / SECRET_KEY
    before, part = file.with_name("secret_key.before-restore"), file.with_name("secret_key.part")
    if not is_repeated or not before.exists():
        shutil.copyfile(file, part)
        part.replace(before)
    try:
        shutil.copyfile(key, part)
        part.replace(file)
        replace()
    except BaseException:
        before.replace(file)
        raise
    before.unlink()


def _migrate(**environment: str) -> None:
    done = run_command("migrate", "--no-input", "--verbosity", "0", environment={**os.environ, **environment})
    if done.returncode:
        raise ParallaxError(
            "restore.migration_failed",
            f"The migrations of this version failed on the backup: {last_line(done.stderr)} Restore it with the "
            "version that wrote it.",
        )
