"""The Celery application, and the worker's own clock."""

from __future__ import annotations

import logging
import os
import sys
import threading
from typing import Any

from celery import Celery
from celery.signals import beat_init, worker_init, worker_ready, worker_shutdown
from django.conf import settings
from django.core.management.base import CommandError
from django.db import connections

from parallax.database import prepare_database
from parallax.liveness import touch_when_sending, touch_while_broker_answers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")

logger = logging.getLogger(__name__)
app = Celery("parallax")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

_stop = threading.Event()


def _clock(seconds: float) -> None:
    """Run the sweeps at a steady pace, in a thread of the worker, until it stops.

    They run here and not as messages: a worker busy with a long part still releases what others left. A
    sweep that runs twice at once finds nothing left to do. In the scaled shape beat sends them as messages.
    """
    while not _stop.wait(seconds):
        for name in settings.CELERY_BEAT_SCHEDULE:
            try:
                app.tasks[name].run()
            except Exception:
                # The thread has to outlive any fault (database away, disk full): its next sweep recovers.
                logger.exception("sweep failed name=%s", name)
            finally:
                connections.close_all()


@worker_init.connect
@beat_init.connect
def check_database(**kwargs: Any) -> None:
    """Start on a database that is up to date: apply what is missing, or wait for the process that does."""
    try:
        prepare_database()
    except CommandError as problem:
        sys.exit(str(problem))


@worker_ready.connect
def start_clock(**kwargs: Any) -> None:
    """Start the clock once the worker takes messages."""
    if settings.SWEEP_SECONDS:
        _stop.clear()
        threading.Thread(target=_clock, args=(settings.SWEEP_SECONDS,), name="sweep-clock", daemon=True).start()


@worker_ready.connect
def start_liveness_file(**kwargs: Any) -> None:
    """Touch a file that a health check reads while the worker reaches the broker."""
    if settings.ALIVE_FILE:
        _stop.clear()
        touch_while_broker_answers(app, settings.ALIVE_FILE, _stop)


@beat_init.connect
def start_liveness_file_of_beat(**kwargs: Any) -> None:
    """Touch a file that a health check reads whenever beat sends."""
    if settings.ALIVE_FILE:
        touch_when_sending(settings.ALIVE_FILE)


@worker_shutdown.connect
def stop_clock(**kwargs: Any) -> None:
    """Stop the clock with the worker."""
    _stop.set()
