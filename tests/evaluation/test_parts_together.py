"""Parts, heartbeats and crews with real threads and processes."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

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


def process_ids(workers: RunWorkers) -> tuple[int, ...]:
    return tuple(child.pid for child in workers._children if child.poll() is None)


class Sleepers(RunWorkers):
    """A crew whose children do nothing, so that what is tested is how they are kept."""

    def _start(self, number: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["sleep", "60"])


def test_crew_replaces_a_child_that_died_and_stops_all_at_the_end() -> None:
    with Sleepers(size=2, queue=new_queue(), threads=1) as sleepers:
        first, second = process_ids(sleepers)
        assert sleepers.restart_missing() == 0
        os.kill(first, signal.SIGKILL)
        assert until(lambda: first not in process_ids(sleepers))
        assert sleepers.restart_missing() == 1
        assert second in process_ids(sleepers)
        assert len(process_ids(sleepers)) == 2
    assert process_ids(sleepers) == ()


def test_crew_whose_children_keep_dying_gives_up_with_the_reason() -> None:
    class Mayflies(RunWorkers):
        def _start(self, number: int) -> subprocess.Popen[bytes]:
            return subprocess.Popen(["true"])

    with Mayflies(size=1, queue=new_queue(), threads=1) as mayflies, pytest.raises(ParallaxError, match="keep exiting"):
        until(lambda: not process_ids(mayflies) and mayflies.restart_missing() == 0)


def test_crew_makes_a_child_stop_that_does_not_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_workers, "STOP_SECONDS", 0.2)

    class Deaf(RunWorkers):
        def _start(self, number: int) -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                ["sh", "-c", "trap '' TERM; echo; while :; do sleep 1; done"], stdout=subprocess.PIPE
            )

    with Deaf(size=1, queue=new_queue(), threads=1) as deaf:
        child = deaf._children[0]
        assert child.stdout is not None
        child.stdout.readline()  # from here on it is deaf
    assert child.returncode == -signal.SIGKILL
    child.stdout.close()


def test_the_queue_of_a_run_exists_before_its_first_worker(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    control, queue = settings.VAR_DIR / "broker" / "control", new_queue()
    existed: list[bool] = []
    monkeypatch.setattr(
        RunWorkers, "restart_missing", lambda self: existed.append((control / f"{queue}.exchange").is_file())
    )
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
