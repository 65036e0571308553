"""Workers on all machines are seen, with what they are working on, and jobs say what they wait for."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from core.models import Worker
from jobs.workers import ALIVE_SECONDS, FORGET_AFTER, WorkerBeat, running_workers
from parallax.templatetags.waiting import why_waiting
from tests.factories.evaluation import make_run
from tests.factories.studies import make_study

pytestmark = pytest.mark.integration
SHORT, LONG = settings.CELERY_TASK_DEFAULT_QUEUE, settings.LONG_QUEUE


def worker(*queues: str, task: str = "", seconds_ago: float = 0) -> Worker:
    seen_at = timezone.now() - timedelta(seconds=seconds_ago)
    return Worker.objects.create(host="elsewhere", pid=7, queues=queues, task=task, seen_at=seen_at)


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.django_db(transaction=True)
def test_a_worker_keeps_a_row_that_ends_with_it_and_forgets_old_ones() -> None:
    worker(SHORT, seconds_ago=FORGET_AFTER.total_seconds() + 1)
    beat = WorkerBeat([SHORT])
    wait_until(lambda: [one.task for one in Worker.objects.all()] == [""])
    beat.task = "jobs.do"
    wait_until(lambda: [one.task for one in running_workers(SHORT)] == ["jobs.do"])
    assert running_workers(LONG) == []
    beat.stop()
    assert not Worker.objects.exists()


@pytest.mark.django_db
def test_jobs_say_what_they_wait_for() -> None:
    study = make_study()
    first, second = (study.jobs.create(kind="export") for _ in range(2))
    run = make_run()
    worker(SHORT, LONG, task="evaluation.work", seconds_ago=ALIVE_SECONDS + 1)
    assert why_waiting(first) == "Waiting for a worker; none is running"
    busy = worker(SHORT, LONG, task="evaluation.work")
    assert why_waiting(run) == why_waiting(first) == "Waiting behind 1 job"
    assert why_waiting(second) == "Waiting behind 2 jobs"
    worker(SHORT)
    assert why_waiting(second) == "Waiting for a worker"
    assert why_waiting(run) == "Waiting behind 1 job"
    busy.delete()
    assert why_waiting(run) == "Waiting for a worker; none is running"
    run.queue = "parallax-run-of-its-own"
    assert why_waiting(run) == "Waiting for a worker"
