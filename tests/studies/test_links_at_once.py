"""A personal link, an id and a panel's list, each used by many at the same instant, on both databases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("links_at_once.py")
pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp(request.param)
    is_embedded = request.param == "sqlite"
    url = f"sqlite:///{folder}/links.sqlite3" if is_embedded else request.getfixturevalue("postgresql_url")
    environment = {**os.environ, "DATABASE_URL": url, "PARALLAX_VAR": str(folder), "SECRET_KEY": "only for tests"}
    environment.pop("REDIS_URL", None)
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["vendor"] == request.param
    return told


def test_a_personal_link_pressed_by_forty_at_once_enrols_one(found: dict[str, Any]) -> None:
    assert found["one_link"] == {"faults": [], "people": 1, "tokens": 1, "participants": 41}


def test_forty_devices_with_one_id_are_one_participant(found: dict[str, Any]) -> None:
    assert found["one_id"] == {"faults": [], "refused": {"study.known_id": 39}, "participants": 1, "ids": 1}


def test_a_list_loaded_by_eight_at_once_is_taken_in_once(found: dict[str, Any]) -> None:
    assert found["one_list"] == {"faults": [], "returned": 10, "new": 10, "released": 10}


def test_a_form_declined_by_forty_presses_at_once_is_counted_once(found: dict[str, Any]) -> None:
    assert found["one_form"] == {"faults": [], "declined": 41}
