"""Work under a lease: taken by one, kept by a heartbeat, put back when its worker is gone, finished once."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from core.errors import NotAllowedInState
from core.heartbeat import Beating, lease_token
from core.models import Leased
from core.transitions import move

logger = logging.getLogger(__name__)

Row = TypeVar("Row", bound=Leased)

QUEUED, RUNNING, FAILED = "queued", "running", "failed"
MAX_ATTEMPTS = 3  # leases of one row; then what kills its workers is the work itself
HINT_SECONDS = 10.0  # between two messages of the sweep for one row
GONE = "The worker was gone."
GONE_FOR_GOOD = (
    f"{MAX_ATTEMPTS} workers in turn were at this and were gone before it was done. The machine may be out of memory, "
    "or something ends its processes; look at the workers' log, then ask again."
)
UNFORESEEN = "Something unforeseen happened; the log of the worker says what."
NO_LEASE: Mapping[str, Any] = MappingProxyType({"lease": "", "leased_until": None})


@dataclass(frozen=True)
class Leases(Generic[Row]):
    """The leases of one model's rows, whose states are queued, running, failed, and others of its own.

    Parameters
    ----------
    model : type
        The rows.
    moves : mapping of str to set of str
        The states that each state may become.
    cleared : mapping
        Fields that are emptied whenever a row stops running.
    """

    model: type[Row]
    moves: Mapping[str, Set[str]]
    cleared: Mapping[str, Any] = field(default_factory=dict)

    def take(self, row: Row, *, actor: Any = None, **changes: Any) -> bool:
        """Take a row for this process; False where somebody has it or it is over.

        A row whose workers were gone too often fails, in words.
        """
        if self._is_dead(row):
            self._release_dead(row.pk)
            row.refresh_from_db(fields=["status", "attempts"])
        attempts = row.attempts + 1
        lease = {"lease": lease_token(), "leased_until": self._end(), "attempts": attempts}
        try:
            move(row, to=RUNNING, allowed=self.moves, actor=actor, **lease, **changes)
        except NotAllowedInState:
            return False
        if attempts > MAX_ATTEMPTS:
            self.finish(row, to=FAILED, error=GONE_FOR_GOOD)
            return False
        return True

    def renew(self, row: Row) -> bool:
        """Put the end of the lease off; False where it is not this worker's any more."""
        return bool(self.held(row).update(leased_until=self._end(), updated_at=timezone.now()))

    def held(self, row: Row) -> Any:
        """The row as a query, which finds it as long as this worker holds it."""
        return self.model._default_manager.filter(pk=row.pk, status=RUNNING, lease=row.lease)

    def beating(self, row: Row) -> Beating:
        """Renews the lease while the row is worked on."""
        return Beating(lambda: self.renew(row), f"{self.model._meta.model_name}={row.pk}")

    @transaction.atomic
    def finish(self, row: Row, *, to: str, **changes: Any) -> bool:
        """Move a row to where it ends, once; False where this worker does not hold it any more."""
        found = self.held(row).select_for_update().first()
        if found is None:
            return False
        move(found, to=to, allowed=self.moves, **self.cleared, **NO_LEASE, **changes)
        return True

    def give_back(self, row: Row) -> bool:
        """Give a row back before its lease ends; it counts as not tried."""
        return self.finish(row, to=QUEUED, attempts=row.attempts - 1, hinted_at=None)

    @transaction.atomic
    def take_back(self, pk: Any, *, reason: str) -> bool:
        """Put a running row back in the queue, whoever holds it; it counts as not tried, and its worker as too late."""
        row = self.model._default_manager.select_for_update().filter(pk=pk, status=RUNNING).first()
        if row is None:
            return False
        changes = {"attempts": max(row.attempts - 1, 0), "hinted_at": None, **self.cleared, **NO_LEASE}
        move(row, to=QUEUED, allowed=self.moves, reason=reason, **changes)
        return True

    def release_dead(self) -> int:
        """Put every row back in the queue whose worker has not been heard of; returns how many."""
        dead = Q(leased_until__isnull=True) | Q(leased_until__lt=timezone.now())
        found = self.model._default_manager.filter(dead, status=RUNNING).order_by("pk").values_list("pk", flat=True)
        return sum(self._release_dead(pk) for pk in list(found))

    def due(self) -> Iterator[int]:
        """Yield the keys of rows whose message is due, each marked as told of; of two who look, one is given it."""
        now = timezone.now()
        is_due = Q(hinted_at__isnull=True) | Q(hinted_at__lt=now - timedelta(seconds=HINT_SECONDS))
        waiting = self.model._default_manager.filter(is_due, status=QUEUED)
        for pk in list(waiting.order_by("pk").values_list("pk", flat=True)):
            if waiting.filter(pk=pk).update(hinted_at=now):
                yield pk

    @transaction.atomic
    def _release_dead(self, pk: Any) -> bool:
        row = self.model._default_manager.select_for_update().filter(pk=pk).first()
        if row is None or not self._is_dead(row):
            return False
        move(row, to=QUEUED, allowed=self.moves, reason=GONE, hinted_at=None, **self.cleared, **NO_LEASE)
        logger.warning("released dead lease %s=%s attempts=%s", self.model._meta.model_name, pk, row.attempts)
        return True

    @staticmethod
    def _is_dead(row: Leased) -> bool:
        return row.status == RUNNING and (row.leased_until is None or row.leased_until < timezone.now())

    @staticmethod
    def _end() -> Any:
        return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
