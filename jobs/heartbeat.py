"""A thread that renews a lease while a worker does the work."""

from __future__ import annotations

import logging
import os
import platform
import secrets
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connections

from core.errors import ParallaxError

logger = logging.getLogger(__name__)


class LeaseLost(ParallaxError):
    """Another worker holds the lease, or the work is no longer needed."""


def lease_token() -> str:
    """A unique name for a lease: machine, process and random digits; at most 64 characters."""
    return f"{platform.node()[:24]}:{os.getpid()}:{secrets.token_hex(8)}"


class Heartbeat:
    """Renews a lease while its `with` block runs; `renew` returns whether it could, `name` is for the log.

    Long work calls `check()` between blocks, which raises LeaseLost once the lease could not be extended.
    """

    def __init__(self, renew: Callable[[], bool], name: str) -> None:
        self._renew = renew
        self._name = name
        self._lost = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat-{name}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _beat(self) -> None:
        try:
            while not self._stop.wait(min(settings.LEASE_SECONDS / 3, 5.0)):
                try:
                    if not self._renew():
                        self._lost.set()
                        return
                except DatabaseError:
                    # The database may return before the lease ends; if not, another worker takes the work.
                    logger.warning("heartbeat missed %s", self._name, exc_info=True)
        finally:
            connections.close_all()

    def check(self) -> None:
        """Raise LeaseLost once the lease could not be renewed."""
        if self._lost.is_set():
            raise LeaseLost("lease.lost", "This work was given to another worker, or is not wanted any more.")
