"""Exclusions, external ids and export jobs."""

from __future__ import annotations

from django.db import models

from core.models import TimeStampedModel
from jobs.models import JobModel
from studies.enums import ExportStatus
from studies.models.participant import Participant
from studies.models.study import RESEARCHER, Study


class Exclusion(models.Model):
    """A researcher's decision to exclude a participant from analyses; it stays on record after it is undone."""

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="exclusions")
    reason = models.TextField()
    flags = models.JSONField(default=list)  # keys of the participant's quality flags at that time
    excluded_by = models.ForeignKey(RESEARCHER, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    excluded_at = models.DateTimeField(auto_now_add=True)
    undone_by = models.ForeignKey(RESEARCHER, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    undone_at = models.DateTimeField(null=True, blank=True)
    undo_reason = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["participant"], condition=models.Q(undone_at__isnull=True), name="exclusion_in_force_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.participant}: {self.reason}"


class ExternalId(models.Model):
    """A participant's id on another site, stored apart from the answers; visible to the study's owner only."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="external_ids")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="external_ids")
    name = models.CharField(max_length=80)  # query parameter: PROLIFIC_PID, workerId, …
    value = models.CharField(max_length=500)

    class Meta:
        ordering = ["participant_id", "name"]
        constraints = [models.UniqueConstraint(fields=["participant", "name"], name="external_id_once")]
        indexes = [models.Index(fields=["study", "name", "value"])]

    def __str__(self) -> str:
        return f"{self.name} of {self.participant}"


class ExportJob(TimeStampedModel, JobModel):
    """An export created by a worker under a lease; the archive is in the default storage until cleanup."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="export_jobs")
    kind = models.CharField(max_length=20)
    options = models.JSONField(default=dict)
    status = models.CharField(max_length=20, choices=ExportStatus, default=ExportStatus.QUEUED)
    requested_by = models.ForeignKey(RESEARCHER, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    file = models.CharField(max_length=200, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    n_bytes = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Export {self.pk} of {self.study}"


class SimulationJob(TimeStampedModel, JobModel):
    """A group of simulated participants that a worker walks through a study's pages."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="simulation_jobs")
    status = models.CharField(max_length=20, choices=ExportStatus, default=ExportStatus.QUEUED)
    activity = models.CharField(max_length=200, blank=True)
    per_condition = models.PositiveIntegerField()
    seed = models.PositiveIntegerField()
    base_url = models.CharField(max_length=300)  # where the pages are served
    requested_by = models.ForeignKey(RESEARCHER, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Simulation {self.pk} of {self.study}"
