"""The Celery application, the worker's own clock, and signs of life for a container's health check."""

from __future__ import annotations

import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import after_task_publish, beat_init, worker_init, worker_ready, worker_shutdown
from django.conf import settings
from django.core.management.base import CommandError
from django.db import connections

from parallax.database import prepare_database

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "parallax.settings")

logger = logging.getLogger(__name__)
ALIVE_SECONDS, BROKER_SECONDS = 15.0, 5  # between two touches, and for the broker to answer
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
                # Each sweep opens its own: a connection that died between two would fail all later ones.
                connections.close_all()


def _touch(file: Path) -> None:
    """Touch the file whenever the broker can be reached, until the worker stops.

    A worker that is busy with a long part answers no messages, so a thread of its own touches the file.
    """
    is_over = False
    while not is_over:
        try:
            with app.connection_for_write(connect_timeout=BROKER_SECONDS) as connection:
                connection.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)
            file.touch()
        except Exception:
            logger.warning("the broker does not answer", exc_info=True)
        is_over = _stop.wait(ALIVE_SECONDS)


@worker_init.connect
@beat_init.connect
def check_database(**kwargs: Any) -> None:
    """Start on a database that is up to date: apply what is missing, or wait for the process that does."""
    try:
        prepare_database()
    except CommandError as problem:
        sys.exit(str(problem))


@worker_ready.connect
def start_threads(**kwargs: Any) -> None:
    """Start the clock, and touch a file that a health check reads, once the worker takes messages."""
    _stop.clear()
    if settings.SWEEP_SECONDS:
        threading.Thread(target=_clock, args=(settings.SWEEP_SECONDS,), name="sweep-clock", daemon=True).start()
    if settings.ALIVE_FILE:
        threading.Thread(target=_touch, args=(settings.ALIVE_FILE,), name="liveness", daemon=True).start()


@beat_init.connect
def touch_when_sending(**kwargs: Any) -> None:
    """Let beat, which sends its sweeps every few seconds, touch the file of its health check whenever it has sent."""
    if file := settings.ALIVE_FILE:
        after_task_publish.connect(lambda **kwargs: file.touch(), weak=False)


@worker_shutdown.connect
def stop_threads(**kwargs: Any) -> None:
    """Stop the threads with the worker."""
    _stop.set()
