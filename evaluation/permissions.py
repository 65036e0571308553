"""Permissions for runs: every researcher may read and start runs; owner and staff may cancel and resume them."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from evaluation.models import EvaluationRun


def may_resume(user: User | AnonymousUser, run: EvaluationRun) -> bool:
    """Whether `user` may resume `run`; the same users as for cancelling."""
    return may_cancel(user, run)


def may_cancel(user: User | AnonymousUser, run: EvaluationRun) -> bool:
    """Whether `user` may cancel `run`."""
    return user.is_staff or run.owner_id == user.pk
