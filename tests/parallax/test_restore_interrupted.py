"""A restore that is killed at any step can be run again by the same command, and ends as if it had not been killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.factories.installations import ROOT, Installation, older_installation
from tests.parallax.test_backup import environment_of, script

pytestmark = [pytest.mark.integration, pytest.mark.slow]

# Kills its own process at the given step: the renaming, copying or deleting of a file, the opening of a database, or
# the start of a program, counted from the moment at which the installation begins to change.
RESTORE = """
import os, signal, sys
import django
django.setup()
from pathlib import Path
from parallax.backup.restoration import restore_backup
STEPS = {"os.rename", "os.remove", "shutil.copyfile", "sqlite3.connect", "subprocess.Popen"}
last, file, count = int(sys.argv[1]), Path(sys.argv[2]), None
def note(event, arguments):
    global count
    if count is None or event not in STEPS:
        return
    count += 1
    if count == last:
        os.kill(os.getpid(), signal.SIGKILL)
def progress(words):
    global count
    if words == "Replacing the database":
        count = 0
sys.addaudithook(note)
restore_backup(file, is_replacing=False, progress=progress)
"""
MOST_STEPS = 60
TITLES = """
import django
django.setup()
from studies.models import Participant, Study
print(list(Study.objects.values_list("slug", flat=True)), Participant.objects.count())
"""


@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_a_restore_killed_at_each_step_is_repeated_by_the_same_command(
    vendor: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    urls = [request.getfixturevalue("new_postgresql")() for _ in range(2)] if vendor == "postgresql" else ["", ""]
    source, file = older_installation(tmp_path / "source", urls[0]), tmp_path / "backup.zip"
    source.manage("migrate", "--verbosity", "0")
    source.manage("backup", str(file), "--skip-trial")
    target = Installation(tmp_path / "target", **({"DATABASE_URL": urls[1]} if urls[1] else {}))
    del target.environment["SECRET_KEY"]
    if urls[1]:  # as `psql` of a restore that was killed while it waited
        orphan = psycopg.connect(urls[1], application_name="parallax-restore")
        request.addfinalizer(orphan.close)
    killed = 0
    for step in range(1, MOST_STEPS):
        done = subprocess.run(
            [sys.executable, "-c", RESTORE, str(step), str(file)],
            cwd=ROOT, env=environment_of(target), capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        if done.returncode != -signal.SIGKILL:
            break
        if not killed:
            assert "restore was interrupted" in target.manage("check_integrity", status=1)
        killed += 1
    assert done.returncode == 0, done.stderr
    assert killed > 5
    assert (target.var / "secret_key").read_text() == source.environment["SECRET_KEY"]
    target.manage("check_integrity")
    assert script(target, TITLES) == script(source, TITLES)
    assert [path for path in target.var.glob("tmp/*") if path.name.startswith("backup-")] == []
    assert list(target.var.glob("secret_key*")) == [target.var / "secret_key"]
