"""Installations in folders of their own, used through their commands as an operator does."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "tests" / "data" / "upgrade"
STUDY = "older-study"


def stored_sql(name: str) -> str:
    return gzip.decompress((STORED / f"{name}.sql.gz").read_bytes()).decode()


def restore_sqlite(var: Path, prefix: str = "") -> None:
    with closing(sqlite3.connect(var / "parallax.sqlite3")) as database:
        database.executescript(stored_sql(f"{prefix}sqlite"))


def restore_postgresql(url: str, prefix: str = "") -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(stored_sql(f"{prefix}postgresql"))  # type: ignore[arg-type]


class Installation:
    """An installation of this version, in the folder `var`."""

    def __init__(self, var: Path, **environment: str) -> None:
        self.var = var
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PARALLAX_", "DATABASE_"))},
            "PARALLAX_VAR": str(var),
            "SECRET_KEY": "a secret key of the stored installation",
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(STORED))),
            **environment,
        }

    def run(self, *arguments: str, status: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout if status == 0 else done.stdout + done.stderr

    def manage(self, *arguments: str, status: int = 0) -> str:
        return self.run("manage.py", *arguments, status=status)


def older_installation(var: Path, postgresql_url: str = "", prefix: str = "") -> Installation:
    """The stored installation of an older version with a half-finished study; its database is not migrated.

    The one whose files begin with `queued_` is of a later version, with a run half measured and jobs queued.
    """
    var.mkdir(mode=0o700)
    shutil.unpack_archive(STORED / f"{prefix}artefacts.tar.gz", var)
    if not postgresql_url:
        restore_sqlite(var, prefix)
        return Installation(var)
    restore_postgresql(postgresql_url, prefix)
    return Installation(var, DATABASE_URL=postgresql_url)
