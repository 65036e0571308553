"""A backup taken while participants walk brings a lost installation back, and its study is continued to the end."""

from __future__ import annotations

import csv
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.e2e.test_main_job import free_port
from tests.factories.installations import ROOT, Installation

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
PER_CONDITION, CONDITIONS = 20, 2
WALK = ("simulate_participants", "drill", "--per-condition", str(PER_CONDITION), "--parallel", "2")


# On SQLite a backup that a half-finished study continues from is core: test_backup.py.
@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.core)])
def installation(request: pytest.FixtureRequest, tmp_path: Path, migrated_copy: Callable[[Path], None]) -> Installation:
    """A launched study on two models, without participants."""
    is_embedded = request.param == "sqlite"
    settings = {} if is_embedded else {"DATABASE_URL": request.getfixturevalue("postgresql_url")}
    made = Installation(tmp_path / "var", **settings)
    if is_embedded:
        migrated_copy(made.var / "parallax.sqlite3")
    else:
        made.manage("migrate", "--no-input", "--verbosity", "0")
    made.manage("create_account", "you@example.org")
    made.manage("shell", "-c", "from catalog.services import load_demo_dataset; load_demo_dataset(seed=1)")
    made.manage(
        "evaluate", "demo-films", "--algorithms", "toppop,nncosngr", "--split", "probe:share=0.1", "--reserve", "0.2",
        "--protocol", "one-plus-random", "--negatives", "100", "--n", "5", "--relevant", "5", "--irrelevant", "1",
        "--workers", "1",
    )  # fmt: skip
    create = ("create_study", "drill", "--template", "cremonesi-2011", "--dataset", "demo-films")
    made.manage(*create, "--per-condition", str(PER_CONDITION), "--owner", "you@example.org")
    made.manage("launch_study", "drill")
    return made


def lose(installation: Installation) -> None:
    """Delete the files and everything in the database."""
    # A last connection that closes removes its log meanwhile.
    while installation.var.exists():
        with suppress(FileNotFoundError):
            shutil.rmtree(installation.var)
    if url := installation.environment.get("DATABASE_URL"):
        import psycopg

        server, _, name = url.rpartition("/")
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')  # type: ignore[arg-type]
            connection.execute(f'CREATE DATABASE "{name}"')  # type: ignore[arg-type]


@contextmanager
def serving(installation: Installation) -> Iterator[str]:
    """The site as `up` serves it; at the end all its processes are killed, as in a power cut."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up", "--port", str(port)], cwd=ROOT, env=installation.environment,
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        assert "Parallax is ready at" in process.stdout.readline()
        yield f"http://127.0.0.1:{port}/"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


@contextmanager
def walking(installation: Installation, url: str) -> Iterator[subprocess.Popen[str]]:
    """Participants on their way, killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-u", "manage.py", *WALK, "--base-url", url],
        cwd=ROOT, env=installation.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    with process:
        try:
            yield process
        finally:
            process.kill()


def finished(process: subprocess.Popen[str]) -> int:
    """How many participants had finished when the command first spoke of any."""
    for line in process.stdout or ():
        found = re.match(r"\s*([1-9]\d*) of \d+ participants", line)
        if found:
            return int(found[1])
    raise AssertionError("No participant finished.")


def test_a_backup_under_load_brings_a_lost_installation_back(installation: Installation, tmp_path: Path) -> None:
    backup = tmp_path / "backup.zip"
    with serving(installation) as url, walking(installation, url) as walkers:
        n_before = finished(walkers)
        installation.manage("backup", str(backup), "--skip-trial")
        assert walkers.poll() is None, "the backup was to be taken while participants walk"
    lose(installation)

    installation.manage("restore", str(backup))
    installation.manage("check_integrity")
    with serving(installation) as url:
        said = installation.manage(*WALK, "--base-url", url)
    everyone = PER_CONDITION * CONDITIONS
    assert f"{everyone} of {everyone} simulated participants completed" in said
    assert n_before < everyone
    installation.manage("check_integrity")
    installation.manage("replay_allocation", "drill")
    installation.manage(
        "export_study", "drill", "--format", "wide", "--include-simulated", "--out", str(tmp_path / "export")
    )
    with next((tmp_path / "export").rglob("*_wide_data.csv")).open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert len(rows) == everyone
