"""Reports on real Celery workers that die while they are at one."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from tests.evaluation.conftest import Installation, first_state, make_installation  # noqa: F401 -- a fixture

pytestmark = [pytest.mark.integration, pytest.mark.slow]

STUDY = """
import django
django.setup()
from tests.factories.analysis import plant
from tests.factories.evaluation import make_run_at
from tests.factories.studies import make_study
study = make_study(run=make_run_at("succeeded", algorithms="toppop,corngr,puresvd:factors=4"))
given = {"TopPop": [4, 5, 4, 5, 4, 3], "CorNgr": [2, 1, 2, 1, 1, 3], "PureSVD4": [2, 1, 3, 2, 2, 1]}
plant(study, {label: answers * 20 for label, answers in given.items()})
"""
DELETE = """
import django
django.setup()
from analysis.models import Report
Report.objects.all().delete()
"""
ASK = """
import django
django.setup()
from analysis.services.requests import request_report
from studies.models import Study
study = Study.objects.get()
request_report(study=study, asked_by=study.memberships.get(role="owner").researcher)
"""
CANCEL = """
import django
django.setup()
from jobs.models import Job
from jobs.services import cancel
job = Job.objects.filter(kind="report").latest("pk")
cancel(job, actor=job.owner)
"""
COMPARE = """
import django, json
django.setup()
from analysis.models import Report
from analysis.services import build_report
stored = Report.objects.get()
found, inputs, study = stored.results, stored.inputs_hash, stored.study
stored.delete()
made = build_report(study=study)
print(json.dumps([made.results == found, made.inputs_hash == inputs, made.pk != stored.pk]))
"""
KINDS = ("filesystem and SQLite", "Redis and PostgreSQL")
WORKER = ["-m", "celery", "-A", "parallax", "worker", "--pool", "solo", "--without-gossip", "--without-mingle"]


def in_process(installation: Installation, program: str) -> str:
    """Run a program in a process of the installation; what it printed."""
    done = installation.run("-c", program)
    assert done.returncode == 0, done.stderr
    return done.stdout


def held(installation: Installation) -> tuple[int, str] | None:
    """The process that holds the newest request, and its lease, once the worker is past its first words."""
    sql = (
        "SELECT lease FROM jobs_job WHERE kind = 'report' AND status = 'running' "
        "AND activity <> 'Starting' ORDER BY id DESC LIMIT 1"
    )
    found = installation.query(sql)
    return (int(found[0][0].split(":")[1]), found[0][0]) if found else None


def stopped(installation: Installation) -> int | None:
    """Stop the holder, so that what the database then says of it stays true until it is killed."""
    found = held(installation)
    if found is None:
        return None
    pid, lease = found
    os.kill(pid, signal.SIGSTOP)
    if installation.query(f"SELECT 1 FROM jobs_job WHERE lease = '{lease}' AND status = 'running'"):  # noqa: S608 -- our own
        return pid
    os.kill(pid, signal.SIGCONT)
    return None


def request_of(installation: Installation) -> dict[str, Any]:
    names = ("status", "attempts", "error")
    sql = f"SELECT {', '.join(names)} FROM jobs_job WHERE kind = 'report' ORDER BY id DESC LIMIT 1"  # noqa: S608 -- our own
    return dict(zip(names, installation.query(sql)[0], strict=True))


@pytest.fixture(scope="module", params=KINDS)
def installation(request: pytest.FixtureRequest, make_installation: Any) -> Installation:  # noqa: F811 -- the fixture
    """An installation on each broker and database, with a study of 360 participants."""
    settings = {"SWEEP_SECONDS": "1", "PARALLAX_QUEUE": f"reports-{os.getpid()}"}
    if "Redis" in request.param:
        settings["REDIS_URL"] = request.getfixturevalue("redis_url")
    if "PostgreSQL" in request.param:
        settings["DATABASE_URL"] = request.getfixturevalue("postgresql_url")
    one: Installation = make_installation(**settings)
    in_process(one, STUDY)
    return one


@pytest.mark.parametrize("installation", [KINDS[0], pytest.param(KINDS[1], marks=pytest.mark.core)], indirect=True)
def test_a_report_whose_worker_was_killed_is_made_by_another_to_the_last_bit(installation: Installation) -> None:
    first = installation.start(*WORKER, "-n", "first@%h")
    in_process(installation, ASK)
    pid = installation.until(lambda: stopped(installation), "a worker at the report")
    assert pid == first.pid
    first.kill()
    first.wait()
    assert request_of(installation)["status"] == "running"
    second = installation.start(*WORKER, "-n", "second@%h")
    installation.until(lambda: request_of(installation)["status"] == "succeeded", "the report")
    assert request_of(installation)["attempts"] == 2
    assert installation.query("SELECT COUNT(*) FROM analysis_report") == [(1,)]
    second.kill()  # terminated, it would first finish the Bayesian analysis, which takes minutes
    second.wait()
    assert json.loads(in_process(installation, COMPARE)) == [True, True, True]


def test_a_report_that_is_cancelled_while_a_worker_is_at_it_is_never_stored(installation: Installation) -> None:
    worker = installation.start(*WORKER, "-n", "third@%h")
    in_process(installation, DELETE + ASK)
    pid = installation.until(lambda: stopped(installation), "a worker at the report")
    in_process(installation, CANCEL + ASK)  # what it does next, the same worker does whole
    os.kill(pid, signal.SIGCONT)
    installation.until(lambda: request_of(installation)["status"] == "succeeded", "the second report")
    assert worker.poll() is None
    states = installation.query("SELECT status FROM jobs_job WHERE kind = 'report' ORDER BY id DESC LIMIT 2")
    assert states == [("succeeded",), ("cancelled",)]
    assert installation.query("SELECT COUNT(*) FROM analysis_report") == [(1,)]
    worker.kill()  # as above
    worker.wait()
