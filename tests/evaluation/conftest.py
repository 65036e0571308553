"""An installation of its own for tests with real workers: its files, its database, its broker."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from celery import current_app

from jobs.worker_lock import lock_file

ROOT = Path(__file__).resolve().parents[2]
DATASET = """
import django
django.setup()
from tests.factories.catalog import make_version
make_version(name="tiny", n_users=60, n_items=40, per_user=15)
make_version(name="mid", n_users=2500, n_items=500, per_user=40)
"""
PATIENCE = 90.0


@dataclass
class Installation:
    """Runs the project's commands as processes, with the settings that a real one has."""

    environment: dict[str, str]
    folder: Path
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment,
            text=True,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command and let it run; it is ended with the test at the latest."""
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.processes.append(process)
        return process

    def evaluate(self, dataset: str, *options: str, split: str = "probe:share=0.2") -> list[str]:
        """The command line of a short evaluation."""
        return [
            "manage.py",
            "evaluate",
            dataset,
            "--split",
            split,
            "--reserve",
            "0.1",
            "--relevant",
            "4",
            "--irrelevant",
            "2",
            "--negatives",
            "200",
            "--seed",
            "3",
            *options,
        ]

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Read the installation's database from outside."""
        url = self.environment["DATABASE_URL"]
        if url.startswith("sqlite"):
            connection = sqlite3.connect(f"file:{url.removeprefix('sqlite:///')}?mode=ro", uri=True, timeout=30)
            try:
                return connection.execute(sql).fetchall()
            finally:
                connection.close()
        import psycopg

        with psycopg.connect(url, autocommit=True) as server:
            return server.execute(sql).fetchall()

    def until(self, condition: Callable[[], Any], what: str) -> Any:
        """Wait for a condition and give its value."""
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            if found := condition():
                return found
            time.sleep(0.02)
        raise AssertionError(f"Waited {PATIENCE:.0f} s in vain for: {what}")

    def document(self, name: str) -> dict[str, Any]:
        """A JSON file that a command wrote."""
        return json.loads((self.folder / name).read_text())


@dataclass
class FirstState:
    """Installations as the commands prepared them, one for each kind of database, to be copied."""

    folder: Path
    migrated_copy: Callable[[Path], None]
    copy: str = ""  # the name of a PostgreSQL database

    def give(self, one: Installation) -> None:
        """Migrate the database and import two small datasets, or put back what that gave before."""
        url = one.environment["DATABASE_URL"]
        kind, name = url.partition("://")[0], url.rpartition("/")[2]
        files = self.folder / kind
        if files.exists():
            shutil.copytree(files, one.folder, dirs_exist_ok=True)
            if kind == "postgresql":
                _on_the_server(
                    f'DROP DATABASE "{name}" WITH (FORCE)', f'CREATE DATABASE "{name}" TEMPLATE "{self.copy}"'
                )
            return
        if kind == "sqlite":
            self.migrated_copy(Path(url.partition(":///")[2]))
        for arguments in (["manage.py", "migrate", "--verbosity", "0"], ["-c", DATASET]):
            done = one.run(*arguments)
            assert done.returncode == 0, done.stderr
        shutil.copytree(one.folder, files)
        if kind == "postgresql":
            self.copy = f"{name}_first"
            _on_the_server(f'CREATE DATABASE "{self.copy}" TEMPLATE "{name}"')

    def remove(self) -> None:
        """Drop the PostgreSQL database."""
        if self.copy:
            _on_the_server(f'DROP DATABASE "{self.copy}" WITH (FORCE)')


def _on_the_server(*statements: str) -> None:
    import psycopg

    with psycopg.connect("postgresql://postgres@127.0.0.1:5432/postgres", autocommit=True) as server:
        for statement in statements:
            server.execute(statement)


@pytest.fixture(scope="session")
def first_state(
    tmp_path_factory: pytest.TempPathFactory, migrated_copy: Callable[[Path], None]
) -> Iterator[FirstState]:
    """What installations begin with, prepared once for all files."""
    state = FirstState(tmp_path_factory.mktemp("first"), migrated_copy)
    yield state
    state.remove()


@pytest.fixture(scope="module")
def make_installation(
    tmp_path_factory: pytest.TempPathFactory, first_state: FirstState
) -> Iterator[Callable[..., Installation]]:
    """Makes installations with a migrated database and two small datasets; ends what they started."""
    made: list[Installation] = []

    def make(**settings: str) -> Installation:
        folder = tmp_path_factory.mktemp("installation")
        environment = {
            **os.environ,
            "PARALLAX_VAR": str(folder / "var"),
            "DATABASE_URL": f"sqlite:///{folder / 'database.sqlite3'}",
            "LEASE_SECONDS": "3",
            "NUMERIC_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])),
            **settings,
        }
        environment.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")
        one = Installation(environment, folder)
        made.append(one)
        first_state.give(one)
        return one

    yield make
    for one in made:
        for process in one.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()


@pytest.fixture
def running_worker() -> Iterator[None]:
    """The lock of a worker that is running and takes nothing, so that commands start none."""
    with lock_file().open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


@pytest.fixture
def eager(running_worker: None) -> Iterator[None]:
    """Tasks run where they are sent."""
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False
