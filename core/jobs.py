"""The only door to Celery."""

from __future__ import annotations

from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction


def enqueue_on_commit(name: str, *, queue: str | None = None, **ids: Any) -> None:
    """Send the task `name` once the transaction at hand is committed; outside one, at once.

    The task is looked up by name, so services need not import it, and sent by `apply_async`, so eager mode
    holds in unit tests. A message is a hint: what is to be done stands in the database.
    """
    task = current_app.tasks[name]
    options: dict[str, Any] = {"queue": queue} if queue else {}
    transaction.on_commit(partial(task.apply_async, kwargs=ids, ignore_result=True, **options))
