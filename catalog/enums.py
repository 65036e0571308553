"""The kinds and states of the jobs that change the catalogue."""

from __future__ import annotations

from django.db import models


class JobKind(models.TextChoices):
    """What a job does."""

    IMPORT = "import", "Import"
    DOWNLOAD = "download", "Download"
    METADATA = "metadata", "Item metadata"
    SUBSET = "subset", "Subset"


class JobStatus(models.TextChoices):
    """The state of a job."""

    WAITING = "waiting", "waiting for its columns"  # an upload whose columns have not been confirmed
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    SUCCEEDED = "succeeded", "succeeded"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


JOB_MOVES: dict[str, frozenset[str]] = {
    JobStatus.WAITING: frozenset({JobStatus.QUEUED, JobStatus.CANCELLED}),
    JobStatus.QUEUED: frozenset({JobStatus.RUNNING, JobStatus.CANCELLED}),
    # Back in the queue when the worker is gone or stopping.
    # A check of an import ends in waiting.
    JobStatus.RUNNING: frozenset(
        {JobStatus.QUEUED, JobStatus.WAITING, JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED}
    ),
    # Started again with other columns, while its file is there.
    JobStatus.FAILED: frozenset({JobStatus.QUEUED, JobStatus.CANCELLED}),
}
JOB_OPEN = (JobStatus.QUEUED, JobStatus.RUNNING)
