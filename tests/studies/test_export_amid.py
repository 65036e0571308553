"""An export while people arrive is of one moment, and keeps nobody from writing, on both databases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("export_amid.py")
pytestmark = [pytest.mark.integration]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp(request.param)
    is_embedded = request.param == "sqlite"
    url = f"sqlite:///{folder}/amid.sqlite3" if is_embedded else request.getfixturevalue("postgresql_url")
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


def test_tables_and_flow_agree_and_others_write_meanwhile(found: dict[str, Any]) -> None:
    for export in found["exports"]:
        assert export["has_arrived"]
        assert export["stored"]
        n = export["before"]
        assert (export["consented"], export["completed"], export["finished"]) == (n, n, n)
        assert set(export["rows"].values()) == {n}
        assert export["allotted"] == n
    assert set(found["exports"][1]["rows"]) == {"participants", "items", "ratings", "events"}


def test_a_block_of_one_view_writes_nothing_and_the_next_one_does(found: dict[str, Any]) -> None:
    assert found["writing"] == {"is_refused": True, "after": True}
