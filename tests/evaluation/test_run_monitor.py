"""Commands that wait for a run say when no worker is left to do it, and when all are busy."""

from __future__ import annotations

import io
import time

import pytest
from django.conf import settings
from django.core.management.base import OutputWrapper
from django.utils import timezone

from core.models import Worker
from evaluation.management import run_monitor
from evaluation.management.run_monitor import watch
from evaluation.services.runs import cancel_run
from tests.factories.evaluation import make_run, make_run_at

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
GONE = "No worker has responded for 10 seconds."


def worker(queue: str, task: str = "") -> Worker:
    return Worker.objects.create(host="elsewhere", pid=7, queues=[queue], task=task, seen_at=timezone.now())


def watched(run: object, monkeypatch: pytest.MonkeyPatch, at_poll: object = None) -> str:
    """What is printed until the run is cancelled, at the twentieth poll."""
    out, polls, sleep = io.StringIO(), 0, time.sleep
    monkeypatch.setattr(run_monitor, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(run_monitor, "LINE_SECONDS", 0.0)

    def polled(seconds: float) -> None:
        nonlocal polls
        polls += 1
        sleep(0.02)
        if callable(at_poll):
            at_poll(polls)
        if polls == 20:
            cancel_run(run=run)  # type: ignore[arg-type]

    monkeypatch.setattr(run_monitor.time, "sleep", polled)
    watch(run, None, OutputWrapper(out))  # type: ignore[arg-type]
    return out.getvalue()


def test_a_worker_that_stops_amid_a_run_is_missed_and_one_that_stays_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    there = worker(settings.LONG_QUEUE)
    assert GONE not in watched(make_run_at("running"), monkeypatch)
    said = watched(
        make_run_at("running"), monkeypatch, lambda n: n == 3 and Worker.objects.filter(pk=there.pk).delete()
    )
    assert said.count(GONE) == 1


def test_a_run_behind_a_busy_worker_of_any_machine_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    worker(settings.CELERY_TASK_DEFAULT_QUEUE)  # which takes no runs
    worker(settings.LONG_QUEUE, task="evaluation.work")
    said = watched(make_run(), monkeypatch)
    assert "Waiting behind 1 job" in said
    assert GONE not in said
