"""The participant, the slot they took, and the log by which the allocation can be replayed."""

from __future__ import annotations

from django.db import models

from core.models import TimeStampedModel
from studies.enums import AllocationKind, Entrance, Mode, ParticipantStatus
from studies.models.study import Condition, ConsentVersion, Study, StudyVersion


class Participant(TimeStampedModel):
    """Someone on their way through a study; the row exists since consent.

    The link's token is kept as its SHA-256 alone. A simulated participant stands on a user reserved from
    every model of the run, named in `source_user`.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="participants")
    version = models.ForeignKey(StudyVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    code = models.CharField(max_length=16)  # shown to people and in logs: never the token
    token_digest = models.CharField(max_length=64, unique=True)
    entry_key = models.CharField(max_length=64)  # digest of the consent form's own token: a double press is one row
    mode = models.CharField(max_length=12, choices=Mode, default=Mode.LIVE)
    entrance = models.CharField(max_length=12, choices=Entrance, default=Entrance.OPEN)
    status = models.CharField(max_length=20, choices=ParticipantStatus, default=ParticipantStatus.CONSENTED)
    step = models.CharField(max_length=20, default="about")  # see studies.flow
    item_rank = models.PositiveSmallIntegerField(default=0)  # of the item in question, in the step "items"
    condition = models.ForeignKey(
        Condition, null=True, blank=True, on_delete=models.PROTECT, related_name="participants"
    )
    stratum = models.CharField(max_length=120, blank=True)
    place = models.PositiveIntegerField(null=True, blank=True)  # in the stratum's sequence, while the slot is held
    language = models.CharField(max_length=8, default="en")
    shown_orders = models.JSONField(default=dict)  # block to the random orders in which it was shown
    # What they said yes to: the text, and the language it was read in. They may have changed the pages' since.
    consent_version = models.ForeignKey(
        ConsentVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="participants"
    )
    consent_language = models.CharField(max_length=8, blank=True)
    parameters = models.JSONField(default=dict)  # the link's query parameters, as they came
    source_user = models.CharField(max_length=100, blank=True)
    completion_code = models.CharField(max_length=16, blank=True)
    consented_at = models.DateTimeField()
    assigned_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField()
    erased_at = models.DateTimeField(null=True, blank=True)  # when the answers were erased, by wish or by retention

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
        ]

    def __str__(self) -> str:
        return self.code


class Allocation(models.Model):
    """One line of the allocation log: append-only, in order, enough to replay the assignment.

    A place is used up once, by an assignment or by a skip. When it is given back, or its condition has room
    again, taking it is logged as retaken, by the same participant or another. Methods without blocks number
    their decisions: each full condition that was passed over has a place, and so has the assignment after it.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="allocations")
    mode = models.CharField(max_length=12, choices=Mode)
    kind = models.CharField(max_length=12, choices=AllocationKind)
    stratum = models.CharField(max_length=120)
    place = models.PositiveIntegerField()  # in the stratum's sequence, from 0
    block = models.PositiveIntegerField()
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="+")
    participant = models.ForeignKey(
        Participant, null=True, blank=True, on_delete=models.SET_NULL, related_name="allocations"
    )
    targets = models.JSONField(null=True)  # of all conditions when the line was written: a target can be raised
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "mode", "stratum", "place"],
                condition=models.Q(kind__in=[AllocationKind.ASSIGNED, AllocationKind.SKIPPED]),
                name="allocation_place_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.stratum} {self.place} → {self.condition}"
