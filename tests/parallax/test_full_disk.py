"""A full disk: pages can be read, readiness says no, owners were told before, and nothing is half stored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.core]


def test_with_a_full_disk_pages_can_be_read_and_owners_were_told(small_disk: Path) -> None:
    environment = {**os.environ, "PARALLAX_VAR": str(small_disk)}
    for name in ("DATABASE_URL", "REDIS_URL"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("full_disk.py"))],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert len(found["notices"]) == 1
    assert "When it is full, no answer can be stored." in found["notices"][0]
    assert found["ready"][0] == 503
    assert any("MB left" in reason for reason in found["ready"][1:])
    assert set(found["get"].values()) == {200}, found["get"]
    assert found["post"] == [503, True]
    assert found["after"] == 302
