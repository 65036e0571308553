"""One view of the database for a reading of many queries; others may write meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """Show every query of the block the database as it was at the first of them; the block writes nothing.

    Inside a transaction it does nothing: that one has a view of its own.
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
    """Let transactions begin without SQLite's write lock, which others then keep getting, and refuse to write."""
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
