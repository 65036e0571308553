"""A file that a worker or beat touches while it works, so that a container's health check sees one that is stuck."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import after_task_publish

logger = logging.getLogger(__name__)
EVERY_SECONDS = 15.0
BROKER_SECONDS = 5


def touch_while_broker_answers(app: Celery, file: Path, stop: threading.Event) -> threading.Thread:
    """Touch the file every EVERY_SECONDS, in a thread of the worker, whenever the broker can be reached.

    A worker that is busy with a long part answers no messages, so a thread of its own touches the file.
    """

    def run() -> None:
        while True:
            try:
                with app.connection_for_write(connect_timeout=BROKER_SECONDS) as connection:
                    connection.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)
                file.touch()
            except Exception:
                logger.warning("the broker does not answer", exc_info=True)
            if stop.wait(EVERY_SECONDS):
                return

    thread = threading.Thread(target=run, name="liveness", daemon=True)
    thread.start()
    return thread


def touch_when_sending(file: Path) -> None:
    """Touch the file whenever this process has sent a message; beat sends its sweeps every few seconds."""

    def touch(**kwargs: Any) -> None:
        file.touch()

    after_task_publish.connect(touch, weak=False)
