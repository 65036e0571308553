"""A full disk: pages can be read, readiness says no, owners were told before, and nothing is half stored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parallax.full_disk_filling import fill

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.mark.core
def test_with_a_full_disk_pages_can_be_read_and_owners_were_told(small_disk: Path) -> None:
    environment = {**os.environ, "PARALLAX_VAR": str(small_disk)}
    for name in ("DATABASE_URL", "REDIS_URL"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("full_disk.py"))],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    # What could not be stored is a line of the log with the file, and no traceback.
    assert "Traceback" not in done.stderr
    assert f"{small_disk / 'parallax.sqlite3'}: d" in done.stderr  # SQLite says one of two things
    found = json.loads(done.stdout)
    assert len(found["notices"]) == 1
    assert "can be stored" in found["notices"][0]
    assert found["ready"][0] == 503
    assert any("MB left" in reason for reason in found["ready"][1:])
    assert set(found["get"].values()) == {200}, found["get"]
    assert found["post"] == [503, True]
    assert found["after"] == 302


def manage(var: Path, *arguments: str, output: Path | None = None) -> tuple[int, str]:
    """The status of a command and what it writes to standard error; its result goes to a file."""
    environment = {**os.environ, "PARALLAX_VAR": str(var)}
    for name in ("DATABASE_URL", "REDIS_URL"):
        environment.pop(name, None)
    with (output or Path(os.devnull)).open("w") as file:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            env=environment, cwd=ROOT, stdout=file, stderr=subprocess.PIPE, text=True, timeout=300, check=False,
        )  # fmt: skip
    return done.returncode, done.stderr


def test_commands_name_the_file_that_does_not_fit_and_show_no_traceback(small_disk: Path, tmp_path: Path) -> None:
    full, var = small_disk / "other", tmp_path / "var"
    full.mkdir()
    inside = small_disk / "var"
    for folder in (var, inside):
        assert manage(folder, "create_account", "a@example.org")[0] == 0
    fill(small_disk)
    for arguments, output, named in (
        (("backup", str(full / "copy.zip")), None, full / "copy.zip"),
        (("doctor",), full / "found.txt", full / "found.txt"),
    ):
        status, error = manage(var, *arguments, output=output)
        assert status == 1
        assert f"{named}: No space left on device." in error
        assert "Traceback" not in error
    status, error = manage(inside, "create_account", "b@example.org")
    assert status == 1
    assert str(inside / "parallax.sqlite3") in error
    assert "full" in error
    assert "Traceback" not in error
