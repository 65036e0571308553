"""Programs of tests that need threads and a database of their own: run as processes, and what they tell read back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATABASES = ("sqlite", "postgresql")


def told_by(name: str, request: pytest.FixtureRequest, folder: Path, *, with_redis: bool = False) -> dict[str, Any]:
    """Run the program of that name beside this module on the database that the fixture's parameter names.

    SQLite is a file in `folder`; PostgreSQL a database of its own, where there is a server, `with_redis` beside it.
    """
    is_embedded = request.param == "sqlite"
    url = f"sqlite:///{folder}/{name}.sqlite3" if is_embedded else request.getfixturevalue("postgresql_url")
    environment = {
        **os.environ,
        "DATABASE_URL": url,
        "PARALLAX_VAR": str(folder),
        "SECRET_KEY": "a secret key that is only for tests",
    }
    environment.pop("REDIS_URL", None)
    if with_redis and not is_embedded:
        environment["REDIS_URL"] = request.getfixturevalue("redis_url")
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(f"{name}.py"))],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["vendor"] == request.param
    return told
