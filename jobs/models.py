"""Jobs that workers do, and the lease under which one process holds a piece of work."""

from __future__ import annotations

from typing import Any, Self

from django.conf import settings
from django.contrib.contenttypes.fields import GenericForeignKey
from django.contrib.contenttypes.models import ContentType
from django.db import models

from core.models import TimeStampedModel
from jobs.kinds import KINDS, Kind


class LeasedModel(models.Model):
    """Work that one process holds at a time, as long as it renews its lease; see `jobs.leases`."""

    status: Any  # each model's own states, among them queued and failed
    error = models.TextField(blank=True)
    lease = models.CharField(max_length=64, blank=True)  # host:process:random, of the holder
    leased_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        abstract = True


class JobStatus(models.TextChoices):
    """The state of a job of any kind."""

    WAITING = "waiting"  # not in the queue before its owner has made their choices
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


JOB_MOVES: dict[str, frozenset[str]] = {
    JobStatus.WAITING: frozenset({JobStatus.QUEUED, JobStatus.CANCELLED}),
    JobStatus.QUEUED: frozenset({JobStatus.RUNNING, JobStatus.FAILED, JobStatus.CANCELLED}),
    # Back in the queue when its worker is gone or stopping, or after a step of several; waiting after a check.
    JobStatus.RUNNING: frozenset(set(JobStatus) - {JobStatus.RUNNING}),
    # Tried again, or discarded.
    JobStatus.FAILED: frozenset({JobStatus.QUEUED, JobStatus.CANCELLED}),
}
JOB_OPEN = (JobStatus.QUEUED, JobStatus.RUNNING)
REQUEST_STATES = [status.value for status in JobStatus if status != JobStatus.WAITING]  # without choices to be made


class JobQuerySet(models.QuerySet["Job"]):
    """Jobs by what they are about."""

    def about(self, rows: models.QuerySet[Any]) -> Self:
        """The jobs whose subject is one of `rows`."""
        subject_type = ContentType.objects.get_for_model(rows.model)
        return self.filter(subject_type=subject_type, subject_id__in=rows.order_by().values("pk"))

    def open(self) -> Self:
        """The jobs that a worker does, or will."""
        return self.filter(status__in=JOB_OPEN)


class Job(TimeStampedModel, LeasedModel):
    """Work that a page leaves to a worker, of one of the kinds in `jobs.kinds`.

    Its subject is what it belongs to (a study, a report, a version of a dataset, a project): who sees that may see the
    job, and the job is deleted with it, because the subject's model has a `GenericRelation` to jobs. `payload` says
    what to do, in JSON values; each kind has its own keys, as it has for `result`. A failed job's `result` holds the
    `extra` of the refusal.
    """

    kind = models.CharField(max_length=20)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    subject_type = models.ForeignKey(ContentType, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    subject_id = models.PositiveBigIntegerField(null=True, blank=True)
    subject: Any = GenericForeignKey("subject_type", "subject_id")
    payload = models.JSONField(default=dict)
    status = models.CharField(max_length=12, choices=JobStatus, default=JobStatus.QUEUED)
    activity = models.CharField(max_length=200, blank=True)
    done = models.PositiveBigIntegerField(null=True, blank=True)
    total = models.PositiveBigIntegerField(null=True, blank=True)
    result = models.JSONField(default=dict)
    file = models.CharField(max_length=200, blank=True)  # that it made, in the default storage
    hinted_at = models.DateTimeField(null=True, blank=True)  # when its message was last sent

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["subject_type", "subject_id"]),
            models.Index(fields=["kind", "status"]),
            models.Index(fields=["owner", "status"]),
        ]

    def __str__(self) -> str:
        return f"{self.definition.title} {self.pk}, {self.status}"

    @property
    def definition(self) -> Kind:
        """What its kind does and where."""
        return KINDS[self.kind]

    @property
    def is_open(self) -> bool:
        """Whether a worker does it, or will."""
        return self.status in JOB_OPEN
