"""A consistent view of the database for many queries while other processes write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction


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
