"""A lease that a worker holds, renewed from a thread of its own while the work is done."""

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
    """The work was given to another worker, or is not wanted any more."""


def lease_token() -> str:
    """A name for one lease: the machine, the process, and what tells its leases apart; at most 64 characters."""
    return f"{platform.node()[:24]}:{os.getpid()}:{secrets.token_hex(8)}"


class Beating:
    """Renews a lease while its `with` block runs.

    `renew` puts the end of the lease off and says whether it could; `name` is what the log calls the work.
    `check()` raises LeaseLost once it could not; long work calls it between blocks.
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
                    # The database may be back before the lease ends; if not, another worker takes the work.
                    logger.warning("heartbeat missed %s", self._name, exc_info=True)
        finally:
            connections.close_all()

    def check(self) -> None:
        """Raise LeaseLost where this worker is no longer to go on."""
        if self._lost.is_set():
            raise LeaseLost("lease.lost", "This work was given to another worker, or is not wanted any more.")
