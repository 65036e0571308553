"""The database's migrations: applied by the first command that needs them, or asked for where a server holds it."""

from __future__ import annotations

import fcntl
import sys
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.exceptions import InconsistentMigrationHistory
from django.db.migrations.executor import MigrationExecutor

LAUNCHER = ".venv/bin/python manage.py"


def is_embedded() -> bool:
    """Whether the database is a file of this installation, which Parallax keeps up to date by itself."""
    return connection.vendor == "sqlite"


def database_name() -> str:
    """The file, or the server's address without the password."""
    parts = connection.settings_dict
    if is_embedded():
        return str(parts["NAME"])
    port = f":{parts['PORT']}" if parts["PORT"] else ""
    return f"{parts['NAME']} on {parts['HOST'] or 'this machine'}{port}"


def unfinished_restore() -> Path:
    """The file that stands while a restore changes this installation, with the digest of the backup's manifest."""
    return Path(settings.VAR_DIR) / "unfinished-restore"


def refuse_unfinished_restore() -> None:
    """Raise CommandError where database, files and secret key may not belong together."""
    if unfinished_restore().exists():
        raise CommandError("A restore was interrupted here. Run the same `restore` again.")


def prepare_database() -> None:
    """Apply the migrations that are missing; in the scaled shape ask for them, as other processes may be running.

    Raises CommandError when a server's database lacks migrations, or the database was written by a newer version of the
    code.
    """
    refuse_unfinished_restore()
    if not _unapplied():
        return
    # A server's database belongs to processes that are running with the older tables.
    if not is_embedded():
        raise CommandError(
            f"The database {database_name()} does not have the tables of this version of Parallax. "
            f"Run `{LAUNCHER} migrate`."
        )
    with (Path(settings.VAR_DIR) / "migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two commands at once, the second finds everything applied
        count, is_new = _unapplied(), not connection.introspection.table_names()
        if count:
            call_command("migrate", verbosity=0, interactive=False)
            change = "Created the database" if is_new else f"Applied {count} migrations to the database"
            sys.stderr.write(f"{change} {database_name()}.\n")


def _unapplied() -> int:
    try:
        executor = MigrationExecutor(connection)
    except InconsistentMigrationHistory as problem:
        raise CommandError(f"The migrations of the database {database_name()} are inconsistent: {problem}") from problem
    loader = executor.loader
    unknown = sorted(
        f"{app}.{name}"
        # Migrations that this code does not know: older code would write rows that the newer tables do not expect.
        for app, name in set(loader.applied_migrations) - set(loader.disk_migrations)
        if app in loader.migrated_apps
    )
    if unknown:
        raise CommandError(
            f"The database {database_name()} was written by a newer version of Parallax (migration "
            f"{', '.join(unknown)}). Install that version, or name another folder in PARALLAX_VAR."
        )
    return len(executor.migration_plan(loader.graph.leaf_nodes()))
