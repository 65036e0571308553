"""A consistent view of the database for many queries while others write, and writes that no page depends on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, connection, transaction

logger = logging.getLogger(__name__)


@contextmanager
def snapshot() -> Iterator[None]:
    """Let every query of the block see the database as it was at the first one; the block must not write. Inside a
    transaction, which has its own view, this does nothing.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "sqlite":
        with _deferred(), transaction.atomic():
            yield
    else:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield


@contextmanager
def _deferred() -> Iterator[None]:
    """Begin transactions without SQLite's write lock, so that others can write, and refuse to write."""
    database: Any = connection
    database.ensure_connection()  # which reads the mode from the settings
    mode = database.transaction_mode
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA query_only = ON")
    database.transaction_mode = "DEFERRED"
    try:
        yield
    finally:
        database.transaction_mode = mode
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA query_only = OFF")


@contextmanager
def optional_write(what: str) -> Iterator[None]:
    """Go on without what the block stores if the database cannot be written, as on a full disk; it is logged.

    Within a transaction the error is raised: nothing else could be stored in it.
    """
    try:
        yield
    except OperationalError as problem:
        if connection.in_atomic_block:
            raise
        logger.warning("not stored: %s: %s", what, problem)
