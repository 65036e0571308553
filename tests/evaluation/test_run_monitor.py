"""Commands that wait for a run say when no worker is left to do it."""

from __future__ import annotations

import io
import time

import pytest
from django.core.management.base import OutputWrapper

from evaluation.management import run_monitor
from evaluation.management.run_monitor import watch
from evaluation.services import run_workers
from evaluation.services.runs import cancel_run
from tests.factories.evaluation import make_run_at

pytestmark = [pytest.mark.integration, pytest.mark.django_db]
GONE = "No worker has responded for 10 seconds."


@pytest.mark.parametrize(("dies", "says"), [(True, True), (False, False)])
def test_a_worker_that_stops_amid_a_run_is_missed(dies: bool, says: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    run, out = make_run_at("running"), io.StringIO()
    polls = 0
    monkeypatch.setattr(run_monitor, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(run_workers, "is_worker_running", lambda: not dies or polls < 3)
    sleep = time.sleep

    def polled(seconds: float) -> None:
        nonlocal polls
        polls += 1
        sleep(0.02)
        if polls == 20:
            cancel_run(run=run)

    monkeypatch.setattr(run_monitor.time, "sleep", polled)
    watch(run, None, OutputWrapper(out))
    assert out.getvalue().count(GONE) == says
