"""The only code that writes a status: a compare-and-set update with its log entry."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from typing import Any

from django.db import models, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from core.errors import NotAllowedInState
from core.models import LogEntry


@transaction.atomic
def move(
    row: models.Model,
    *,
    to: str,
    allowed: Mapping[str, Set[str]],
    actor: Any = None,
    reason: str = "",
    facts: Mapping[str, Any] | None = None,
    where: Q | None = None,
    is_logged: bool = True,
    **changes: Any,
) -> None:
    """Move `row` to the status `to`, or raise NotAllowedInState and change nothing.

    `allowed` maps each status to the statuses reachable from it. The update requires the status that was read (and
    `where`, if passed), so of two processes that try the same move, one is refused. `changes` are other fields written
    by the same update. The row in memory is updated too.
    """
    before = str(row.status)  # type: ignore[attr-defined]
    kind = row._meta.label_lower
    if to not in allowed.get(before, frozenset()):
        raise NotAllowedInState(
            f"{row._meta.app_label}.not_{to}",
            f"This {row._meta.verbose_name} is {before.replace('_', ' ')} and cannot become {to.replace('_', ' ')}.",
            {"kind": kind, "id": row.pk, "status": before, "to": to},
        )
    changes = _with_time(type(row), changes)
    rows = type(row)._default_manager.filter(where or Q(), pk=row.pk, status=before)
    if not rows.update(status=to, **changes):
        raise NotAllowedInState(
            f"{row._meta.app_label}.moved_meanwhile",
            f"This {row._meta.verbose_name} has just been changed by someone else. Reload it.",
            {"kind": kind, "id": row.pk, "status": before, "to": to},
        )
    row.status = to  # type: ignore[attr-defined]
    for name, value in changes.items():
        setattr(row, name, value)
    if is_logged:
        log_change(row, before, to, actor=actor, reason=reason, facts=facts or {})


def move_all(rows: QuerySet[Any], *, to: str, allowed: Mapping[str, Set[str]], **changes: Any) -> int:
    """Move those of `rows` that may become `to`, in one update without log entries; return how many moved. For rows
    that are too many to log, such as the parts of a run.
    """
    movable = [status for status, targets in allowed.items() if to in targets]
    return rows.filter(status__in=movable).update(status=to, **_with_time(rows.model, changes))


def _with_time(model: type[models.Model], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes with the time of the change, which `QuerySet.update` does not set."""
    has_time = any(field.name == "updated_at" for field in model._meta.fields)
    return {"updated_at": timezone.now(), **changes} if has_time else dict(changes)


def record(row: models.Model, *, reason: str, actor: Any = None, **facts: Any) -> None:
    """Log an action that does not change the status of `row`, which may have none, with its facts."""
    status = getattr(row, "status", "")
    log_change(row, status, status, actor=actor, reason=reason, facts=facts)


def log_change(
    row: models.Model, before: str, after: str, *, actor: Any, reason: str, facts: Mapping[str, Any]
) -> None:
    """Log that a row, which may have no status of its own, went from one state to another."""
    states = {"from_status": before, "to_status": after}
    kind = row._meta.label_lower
    LogEntry.objects.create(actor=actor, kind=kind, object_id=row.pk, reason=reason, facts=dict(facts), **states)


def forget_reasons(model: type[models.Model], ids: Collection[int]) -> int:
    """Erase the reasons in all log entries on these rows and count them; who moved what, and when, stays.

    This is the only change to the log: what was written about a person is erased with the rest of their data.
    """
    entries = LogEntry.objects.filter(kind=model._meta.label_lower, object_id__in=ids)
    return entries.exclude(reason="").update(reason="")
