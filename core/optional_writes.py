"""Writes that no page depends on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection

logger = logging.getLogger(__name__)


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
