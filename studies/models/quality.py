"""Exclusions and external ids."""

from __future__ import annotations

from django.db import models

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
