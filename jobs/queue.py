"""Messages to Celery workers; only services send them."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from celery import Signature, current_app
from django.db import transaction
from kombu.exceptions import ChannelError, KombuError

logger = logging.getLogger(__name__)


def enqueue_on_commit(name: str, *, queue: str | None = None, **ids: Any) -> None:
    """Send the task `name` once the current transaction is committed; without a transaction, immediately. The task is
    named and not imported, since with it comes all that workers need. A message is only a hint: the work itself is
    described in the database, and the sweep sends messages again. So a broker that is away or full is logged, and fails
    no page.
    """
    options: dict[str, Any] = {"queue": queue} if queue else {}
    message = current_app.signature(name, kwargs=ids, ignore_result=True, **options)
    # After the commit: a worker may be quicker than the transaction, and would find no row.
    transaction.on_commit(partial(_send, message))


def _send(message: Signature) -> None:
    try:
        message.apply_async()
    except (KombuError, ChannelError, OSError) as problem:
        logger.warning("message not sent task=%s: %s", message.task, problem)
