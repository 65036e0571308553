"""Who may do what with runs: every researcher reads them and starts one; its owner and staff cancel it."""

from __future__ import annotations

from accounts.models import User
from evaluation.models import EvaluationRun


def may_cancel(user: User, run: EvaluationRun) -> bool:
    """Whether `user` may cancel `run`."""
    return user.is_staff or run.owner_id == user.pk
