"""The one place that writes a status: a compare-and-set update with its log entry; and what is logged without one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from typing import Any

from django.db import models, transaction
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
    **changes: Any,
) -> None:
    """Move `row` to the status `to`, or raise NotAllowedInState and change nothing.

    `allowed` maps each status to the statuses reachable from it. The update names the status that was
    read, so of two processes that try the same move one finds no row and is refused. `changes` are other
    fields written by the same update. The row in memory is brought up to date.
    """
    before = str(row.status)  # type: ignore[attr-defined]
    kind = row._meta.label_lower
    if to not in allowed.get(before, frozenset()):
        raise NotAllowedInState(
            f"{row._meta.app_label}.not_{to}",
            f"This {row._meta.verbose_name} is {before.replace('_', ' ')} and cannot become {to.replace('_', ' ')}.",
            {"kind": kind, "id": row.pk, "status": before, "to": to},
        )
    # QuerySet.update() passes over auto_now, so the time of change is written here.
    if any(field.name == "updated_at" for field in row._meta.fields):
        changes.setdefault("updated_at", timezone.now())
    moved = type(row)._default_manager.filter(pk=row.pk, status=before).update(status=to, **changes)
    if moved != 1:
        raise NotAllowedInState(
            f"{row._meta.app_label}.moved_meanwhile",
            f"This {row._meta.verbose_name} has just been changed by somebody else; load it again.",
            {"kind": kind, "id": row.pk, "status": before, "to": to},
        )
    row.status = to  # type: ignore[attr-defined]
    for name, value in changes.items():
        setattr(row, name, value)
    LogEntry.objects.create(
        actor=actor,
        kind=kind,
        object_id=row.pk,
        from_status=before,
        to_status=to,
        reason=reason,
        facts=dict(facts or {}),
    )


def record(row: models.Model, *, reason: str, actor: Any = None, **facts: Any) -> None:
    """Note in the log an act that leaves `row` in the status that it has, with its facts."""
    status = row.status  # type: ignore[attr-defined]
    LogEntry.objects.create(
        actor=actor,
        kind=row._meta.label_lower,
        object_id=row.pk,
        from_status=status,
        to_status=status,
        reason=reason,
        facts=facts,
    )


def forget_reasons(model: type[models.Model], ids: Collection[int]) -> int:
    """Erase the words of all log entries on these rows, and count them; who moved what and when stays.

    The one change that the log knows: what was written about a person goes with everything else of theirs.
    """
    entries = LogEntry.objects.filter(kind=model._meta.label_lower, object_id__in=ids)
    return entries.exclude(reason="").update(reason="")
