"""A study launched and half finished on an older version is completed, exported and reported after an upgrade.

`tests/data/upgrade` holds the older installation, as SQLite and as PostgreSQL wrote it; `build.py` there made it.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "tests" / "data" / "upgrade"
STUDY = "older-study"
UNCHANGED = ("models", "results", "metrics")

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def stored_sql(name: str) -> str:
    return gzip.decompress((STORED / f"{name}.sql.gz").read_bytes()).decode()


def restore_sqlite(var: Path) -> None:
    with closing(sqlite3.connect(var / "parallax.sqlite3")) as database:
        database.executescript(stored_sql("sqlite"))


def restore_postgresql(url: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(stored_sql("postgresql"))  # type: ignore[arg-type]


class Installation:
    """The restored installation, used through its commands as an operator does."""

    def __init__(self, var: Path, **environment: str) -> None:
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PARALLAX_", "DATABASE_"))},
            "PARALLAX_VAR": str(var),
            "SECRET_KEY": "upgrade",
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(STORED))),
            **environment,
        }

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def manage(self, *arguments: str) -> str:
        return self.run("manage.py", *arguments)


@pytest.fixture(params=["sqlite", "postgresql"])
def upgraded(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Installation, Path]:
    var = tmp_path / "var"
    var.mkdir(mode=0o700)
    shutil.unpack_archive(STORED / "artefacts.tar.gz", var)
    environment = {}
    if request.param == "sqlite":
        restore_sqlite(var)
    else:
        url = request.getfixturevalue("postgresql_url")
        restore_postgresql(url)
        environment["DATABASE_URL"] = url
    installation = Installation(var, **environment)
    installation.manage("migrate", "--no-input", "--verbosity", "0")
    return installation, STORED / f"{request.param}.json"


def test_a_half_finished_study_goes_on_after_an_upgrade(upgraded: tuple[Installation, Path], tmp_path: Path) -> None:
    installation, file = upgraded
    expected = json.loads(file.read_text(encoding="utf-8"))
    assert expected["statuses"] == {"active": 2, "completed": 6, "consented": 1}

    after = json.loads(installation.run(str(STORED / "finish.py"), str(file)))

    assert after["statuses"] == ["completed"] * 9
    for name in UNCHANGED:
        assert after[name] == expected[name]
    installation.manage("export_study", STUDY, "--format", "wide", "--out", str(tmp_path / "export"))
    with next((tmp_path / "export").rglob("*_wide_data.csv")).open(encoding="utf-8") as table:
        assert len(list(csv.DictReader(table))) == 9
    installation.manage("report", STUDY, "--out", str(tmp_path / "report"))
    report = json.loads(next((tmp_path / "report").rglob("report.json")).read_text(encoding="utf-8"))
    assert report["results"]["flow"]["analysed"] == 9
    assert [variable["key"] for variable in report["results"]["variables"]] == [
        "accuracy",
        "fon",
        "son",
        "satisfaction",
    ]
    assert "TopPop" in next((tmp_path / "report").rglob("*.md")).read_text(encoding="utf-8")
    installation.manage("check_integrity")
