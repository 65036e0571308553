"""End the sessions of an account."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F

from accounts.models import User
from core.models import LogEntry

KIND = "accounts.user"


@transaction.atomic
def end_sessions(*, user: User, actor: Any, reason: str = "All sessions ended.") -> User:
    """End all sessions of an account, and locks of devices that it could unlock; logged. Access tokens stay valid.

    A request of the account itself goes on with `update_session_auth_hash`.
    """
    User.objects.filter(pk=user.pk).update(n_session_ends=F("n_session_ends") + 1)
    user.refresh_from_db(fields=["n_session_ends"])
    LogEntry.objects.create(kind=KIND, object_id=user.pk, reason=reason, actor=actor)
    return user
