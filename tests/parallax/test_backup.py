"""A backup is consistent while others write, and restores into an empty installation that continues its work."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.errors import ParallaxError
from parallax.backup.archive import DatabaseCopy, Manifest, new_archive, open_archive, parse_manifest
from tests.factories.installations import ROOT, STORED, Installation, older_installation

pytestmark = pytest.mark.integration

# A run whose first part is done and whose second has a worker that is gone.
START_RUN = """
import django
django.setup()
from django.utils import timezone
from catalog.models import DatasetVersion
from evaluation.models import RunPart
from evaluation.services.parts import lease_part
from evaluation.services.worker_loop import execute
from tests.factories.evaluation import make_run_at
run = make_run_at("running", version=DatasetVersion.objects.get(), seed=11, algorithms="toppop,puresvd:factors=4")
lease_part(run=run)
RunPart.objects.filter(run=run).update(leased_until=timezone.now())
"""
FINISH_RUN = """
import django
django.setup()
from evaluation.models import EvaluationRun, RunPart
from tests.factories.evaluation import work_off
run = EvaluationRun.objects.latest("pk")
before = RunPart.objects.filter(run=run, status="done").count()
work_off(run)
print(run.status, before, sorted(RunPart.objects.filter(run=run).values_list("result_digest", flat=True)))
"""
# Two rows at a time, until the process is stopped.
WRITE = """
import django
django.setup()
from django.db import transaction
from core.models import LogEntry
print("writing", flush=True)
while True:
    with transaction.atomic():
        for number in range(2):
            LogEntry.objects.create(kind="pair", object_id=number)
"""
COUNT = """
import django
django.setup()
from django.db import connection
from core.models import LogEntry
import json
with connection.cursor() as cursor:
    counts = {}
    for table in (t for t in connection.introspection.table_names(cursor) if not t.startswith("sqlite_")):
        cursor.execute(f'SELECT count(*) FROM "{table}"')
        counts[table] = cursor.fetchone()[0]
print(json.dumps({"pairs": LogEntry.objects.filter(kind="pair").count(), "counts": counts}))
"""
# Every refusal in one process: what is restored, and the code.
REFUSALS = """
import django
django.setup()
import fcntl, json, os, sqlite3
from pathlib import Path
from django.conf import settings
from core.errors import ParallaxError
from jobs.worker_lock import lock_file
from parallax.backup.restoration import restore_backup
codes = {{}}
def restore(label, name="backup", is_replacing=True):
    try:
        restore_backup(Path({folder!r}) / (name + ".zip"), is_replacing=is_replacing, progress=print_nothing)
    except ParallaxError as refusal:
        codes[label] = refusal.code
def print_nothing(words):
    pass
restore("not empty", is_replacing=False)
for name in ("broken", "newer", "other"):
    restore(name, name)
key, os.environ["SECRET_KEY"] = os.environ["SECRET_KEY"], "another key"
restore("key")
os.environ["SECRET_KEY"] = key
reader = sqlite3.connect(settings.DATABASES["default"]["NAME"])
reader.execute("PRAGMA journal_mode=WAL")
reader.execute("SELECT count(*) FROM studies_study").fetchone()
restore("open")
reader.close()
with lock_file().open("a") as worker:
    fcntl.flock(worker, fcntl.LOCK_SH)
    restore("worker")
