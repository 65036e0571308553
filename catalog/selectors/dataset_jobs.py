"""The jobs of the catalogue that an account may see."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet

from catalog.enums import JOB_OPEN, JobStatus
from catalog.models import DatasetJob

MOST_LISTED = 10


def jobs_of(user: Any) -> QuerySet[DatasetJob]:
    """The account's own jobs, newest first; for an administrator those of all."""
    jobs = DatasetJob.objects.select_related("version__dataset", "base__dataset", "requested_by")
    return jobs if user.is_superuser else jobs.filter(requested_by=user)


def unfinished_jobs(user: Any) -> QuerySet[DatasetJob]:
    """The account's own jobs that wait, run or failed, newest first, at most ten."""
    states = Q(status__in=(JobStatus.WAITING, JobStatus.FAILED, *JOB_OPEN))
    return jobs_of(user).filter(states, requested_by=user)[:MOST_LISTED]
