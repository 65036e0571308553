"""Work under a lease: one process takes it, a heartbeat renews the lease, and only the holder finishes the work."""

from __future__ import annotations

import logging
import os
import platform
import secrets
import threading
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType, TracebackType
from typing import Any, Generic, Self, TypeVar

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError, connections, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from core.errors import NotAllowedInState, ParallaxError, StorageUnavailable
from core.transitions import move
from jobs.models import LeasedModel


class LeaseLost(ParallaxError):
    """Another worker holds the lease, or the work is no longer needed."""


def lease_token() -> str:
    """A unique name for a lease: machine, process and random digits; at most 64 characters."""
    # Host and process are for people who read a row; the random part keeps a process id that is used again from owning
    # it.
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
        # A thread of its own, because fits stay in compiled code for minutes; a daemon, so that it cannot keep a dying
        # worker.
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
            # Two renewals may fail before a lease ends; and at least every five seconds, so that a cancelled job stops
            # soon.
            while not self._stop.wait(min(settings.LEASE_SECONDS / 3, 5.0)):
                try:
                    if not self._renew():
                        self._lost.set()
                        return
                except DatabaseError:
                    # The database may return before the lease ends; if not, another worker takes the work.
                    logger.warning("heartbeat missed %s", self._name, exc_info=True)
        finally:
            # Connections belong to the thread that opened them, and Django closes those of requests only.
            connections.close_all()

    def check(self) -> None:
        """Raise LeaseLost once the lease could not be renewed."""
        if self._lost.is_set():
            raise LeaseLost("lease.lost", "This work was given to another worker, or is not wanted any more.")


logger = logging.getLogger(__name__)

Row = TypeVar("Row", bound=LeasedModel)

QUEUED, RUNNING = "queued", "running"
MAX_ATTEMPTS = 3  # leases of one job; then what kills its workers is the job itself
GONE = "The worker was gone."
TRANSIENT = (OperationalError, InterfaceError, StorageUnavailable)  # retried with backoff
NO_LEASE: Mapping[str, Any] = MappingProxyType({"lease": "", "leased_until": None})


@dataclass(frozen=True)
class Leases(Generic[Row]):
    """The leases of one model's rows, whose states are queued, `leased`, failed, and others of their own."""

    model: type[Row]
    moves: Mapping[str, Set[str]]  # the states that each state may become
    leased: str = RUNNING  # the state of a row that a process holds
    cleared: Mapping[str, Any] = field(default_factory=dict)  # emptied whenever a process no longer holds a row
    condition: Q = field(default_factory=Q)  # what else must hold for a row to be leased, renewed or finished
    is_logged: bool = True  # whether each move is; not where the rows are many and something larger is logged

    def lease(self, row: Row, *, actor: Any = None, **changes: Any) -> bool:
        """Lease a row to this process; False where another process holds it or it is over."""
        if self._is_expired(row):
            # Through the queue and not straight to this process, so that the log tells the death of a worker from the
            # new attempt.
            self._release_expired(row.pk)
            row.refresh_from_db(fields=["status", "attempts"])
        lease = {"lease": lease_token(), "leased_until": _lease_end(), "attempts": row.attempts + 1}
        try:
            self._move(row, to=self.leased, actor=actor, where=self.condition, **lease, **changes)
        except NotAllowedInState:
            return False
        return True

    def leasable(self, now: datetime) -> Q:
        """A condition on rows that are queued, or whose worker is gone."""
        return Q(status=QUEUED) | self._expired(now)

    def own(self, row: Row) -> QuerySet[Row]:
        """The row as a query, which matches as long as this process holds the lease."""
        # The lease's random name is part of every condition: a worker that was taken for dead and comes back changes
        # nothing.
        return self.model._default_manager.filter(self.condition, pk=row.pk, status=self.leased, lease=row.lease)

    def renew(self, row: Row) -> bool:
        """Extend the lease; False where this process no longer holds it."""
        # One statement with the condition in it: between a read and a write another process could lease the row.
        return bool(self.own(row).update(leased_until=_lease_end(), updated_at=timezone.now()))

    def heartbeat(self, row: Row) -> Heartbeat:
        """A context that renews the lease while the row is worked on."""
        return Heartbeat(lambda: self.renew(row), f"{self.model._meta.model_name}={row.pk}")

    def finish(self, row: Row, *, to: str, **changes: Any) -> bool:
        """Move a row to its last state, once; False where this process no longer holds the lease."""
        return self._end(self.own(row), to=to, **changes)

    def finish_late(self, row: Row, *, to: str, **changes: Any) -> bool:
        """Finish a row, even if the lease ran out, as long as no other process has leased the row since."""
        waiting = self.model._default_manager.filter(
            self.condition, pk=row.pk, status=QUEUED, attempts=row.attempts
        )  # fmt: skip
        return self._end(self.own(row) | waiting, to=to, **changes)

    def release(self, row: Row) -> bool:
        """Return a row to the queue before its lease ends; the attempt does not count."""
        # Attempts count what may have killed a worker; one that stops in order has done nothing wrong.
        return self._end(self.own(row), to=QUEUED, attempts=row.attempts - 1)

    def revoke(self, pk: Any, *, reason: str) -> bool:
        """Return a leased row to the queue, regardless of the holder; the attempt does not count."""
        with transaction.atomic():
            row = self.model._default_manager.select_for_update().filter(pk=pk, status=self.leased).first()
            if row is None:
                return False
            # The column holds no number below 0.
            attempts = max(row.attempts - 1, 0)
            self._move(row, to=QUEUED, reason=reason, attempts=attempts, **self.cleared, **NO_LEASE)
        return True

    def release_dead(self, rows: QuerySet[Row] | None = None) -> int:
        """Return every row (of `rows`) whose worker is gone to the queue; returns how many."""
        among = self.model._default_manager.all() if rows is None else rows
        dead = among.filter(self._expired(timezone.now())).order_by("pk").values_list("pk", flat=True)
        # One transaction each: a single one would lock every row until the last is done, and heartbeats would wait for
        # it.
        return sum(self._release_expired(pk) for pk in list(dead))

    @transaction.atomic
    def _release_expired(self, pk: Any) -> bool:
        # Read again under the lock, because a heartbeat that was late may have renewed the lease since the list was
        # read.
        row = self.model._default_manager.select_for_update().filter(pk=pk).first()
        if row is None or not self._is_expired(row):
            return False
        self._move(row, to=QUEUED, reason=GONE, **self.cleared, **NO_LEASE)
        logger.warning("released dead lease %s=%s attempts=%s", self.model._meta.model_name, pk, row.attempts)
        return True

    @transaction.atomic
    def _end(self, rows: QuerySet[Row], *, to: str, **changes: Any) -> bool:
        row = rows.select_for_update().first()
        if row is None:
            return False
        self._move(row, to=to, **{**self.cleared, **NO_LEASE, **changes})
        return True

    def _move(self, row: Row, **changes: Any) -> None:
        move(row, allowed=self.moves, is_logged=self.is_logged, **changes)

    def _expired(self, now: datetime) -> Q:
        return Q(status=self.leased) & (Q(leased_until__isnull=True) | Q(leased_until__lt=now))

    def _is_expired(self, row: Row) -> bool:
        return row.status == self.leased and (row.leased_until is None or row.leased_until < timezone.now())


def _lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