print(json.dumps(codes))
"""


def environment_of(installation: Installation) -> dict[str, str]:
    return {**installation.environment, "DJANGO_SETTINGS_MODULE": "parallax.settings"}


def script(installation: Installation, text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=ROOT, env=environment_of(installation), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def state_of(installation: Installation) -> dict[str, bytes]:
    """Every file of the installation that a restore could change."""
    with closing(sqlite3.connect(installation.var / "parallax.sqlite3")) as database:
        found = {"database": "\n".join(database.iterdump()).encode()}
    for path in installation.var.rglob("*"):
        if path.is_file() and (path.name == "secret_key" or "artefacts" in path.parts or "media" in path.parts):
            found[str(path)] = path.read_bytes()
    return found


@pytest.fixture
def second_url() -> Iterator[Callable[[], str]]:
    """Creates another empty PostgreSQL database."""
    import psycopg

    server, names = "postgresql://postgres@127.0.0.1:5432/postgres", []

    def create() -> str:
        name = f"parallax_tests_{os.urandom(6).hex()}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')  # type: ignore[arg-type]
        names.append(name)
        return f"postgresql://postgres@127.0.0.1:5432/{name}"

    yield create
    with psycopg.connect(server, autocommit=True) as connection:
        for name in names:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')  # type: ignore[arg-type]


# On PostgreSQL the drill in test_restore_drill.py is core.
@pytest.mark.slow
@pytest.mark.parametrize("vendor", [pytest.param("sqlite", marks=pytest.mark.core), "postgresql"])
def test_an_empty_installation_continues_a_half_finished_study_and_run(
    vendor: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    urls = ["", ""]
    if vendor == "postgresql":
        urls = [request.getfixturevalue("postgresql_url"), request.getfixturevalue("second_url")()]
    source = older_installation(tmp_path / "source", urls[0])
    source.manage("migrate", "--no-input", "--verbosity", "0")
    script(source, START_RUN)
    (source.var / "media" / "exports").mkdir()
    (source.var / "media" / "exports" / "answers.zip").write_bytes(b"an export")
    file = tmp_path / "backup.zip"
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITE], cwd=ROOT, env=environment_of(source), stdout=subprocess.PIPE
    )
    try:
        assert writer.stdout is not None
        writer.stdout.readline()
        source.manage("backup", str(file))
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.wait()
        if writer.stdout is not None:
            writer.stdout.close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []

    target = Installation(tmp_path / "target", **({"DATABASE_URL": urls[1]} if urls[1] else {}))
    del target.environment["SECRET_KEY"]
    target.manage("restore", str(file))

    found = json.loads(script(target, COUNT))
    with open_archive(file) as archive:
        assert found["counts"] == archive.manifest.database.counts
    assert found["pairs"] > 0
    assert found["pairs"] % 2 == 0
    assert (target.var / "secret_key").read_text() == source.environment["SECRET_KEY"]
    assert stat.S_IMODE((target.var / "secret_key").stat().st_mode) == 0o600
    assert (target.var / "media" / "exports" / "answers.zip").read_bytes() == b"an export"
    target.manage("check_integrity")
    stored = STORED / f"{vendor}.json"
    study = json.loads(target.run(str(STORED / "finish.py"), str(stored)))
    assert study["statuses"] == ["completed"] * 9
    finished = script(target, FINISH_RUN)
    assert finished.startswith("succeeded 1 ")
    assert finished == script(source, FINISH_RUN)
    target.manage("check_integrity")


@pytest.mark.slow
def test_a_backup_of_an_older_version_is_migrated_and_other_ones_are_refused_without_a_change(tmp_path: Path) -> None:
    source, file = older_installation(tmp_path / "source"), tmp_path / "backup.zip"
    source.manage("backup", str(file))
    assert "exists already" in source.manage("backup", str(file), status=1)

    target = Installation(tmp_path / "target")
    target.manage("restore", str(file))
    target.manage("check_integrity")
    assert target.manage("showmigrations", "--plan").count("[ ]") == 0

    before = state_of(target)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    newer = {**manifest, "database": {**manifest["database"], "migrations": ["studies.9999_later"]}}
    other = {**manifest, "database": {**manifest["database"], "vendor": "postgresql"}, "files": {**manifest["files"]}}
    other["files"]["database.sql"] = other["files"].pop("database.sqlite3")
    for name, changed in {
        "broken": {"database.sqlite3": members["database.sqlite3"][:-1] + b"!"},
        "newer": {"manifest.json": json.dumps(newer).encode()},
        "other": {"manifest.json": json.dumps(other).encode()},
    }.items():
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            for member, content in {**members, **changed}.items():
                archive.writestr(member, content)
    assert json.loads(script(target, REFUSALS.format(folder=str(tmp_path)))) == {
        "not empty": "restore.not_empty",
        "broken": "backup.damaged",
        "newer": "backup.newer",
        "other": "restore.other_database",
        "key": "restore.other_secret_key",
        "open": "restore.in_use",
        "worker": "restore.in_use",
    }
    assert state_of(target) == before

    with closing(sqlite3.connect(target.var / "parallax.sqlite3")) as database:
        database.execute("UPDATE studies_study SET title = 'changed since'")
        database.commit()
    assert state_of(target) != before
    target.manage("restore", str(file), "--replace")
    after = state_of(target)
    assert after.keys() == before.keys()
    assert b"changed since" not in after["database"]
    target.manage("check_integrity")


def manifest_of(files: dict[str, Any]) -> Manifest:
    return Manifest("2026-11-25", {"parallax": "1"}, DatabaseCopy("sqlite", "3", (), {}), ("artefacts",), files)


def test_a_failed_backup_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(AttributeError), new_archive(tmp_path / "b.zip") as writer:
        writer.add("secret_key", None)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ParallaxError, match="does not exist"), new_archive(tmp_path / "none" / "b.zip"):
        pass


def test_an_archive_returns_what_was_added_and_notices_every_change(tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    with new_archive(path) as writer:
        for name in ("secret_key", "database.sqlite3", "artefacts/models/1/meta.json"):
            writer.add_bytes(name, name.encode())
        writer.add_manifest(manifest_of(writer.files))
    with open_archive(path) as archive:
        assert archive.read("secret_key") == b"secret_key"
        archive.extract(tmp_path / "out")
    assert (tmp_path / "out/artefacts/models/1/meta.json").read_bytes() == b"artefacts/models/1/meta.json"
    content = path.read_bytes()
    (tmp_path / "cut.zip").write_bytes(content[: len(content) // 2])
    with pytest.raises(ParallaxError, match="complete backup"), open_archive(tmp_path / "cut.zip"):
        pass


@pytest.mark.parametrize("name", ["../secret", "artefacts/../../secret", "/etc/passwd", "artefacts", "other/file"])
def test_a_manifest_names_files_of_a_backup_alone(name: str, tmp_path: Path) -> None:
    with new_archive(tmp_path / "b.zip") as writer:
        for each in ("secret_key", "database.sqlite3", name):
            writer.add_bytes(each, b"x")
        text = manifest_of(writer.files).as_json()
    with pytest.raises(ParallaxError, match="names files"):
        parse_manifest(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "backup.damaged"),
        ("[]", "backup.damaged"),
        ('{"format_version": 1}', "backup.damaged"),
        ('{"format_version": 2, "versions": {"parallax": "9.0"}}', "backup.newer"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_refused(text: str, code: str) -> None:
    with pytest.raises(ParallaxError) as refusal:
        parse_manifest(text)
    assert refusal.value.code == code
