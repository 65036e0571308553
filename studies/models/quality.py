"""What stands beside the answers: exclusions, external ids, and exports that a worker makes."""

from __future__ import annotations

from django.db import models

from core.models import Leased, TimeStampedModel
from studies.enums import ExportStatus
from studies.models.participant import Participant
from studies.models.study import RESEARCHER, Study


class Exclusion(models.Model):
    """A researcher's decision to leave a participant out of analyses; undone, it stays in the record."""

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="exclusions")
    reason = models.TextField()
    flags = models.JSONField(default=list)  # keys of the quality flags the participant had at that moment
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
    """An id by which another site knows a participant, apart from the answers; the study's owner alone reads it."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="external_ids")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="external_ids")
    name = models.CharField(max_length=80)  # the parameter it came in: PROLIFIC_PID, workerId, …
    value = models.CharField(max_length=500)

    class Meta:
        ordering = ["participant_id", "name"]
        constraints = [models.UniqueConstraint(fields=["participant", "name"], name="external_id_once")]
        indexes = [models.Index(fields=["study", "name", "value"])]

    def __str__(self) -> str:
        return f"{self.name} of {self.participant}"


class ExportJob(TimeStampedModel, Leased):
    """An export that a worker makes under a lease; its archive lies in the default storage until it is cleaned up."""

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
