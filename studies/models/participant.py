"""Participants, their slots and external ids, exclusions, and the allocation log."""

from __future__ import annotations

from typing import Any

from django.db import models

from core.models import TimeStampedModel
from studies.enums import AllocationKind, Entrance, Mode, ParticipantStatus
from studies.models.study import RESEARCHER, Condition, ConsentVersion, Sequence, Study, StudyVersion


class Participant(TimeStampedModel):
    """A participant of a study; the row is created at consent.

    Only the SHA-256 of the link's token is stored. A simulated participant uses the ratings of `source_user`, a
    user reserved from every model of the run.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="participants")
    version = models.ForeignKey(StudyVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    code = models.CharField(max_length=16)  # shown on pages and in logs instead of the token
    token_digest = models.CharField(max_length=64, unique=True)
    entry_key = models.CharField(max_length=64)  # digest of the consent form's token: submitting twice creates one row
    mode = models.CharField(max_length=12, choices=Mode, default=Mode.LIVE)
    entrance = models.CharField(max_length=12, choices=Entrance, default=Entrance.OPEN)
    status = models.CharField(max_length=20, choices=ParticipantStatus, default=ParticipantStatus.CONSENTED)
    step = models.CharField(max_length=40, default="about")  # key of a page of the flow
    item_rank = models.PositiveSmallIntegerField(default=0)  # of the item in question, on pages about one
    occasion = models.PositiveSmallIntegerField(default=1)  # of the list in question, from 1
    condition = models.ForeignKey(
        Condition, null=True, blank=True, on_delete=models.PROTECT, related_name="participants"
    )
    # In place of the condition, where each person has several lists.
    sequence = models.ForeignKey(Sequence, null=True, blank=True, on_delete=models.PROTECT, related_name="participants")
    stratum = models.CharField(max_length=120, blank=True)
    place = models.PositiveIntegerField(null=True, blank=True)  # in the stratum's sequence; null without a slot
    language = models.CharField(max_length=8, default="en")
    shown_orders = models.JSONField(default=dict)  # block to the random orders in which it was shown
    # The consent text and the language it was read in; the language of the pages may have changed since.
    consent_version = models.ForeignKey(
        ConsentVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="participants"
    )
    consent_language = models.CharField(max_length=8, blank=True)
    parameters = models.JSONField(default=dict)  # the link's query parameters, unchanged
    source_user = models.CharField(max_length=100, blank=True)
    completion_code = models.CharField(max_length=16, blank=True)
    consented_at = models.DateTimeField()
    assigned_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField()
    # The last answer, rating, opened detail or new page of a holder, and when their page was reached; see
    # studies.participation.services.slot_queue.
    progressed_at = models.DateTimeField(null=True, blank=True)
    reached_at = models.DateTimeField(null=True, blank=True)
    waiting_since = models.DateTimeField(null=True, blank=True)  # for a slot; null for those who do not wait
    network = models.CharField(max_length=64, blank=True)  # keyed digest; empty once the participation is over
    erased_at = models.DateTimeField(null=True, blank=True)  # when the answers were erased, on request or by retention

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "code"], name="participant_code_once"),
            models.UniqueConstraint(fields=["study", "entry_key"], name="participant_entry_once"),
            models.UniqueConstraint(fields=["study", "mode", "stratum", "place"], name="participant_place_once"),
            models.UniqueConstraint(
                fields=["study", "completion_code"],
                condition=~models.Q(completion_code=""),
                name="participant_completion_code_once",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "mode", "status"]),
            models.Index(fields=["status", "last_seen_at"]),
            models.Index(
                fields=["study", "waiting_since"],
                condition=models.Q(waiting_since__isnull=False),
                name="participant_queue",
            ),
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def arm_id(self) -> int | None:
        """The key of what they are assigned to: their sequence, in studies that have some, or their condition."""
        return self.sequence_id or self.condition_id

    @property
    def recommendation_list(self) -> Any:
        """Their list, or the first of several; raises RecommendationList.DoesNotExist before there is one."""
        return self.recommendation_lists.get(occasion=1, side=1)


class Allocation(models.Model):
    """One line of the append-only allocation log, from which the assignment can be replayed.

    Each place in a stratum's sequence is used once, by an assignment or a skip. If a released or skipped place is
    assigned later, the line is logged as retaken, for any participant. Methods without blocks number their
    decisions: every full condition that was passed over has a place, and so does the assignment that follows.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="allocations")
    mode = models.CharField(max_length=12, choices=Mode)
    kind = models.CharField(max_length=12, choices=AllocationKind)
    stratum = models.CharField(max_length=120)
    place = models.PositiveIntegerField()  # in the stratum's sequence, from 0
    block = models.PositiveIntegerField()
    condition = models.ForeignKey(Condition, null=True, on_delete=models.PROTECT, related_name="+")
    sequence = models.ForeignKey(Sequence, null=True, on_delete=models.PROTECT, related_name="+")
    participant = models.ForeignKey(
        Participant, null=True, blank=True, on_delete=models.SET_NULL, related_name="allocations"
    )
    targets = models.JSONField(null=True)  # of all arms when the line was written; targets can be raised later
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "mode", "stratum", "place"],
                condition=models.Q(kind__in=[AllocationKind.ASSIGNED, AllocationKind.SKIPPED]),
                name="allocation_place_once",
            ),
            models.CheckConstraint(
                condition=models.Q(condition__isnull=True) ^ models.Q(sequence__isnull=True),
                name="allocation_of_one_arm",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.stratum} {self.place} → {self.condition or self.sequence}"

    @property
    def arm_id(self) -> int:
        """The key of the sequence or condition."""
        return int(self.sequence_id or self.condition_id or 0)


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
