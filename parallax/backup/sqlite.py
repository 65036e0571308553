"""Copies of an SQLite database, taken and put back while its file may be open elsewhere."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from django.db import connection

from core.errors import ParallaxError
from parallax.backup.archive import DatabaseCopy

BUSY_SECONDS = 5.0


def copy_database(target: Path) -> DatabaseCopy:
    """Copy the database as it is at one moment; other processes keep reading and writing.

    Raises ParallaxError `backup.damaged_database`.
    """
    # Django's own connection may hold a lock or an old snapshot.
    connection.close()
    # In one step, so that writes of other processes neither enter the copy nor start it again.
    with closing(_opened(_database_file())) as source, closing(_opened(target)) as copy:
        source.backup(copy, pages=-1)
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
        _check(copy)
        tables = [
            name
            for (name,) in copy.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            )
        ]
        migrations = copy.execute("SELECT app || '.' || name FROM django_migrations ORDER BY 1").fetchall()
        return DatabaseCopy(
            vendor="sqlite",
            version=sqlite3.sqlite_version,
            migrations=tuple(name for (name,) in migrations),
            counts={name: copy.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables},  # noqa: S608 -- SQLite's own names
        )


def refuse_in_use() -> None:
    """Raise ParallaxError `restore.in_use` where another process has the database open."""
    connection.close()
    with closing(_opened(_database_file())) as database:
        try:
            (mode,) = database.execute("PRAGMA journal_mode=DELETE").fetchone()  # needs to be alone
        except sqlite3.OperationalError:
            mode = "wal"
    if mode != "delete":
        raise ParallaxError(
            "restore.in_use",
            f"Another process uses the database {_database_file()}. Stop the web server and all workers, then restore.",
        )


def replace_database(source: Path) -> None:
    """Replace everything in the database with a copy, in one transaction."""
    connection.close()
    with closing(_opened(source)) as copy, closing(_opened(_database_file())) as database:
        _check(copy)
        copy.backup(database, pages=-1)


def _database_file() -> Path:
    return Path(connection.settings_dict["NAME"])


def _opened(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(file, timeout=BUSY_SECONDS)


def _check(database: sqlite3.Connection) -> None:
    (result,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise ParallaxError("backup.damaged_database", f"The database is damaged: {result}.")
