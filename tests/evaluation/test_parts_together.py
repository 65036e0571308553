"""Parts, heartbeats and workers with real threads and processes."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from celery import current_app
from django.db import OperationalError, connections
from django.utils import timezone

from core.errors import ParallaxError
from evaluation.enums import PartKind
from evaluation.models import EvaluationRun, RunPart
from evaluation.services import run_workers
from evaluation.services.parts import lease_part
from evaluation.services.run_workers import RunWorkers, new_queue
from evaluation.services.runs import PARTS, cancel_run, hint
from evaluation.services.worker_loop import execute
from jobs.broker_queues import delete_queue
from jobs.leases import LeaseLost, Leases
from tests.factories.evaluation import make_run

pytestmark = [pytest.mark.integration, pytest.mark.django_db(transaction=True), pytest.mark.slow]


def until(condition: Any) -> bool:
    ends = time.monotonic() + 10
    while time.monotonic() < ends:
        if condition():
            return True
        time.sleep(0.02)
    return False


def prepared(algorithms: str) -> EvaluationRun:
    run = make_run(algorithms=algorithms)
    part = lease_part(run=run)
    assert part is not None
    execute(part=part)
    return run


def test_many_workers_at_once_take_each_part_once() -> None:
    run = prepared(",".join(f"puresvd:factors={factors}" for factors in range(1, 25)))
    at_once = threading.Barrier(4)

    def work(_: int) -> list[int]:
        at_once.wait()
        taken = []
        while (part := lease_part(run=run)) is not None:
            taken.append(part.pk)
        connections.close_all()
        return taken

    with ThreadPoolExecutor(4) as workers:
        taken = [pk for one in workers.map(work, range(4)) for pk in one]
    assert sorted(taken) == sorted(run.parts.filter(kind=PartKind.FIT).values_list("pk", flat=True))
    assert set(run.parts.filter(kind=PartKind.FIT).values_list("attempts", flat=True)) == {1}


def test_heartbeat_keeps_the_lease_until_the_run_is_over(settings: Any) -> None:
    settings.LEASE_SECONDS = 1
    part = lease_part(run=make_run())
    assert part is not None
    with PARTS.heartbeat(part) as heartbeat:
        assert until(lambda: RunPart.objects.get(pk=part.pk).leased_until > part.leased_until)
        time.sleep(1.1)
        assert RunPart.objects.get(pk=part.pk).leased_until > timezone.now()
        heartbeat.check()
        cancel_run(run=part.run)

        def is_lost() -> bool:
            try:
                heartbeat.check()
            except LeaseLost:
                return True
            return False

        assert until(is_lost)


def test_heartbeat_outlives_a_database_that_is_away_for_a_moment(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LEASE_SECONDS = 1
    part = lease_part(run=make_run())
    assert part is not None
    beats: list[str] = []

    def flaky(leases: Leases[Any], row: Any) -> bool:
        beats.append("beat")
        if len(beats) == 1:
            raise OperationalError("away")
        return renew(leases, row)

    renew = Leases.renew
    monkeypatch.setattr(Leases, "renew", flaky)
    with PARTS.heartbeat(part) as heartbeat:
        assert until(lambda: len(beats) > 2)
        heartbeat.check()


def pool_of(workers: RunWorkers) -> psutil.Popen:
    assert workers._pool is not None
    return workers._pool


class Sleepers(RunWorkers):
    """A pool of two workers that do nothing, so that what is tested is how they are kept."""

    script = "sleep 60 & sleep 60 & wait"

    def _start(self) -> psutil.Popen:
        return psutil.Popen(["sh", "-c", self.script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def test_workers_that_died_are_counted_and_all_stop_at_the_end() -> None:
    with Sleepers(size=2, queue=new_queue(), threads=1) as sleepers:
        pool = pool_of(sleepers)
        assert until(lambda: len(pool.children()) == 2)
        assert sleepers.replaced() == 0
        first, second = pool.children()
        first.kill()
        assert until(lambda: not first.is_running() or first.status() == psutil.STATUS_ZOMBIE)
        assert until(lambda: first not in pool.children())
        assert sleepers.replaced() == 1
    assert not second.is_running()
    assert not pool.is_running()


def test_pool_that_died_is_started_again() -> None:
    with Sleepers(size=2, queue=new_queue(), threads=1) as sleepers:
        pool = pool_of(sleepers)
        assert until(lambda: len(pool.children()) == 2)
        orphans = pool.children()
        pool.kill()
        pool.wait()
        sleepers.replaced()
        assert pool_of(sleepers) != pool
        for orphan in orphans:
            orphan.kill()


def test_pool_that_keeps_dying_gives_up_with_the_reason() -> None:
    class Mayflies(Sleepers):
        script = "true"

    with Mayflies(size=1, queue=new_queue(), threads=1) as mayflies, pytest.raises(ParallaxError, match="keep exiting"):
        until(lambda: pool_of(mayflies).poll() is not None and mayflies.replaced() > 0)


@pytest.mark.parametrize(
    ("redis", "stop", "fails", "code"),
    [
        ("", "exit 7", False, -signal.SIGKILL),
        ("redis://", "exit 7", False, 7),
        ("", "exit 7", True, 7),
        ("", "", True, -signal.SIGKILL),
    ],
)
def test_workers_stop_in_an_orderly_way_only_while_something_is_left_to_finish(
    redis: str, stop: str, fails: bool, code: int, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(run_workers, "STOP_SECONDS", 2.0)
    settings.REDIS_URL = redis

    class Stoppable(Sleepers):
        script = f"trap '{stop}' TERM; touch {tmp_path}/trapped; while :; do sleep .1; done"

    with suppress(ZeroDivisionError), Stoppable(size=1, queue=new_queue(), threads=1) as workers:
        pool = pool_of(workers)
        assert until((tmp_path / "trapped").exists)
        if fails:
            raise ZeroDivisionError
    assert pool.returncode == code


def test_the_queue_of_a_run_exists_before_its_first_worker(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    control, queue = settings.VAR_DIR / "broker" / "control", new_queue()
    existed: list[bool] = []
    monkeypatch.setattr(RunWorkers, "replaced", lambda self: existed.append((control / f"{queue}.exchange").is_file()))
    with RunWorkers(size=1, queue=queue, threads=1):
        pass
    assert existed == [True]
    assert not (control / f"{queue}.exchange").exists()


def test_forgotten_queue_leaves_no_message_and_no_file(settings: Any) -> None:
    queue = new_queue()
    run = make_run(queue=queue)
    hint(run=run, n=3)
    broker = settings.VAR_DIR / "broker"
    assert len([file for file in broker.rglob("*.msg") if queue in file.name]) == 4
    delete_queue(queue)
    assert [file for file in broker.rglob("*") if queue in file.name] == []
    assert queue not in current_app.amqp.queues
