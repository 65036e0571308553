"""Permissions for runs: researchers who see a run read it; of a project its owners and members change it, of none its
owner and staff.
"""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from accounts.selectors import writes_in
from evaluation.models import EvaluationRun


def may_change(user: User | AnonymousUser, run: EvaluationRun) -> bool:
    """Whether `user` may cancel and resume `run`, and add scores of other systems to its tables."""
    project_id = run.project_id or run.version.dataset.project_id
    if project_id is not None:
        return writes_in(user, project_id)
    return user.is_staff or run.owner_id == user.pk
