"""Imports on real Celery workers that die while they are at one."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.evaluation.conftest import Installation, first_state, make_installation  # noqa: F401 -- a fixture

pytestmark = [pytest.mark.integration, pytest.mark.slow]

N_USERS, N_ITEMS, PER_USER = 8_000, 20_000, 50
IMPORT = """
import django, sys
django.setup()
from django.core.files.uploadedfile import SimpleUploadedFile
from accounts.models import User
from catalog.services.dataset_jobs import prepare_import, start_import
actor, _ = User.objects.get_or_create(email="a@example.org")
ratings = open(sys.argv[1], "rb").read()
job = prepare_import(uploads=[SimpleUploadedFile("marks.csv", ratings)], actor=actor)
start_import(job=job, chosen={"name": sys.argv[2], "item_type": "book"}, actor=actor)
"""
WORKER = ["-m", "celery", "-A", "parallax", "worker", "--pool", "solo", "--without-gossip", "--without-mingle"]


def start_import(installation: Installation, ratings: Path, name: str) -> None:
    done = installation.run("-c", IMPORT, str(ratings), name)
    assert done.returncode == 0, done.stderr


def job_of(installation: Installation) -> dict[str, Any]:
    names = ("status", "attempts", "activity", "error", "lease")
    sql = f"SELECT {', '.join(names)} FROM jobs_job ORDER BY id DESC LIMIT 1"  # noqa: S608 -- our own
    return dict(zip(names, installation.query(sql)[0], strict=True))


def stopped(installation: Installation, activity: str) -> int | None:
    """Stop the worker that is at this, so that what the database then says of it stays true until it is killed."""
    job = job_of(installation)
    assert job["status"] in {"queued", "running"}, job
    if job["status"] != "running" or not job["activity"].startswith(activity):
        return None
    pid = int(job["lease"].split(":")[1])
    os.kill(pid, signal.SIGSTOP)
    if job_of(installation) == job:
        return pid
    os.kill(pid, signal.SIGCONT)
    return None


def versions_of(installation: Installation, name: str) -> list[tuple[Any, ...]]:
    """The versions of a dataset: their content, and how many items and ratings of items are stored."""
    return installation.query(
        "SELECT v.number, v.content_hash, v.ratings_digest, v.n_ratings, COUNT(i.id), SUM(i.n_ratings) "  # noqa: S608 -- our own
        "FROM catalog_datasetversion v JOIN catalog_dataset d ON d.id = v.dataset_id "
        f"JOIN catalog_item i ON i.version_id = v.id WHERE d.name = '{name}' GROUP BY v.id"
    )


def files_of(installation: Installation) -> set[str]:
    """Uploads, and artefacts that are named by something; `.part-` files are no artefacts to anything."""
    var = Path(installation.environment["PARALLAX_VAR"])
    found = [path for part in ("artefacts", "uploads") for path in (var / part).rglob("*")]
    return {str(path.relative_to(var)) for path in found if not path.name.startswith(".part-")}


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("ratings") / "marks.csv"
    rows = (
        f"{u},{(u * 7 + k * 401) % N_ITEMS},{1 + (3 * u + 5 * k) % 5}\n"
        for u in range(N_USERS)
        for k in range(PER_USER)
    )
    file.write_text("user,item,rating\n" + "".join(rows))
    return file


@pytest.fixture(scope="module", params=["filesystem and SQLite", "Redis and PostgreSQL"])
def installation(request: pytest.FixtureRequest, make_installation: Any) -> Installation:  # noqa: F811 -- the fixture
    """An installation on each broker and database."""
    settings = {"SWEEP_SECONDS": "1", "LEASE_SECONDS": "2", "PARALLAX_QUEUE": f"imports-{os.getpid()}"}
    if "Redis" in request.param:
        settings["REDIS_URL"] = request.getfixturevalue("redis_url")
    if "PostgreSQL" in request.param:
        settings["DATABASE_URL"] = request.getfixturevalue("postgresql_url")
    one: Installation = make_installation(**settings)
    return one


@pytest.mark.parametrize("activity", ["Reading", "Storing"])
def test_an_import_whose_worker_was_killed_is_done_by_another_once_and_whole(
    installation: Installation, ratings: Path, activity: str
) -> None:
    name = activity.lower()
    before = files_of(installation)
    first = installation.start(*WORKER, "-n", "first@%h")
    start_import(installation, ratings, name)
    pid = installation.until(lambda: stopped(installation, activity), f"a worker that is at: {activity}")
    assert pid == first.pid
    first.kill()
    first.wait()
    assert job_of(installation)["status"] == "running", "nobody knows yet"
    assert versions_of(installation, name) == [], "nothing of an unfinished import is seen"
    second = installation.start(*WORKER, "-n", "second@%h")
    installation.until(lambda: job_of(installation)["status"] == "succeeded", "the import by the other worker")
    assert job_of(installation)["attempts"] == 2
    ((number, _hash, digest, n_ratings, n_items, n_of_items),) = versions_of(installation, name)
    assert (number, n_ratings, n_of_items) == (1, N_USERS * PER_USER, N_USERS * PER_USER)
    assert n_items == installation.query("SELECT n_items FROM catalog_datasetversion ORDER BY id DESC LIMIT 1")[0][0]
    installation.until(lambda: not [f for f in files_of(installation) if f.startswith("uploads/")], "no upload left")
    assert all(digest in file or file in before for file in files_of(installation)), "no other artefact"
    start_import(installation, ratings, f"{name}-quiet")
    installation.until(lambda: job_of(installation)["status"] == "succeeded", "the same import, undisturbed")
    assert versions_of(installation, f"{name}-quiet") == versions_of(installation, name), "to the last bit"
    second.kill()
    second.wait()
    checked = installation.run("manage.py", "check_integrity")
    assert checked.returncode == 0, checked.stdout + checked.stderr
