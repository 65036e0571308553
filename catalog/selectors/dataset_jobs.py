"""The jobs of the catalogue that an account may see."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet

from accounts.models import in_projects_of
from catalog.enums import JOB_OPEN, JobStatus
from catalog.models import DatasetJob

MOST_LISTED = 10


def jobs_of(user: Any) -> QuerySet[DatasetJob]:
    """The account's own jobs on what it may see, newest first; for an administrator also those of others.

    Of others, uploads that wait for their columns and jobs of projects are left out: they may hold private data.
    """
    jobs = DatasetJob.objects.select_related("version__dataset", "base__dataset", "requested_by").filter(
        in_projects_of(user), in_projects_of(user, "base__dataset__project"),
        in_projects_of(user, "version__dataset__project"),
    )  # fmt: skip
    own = Q(requested_by=user)
    return jobs.filter(own | ~Q(status=JobStatus.WAITING)) if user.is_superuser else jobs.filter(own)


def unfinished_jobs(user: Any) -> QuerySet[DatasetJob]:
    """The account's own jobs that wait, run or failed, newest first, at most ten."""
    states = Q(status__in=(JobStatus.WAITING, JobStatus.FAILED, *JOB_OPEN))
    return jobs_of(user).filter(states, requested_by=user)[:MOST_LISTED]
