"""A trial restore: a backup is restored into a scratch installation, whose integrity is checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from django.conf import settings
from django.db import connection

from core.errors import ParallaxError
from parallax.backup import postgresql
from parallax.backup.archive import open_archive

# What ties a process to this installation: its database, stored files, cache and secret key. Also NAME_FILE of each.
OWN = (
    *("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "ARTEFACT_STORAGE"),
    *("PARALLAX_ARTEFACTS_S3", "PARALLAX_ARTEFACT_CACHE", "PARALLAX_BACKUP_S3"),
)


def try_restore(archive: Path, folder: Path, progress: Callable[[str], None]) -> list[str]:
    """Restore an archive into a new folder (and a temporary PostgreSQL database), and return the problems that
    `check_integrity` finds there.

    Where the role may not create databases, only the digests of all files are checked, and `progress` says so. Raises
    ParallaxError `backup.trial_failed`, `backup.no_server`, and as `open_archive` does.
    """
    with open_archive(archive) as reader:
        vendor = reader.manifest.database.vendor
        if vendor == "postgresql" != connection.vendor:
            raise ParallaxError(
                "backup.no_server",
                "The backup holds a PostgreSQL database. For the trial, name any database of a PostgreSQL server in "
                "DATABASE_URL, with a role that may create databases.",
            )
        if vendor == "postgresql" and not postgresql.may_create_databases():
            progress(
                "No trial restore: the role may not create databases (ALTER ROLE … CREATEDB allows it). Checking the "
                "digests of all files instead"
            )
            reader.extract(folder)
            return []
    if vendor == "sqlite":
        return _try_restore(archive, folder, {}, progress)
    with postgresql.scratch_database() as url:
        return _try_restore(archive, folder, {"DATABASE_URL": url}, progress)


def _try_restore(
    archive: Path, folder: Path, database: Mapping[str, str], progress: Callable[[str], None]
) -> list[str]:
    # A trial that inherited one of these would replace the installation's own data.
    own = {name: value for name, value in os.environ.items() if name.removesuffix("_FILE") not in OWN}
    environment = {**own, **database, "PARALLAX_VAR": str(folder)}
    progress("Trial restore")
    done = run_command("restore", str(archive), environment=environment)
    if not done.returncode:
        done = run_command("check_integrity", "--json", environment=environment)
    if not done.stdout.startswith("{"):
        raise ParallaxError("backup.trial_failed", f"The trial restore failed: {last_line(done.stderr)}")
    return [f"{row['code']} in {row['where']}: {row['what']}" for row in json.loads(done.stdout)["findings"]]


def run_command(*arguments: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command of `manage.py` in a process of its own."""
    return subprocess.run(
        [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), *arguments],
        env={**environment, "DJANGO_SETTINGS_MODULE": "parallax.settings"},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )


def last_line(text: str) -> str:
    """The last line of what a program wrote, which says what went wrong."""
    return (text.strip().splitlines() or ["no reason given"])[-1].removeprefix("CommandError: ")
