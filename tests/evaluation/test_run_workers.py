"""Commands that run algorithms start workers themselves where none is running."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from evaluation.services.run_workers import DEFAULT_WORKERS
from tests.evaluation.conftest import Installation

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SAID = f"No worker is running; starting {DEFAULT_WORKERS} for this run."
WORKER = ["-m", "celery", "-A", "parallax", "worker", "--pool", "solo", "--without-gossip", "--without-mingle"]
REPLICATION = """
import sys, django
django.setup()
from django.core.management.base import OutputWrapper
from catalog.selectors.datasets import newest_version
from parallax.replication.stages import Settings, finished_run
chosen = Settings(factors=(3, 5), reserve=0.3)
out = OutputWrapper(sys.stdout)
run = finished_run(version=newest_version("tiny"), chosen=chosen, workers=None, out=out, progress=print)
print(run.status)
"""


@pytest.fixture(scope="module")
def installation(make_installation: Callable[..., Installation]) -> Installation:
    return make_installation()


def finished(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_evaluate_starts_workers_and_leaves_none(installation: Installation) -> None:
    assert SAID in finished(installation.run(*installation.evaluate("tiny", "--algorithms", "toppop")))
    again = finished(installation.run(*installation.evaluate("tiny", "--algorithms", "toppop", "--workers", "1")))
    assert SAID not in again


def test_run_experiment_starts_workers(installation: Installation) -> None:
    out = str(installation.folder / "out")
    assert SAID in finished(
        installation.run("manage.py", "run_experiment", "survey-rmse", "--dataset", "tiny", "--out", out)
    )


def test_replicate_starts_workers(installation: Installation) -> None:
    said = finished(installation.run("-c", REPLICATION))
    assert SAID in said
    assert said.rstrip().endswith("succeeded")


def test_a_worker_that_is_running_does_the_work(installation: Installation) -> None:
    worker = installation.start(*WORKER)
    lock = installation.folder / "var" / "parallax-workers.lock"
    held = [sys.executable, "-c", f"import fcntl; fcntl.flock(open({str(lock)!r}, 'a'), fcntl.LOCK_EX | fcntl.LOCK_NB)"]
    installation.until(lambda: subprocess.run(held, capture_output=True, check=False).returncode, "a worker")
    assert SAID not in finished(installation.run(*installation.evaluate("tiny", "--algorithms", "corngr")))
    worker.kill()  # the system releases the lock of a process that is killed
    worker.wait()
    assert SAID in finished(installation.run(*installation.evaluate("tiny", "--algorithms", "nncosngr")))
