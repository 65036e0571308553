"""The jobs of the catalogue that an account may see, and where."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse

from accounts.models import Project
from catalog.models import DatasetVersion
from jobs.models import Job, JobStatus

KINDS = ("import", "download", "metadata", "subset")
MOST_LISTED = 10


def jobs_of(user: Any) -> QuerySet[Job]:
    """The account's own jobs on what it may see, newest first; for an administrator also those of others.

    A job is about the version that it changes or made, or about the project that its dataset will belong to. Of
    others, uploads that wait for their columns and jobs of projects are left out: they may hold private data.
    """
    every = Job.objects.filter(kind__in=KINDS)
    jobs = (
        every.filter(subject_type=None)
        | every.about(DatasetVersion.objects.visible_to(user))
        | every.about(Project.objects.of(user))
    ).select_related("owner")
    own = Q(owner=user)
    return jobs.filter(own | ~Q(status=JobStatus.WAITING)) if user.is_superuser else jobs.filter(own)


def unfinished_jobs(user: Any) -> QuerySet[Job]:
    """The account's own jobs that wait, run or failed, newest first, at most ten."""
    closed = (JobStatus.SUCCEEDED, JobStatus.CANCELLED)
    return jobs_of(user).filter(owner=user).exclude(status__in=closed)[:MOST_LISTED]


def page_of(job: Job) -> str:
    """The page of the import that was reached while it waits, else the one with its progress."""
    if job.status == JobStatus.WAITING:
        return reverse("catalog:step", args=[job.pk, job.payload.get("step", "columns")])
    return reverse("catalog:job", args=[job.pk])


def has_choices(job: Job) -> bool:
    """Whether what is imported can still be chosen: its file is there."""
    return job.kind == "import" and job.status in (JobStatus.WAITING, JobStatus.FAILED)


def version_made_by(job: Job) -> DatasetVersion | None:
    """The version that a job made; None before, and where it is gone."""
    return DatasetVersion.objects.filter(pk=job.result.get("version")).first()
