"""Messages to Celery workers; only services send them."""

from __future__ import annotations

import functools
import logging
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction
from django.utils.module_loading import autodiscover_modules
from kombu.exceptions import ChannelError, KombuError

logger = logging.getLogger(__name__)


@functools.cache
def load_tasks() -> None:
    """Import the tasks of every app, which brings in all that they need: not at the start of every command."""
    autodiscover_modules("tasks")


def enqueue_on_commit(name: str, *, queue: str | None = None, **ids: Any) -> None:
    """Send the task `name` once the current transaction is committed; without a transaction, immediately. The task is
    looked up by name, so services need not import it, and sent by `apply_async`, so that eager mode works in unit
    tests. A message is only a hint: the work itself is described in the database, and the sweep sends messages again.
    So a broker that is away or full is logged, and fails no page.
    """
    load_tasks()
    task = current_app.tasks[name]
    options: dict[str, Any] = {"queue": queue} if queue else {}
    # After the commit: a worker may be quicker than the transaction, and would find no row.
    transaction.on_commit(partial(_send, task, kwargs=ids, ignore_result=True, **options))


def _send(task: Any, **options: Any) -> None:
    try:
        task.apply_async(**options)
    except (KombuError, ChannelError, OSError) as problem:
        logger.warning("message not sent task=%s: %s", task.name, problem)
