"""Who may do what with runs: every researcher reads them and starts one; its owner and staff cancel it."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from evaluation.models import EvaluationRun


def may_resume(user: User | AnonymousUser, run: EvaluationRun) -> bool:
    """Whether `user` may take up `run` again: who may cancel it may."""
    return may_cancel(user, run)


def may_cancel(user: User | AnonymousUser, run: EvaluationRun) -> bool:
    """Whether `user` may cancel `run`."""
    return user.is_staff or run.owner_id == user.pk
