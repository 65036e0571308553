"""Copies of a PostgreSQL database by `pg_dump` and `psql` of the server's own version, and databases for trials."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from core.database import snapshot
from core.errors import ParallaxError
from parallax.backup.archive import DatabaseCopy
from parallax.env import env_secret

RESTORE = "parallax-restore"  # name of the connections that replace a database
LOCK_SECONDS = 10
VARIABLES = {"HOST": "PGHOST", "PORT": "PGPORT", "USER": "PGUSER", "PASSWORD": "PGPASSWORD", "NAME": "PGDATABASE"}


def copy_database(target: Path) -> DatabaseCopy:
    """Dump the database as it is at one moment; other processes keep reading and writing.

    Raises ParallaxError `backup.no_program`, `backup.program_failed`.
    """
    with snapshot(), connection.cursor() as cursor:
        # The dump and the counts see the same moment, so that a restored copy can be checked against them.
        cursor.execute("SELECT pg_export_snapshot()")
        (name,) = cursor.fetchone()
        _run("pg_dump", "--no-owner", "--no-privileges", f"--snapshot={name}", f"--file={target}")
        counts = {}
        for table in sorted(connection.introspection.table_names(cursor)):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")  # noqa: S608 -- quoted by the database
            (counts[table],) = cursor.fetchone()
        migrations = sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations())
        return DatabaseCopy("postgresql", str(_major_version()), tuple(migrations), counts)


def refuse_in_use() -> None:
    """Raise ParallaxError `restore.in_use` where another process is connected to the database, other than one that a
    killed restore left, which is ended.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            # By its name: only what a killed restore of ours has left is ended, never somebody else's session.
            "WHERE datname = current_database() AND application_name = %s",
            [RESTORE],
        )
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND backend_type = 'client backend'"
        )
        (count,) = cursor.fetchone()
    if count:
        raise ParallaxError(
            "restore.in_use",
            f"{count} other connections to the database are open. Stop the web server, all workers and beat, "
            "then restore.",
        )


def replace_database(source: Path) -> None:
    """Replace every table of the database with those of a dump, in one transaction.

    Raises ParallaxError `backup.no_program`, `backup.program_failed`.
    """
    with connection.cursor() as cursor:
        tables = [connection.ops.quote_name(name) for name in connection.introspection.table_names(cursor)]
    connection.close()  # its locks would block the restore
    drop = ["--command", f"DROP TABLE {', '.join(tables)} CASCADE"] if tables else []
    _run(
        *("psql", "--no-psqlrc", "--quiet", "--single-transaction", "--set", "ON_ERROR_STOP=1"),
        # A forgotten connection with a lock fails the restore after seconds instead of stopping it for ever.
        *("--output", os.devnull, "--command", f"SET lock_timeout = '{LOCK_SECONDS}s'"),
        *("--command", f"SET application_name = '{RESTORE}'", *drop, "--file", str(source)),
    )


def may_create_databases() -> bool:
    """Whether the role may create databases."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user")
        return bool(cursor.fetchone()[0])


@contextmanager
def scratch_database() -> Iterator[str]:
    """The address of a temporary database on the same server."""
    name = f"{connection.settings_dict['NAME'][:40]}_trial_restore"
    drop = f"DROP DATABASE IF EXISTS {connection.ops.quote_name(name)} WITH (FORCE)"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext(%s))", [name])  # of two trials the second waits
        cursor.execute(drop)  # of a trial that was killed
        cursor.execute(f"CREATE DATABASE {connection.ops.quote_name(name)} TEMPLATE template0")
        try:
            yield urlsplit(env_secret("DATABASE_URL") or "")._replace(path=f"/{quote(name)}").geturl()
        finally:
            cursor.execute(drop)
    connection.close()  # and its lock


def _major_version() -> int:
    return int(connection.pg_version) // 10_000  # type: ignore[attr-defined]  # of PostgreSQL's connection alone


def _run(name: str, *arguments: str) -> None:
    command = [_program(name, _major_version()), *arguments]
    connection_of = connection.settings_dict
    # Through the environment: arguments, and a password among them, are shown to all accounts of the machine.
    environment = {variable: str(connection_of[key]) for key, variable in VARIABLES.items() if connection_of.get(key)}
    options = connection_of.get("OPTIONS", {})
    environment |= {
        f"PG{key.upper()}": str(value)
        for key, value in options.items()
        if key.startswith("ssl") or key in ("service", "passfile")
    }
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        words = done.stderr.strip().splitlines() or ["no reason given"]
        raise ParallaxError("backup.program_failed", f"{name} failed: {words[-1]}")


def _program(name: str, major: int) -> str:
    """The path of a client program of the server's version; Debian keeps several side by side."""
    candidates = [shutil.which(name), f"/usr/lib/postgresql/{major}/bin/{name}"]
    for path in filter(None, candidates):
        if Path(path).exists():
            output = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
            # pg_dump refuses newer servers, and dumps by a newer one may not be read by the server's own psql.
            if (version := re.search(r"\d+", output)) and int(version[0]) == major:
                return path
    raise ParallaxError(
        "backup.no_program",
        f"The server is PostgreSQL {major}, and {name} of that version is not installed. "
        f"Install the package postgresql-client-{major}.",
    )
