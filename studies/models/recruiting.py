"""How people come to a study: its panel and exits, personal links, guests, interviews, a panel's submissions."""

from __future__ import annotations

from django.db import models

from core.models import TimeStampedModel
from studies.enums import Entrance
from studies.models.participant import Participant
from studies.models.study import RESEARCHER, Condition, Study


class Recruiting(TimeStampedModel):
    """How a study recruits. It is no part of the frozen design: a code or a panel may change while it runs, logged."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="recruiting")
    panel = models.CharField(max_length=20, default="none")  # see studies.recruiting.registry
    names = models.JSONField(default=dict)  # the generic panel's parameters
    entrance = models.CharField(max_length=12, choices=Entrance, default=Entrance.OPEN)
    exits = models.JSONField(default=dict)  # outcome to studies.recruiting.exits.Exit
    excluded_studies = models.JSONField(default=list)  # keys of studies whose participants are not admitted
    longest_gap_minutes = models.PositiveIntegerField(null=True, blank=True)  # None: however long
    # See studies.services.entry_limits; None: the number that it computes.
    most_per_network = models.PositiveIntegerField(null=True, blank=True)
    pause_at = models.PositiveIntegerField(null=True, blank=True)

    def __str__(self) -> str:
        return f"Recruiting of {self.study}"


class PersonalLink(models.Model):
    """A link that enrols one participant once. Of its key the digest is kept, as of the participant who used it."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="personal_links")
    digest = models.CharField(max_length=64, unique=True)  # equals `entry_key` of the participant who used it
    label = models.CharField(max_length=200, blank=True)  # for whom it is, in the researcher's words
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(RESEARCHER, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    closed_at = models.DateTimeField(null=True, blank=True)  # unused, and not to be used any more
    # Digest of the random key of the browser that it handed over to; empty until then, and where that was before links
    # handed over once.
    browser_digest = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"Personal link {self.pk} of {self.study}"


class Guest(models.Model):
    """An id that may enter where only guests do."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="guests")
    value = models.CharField(max_length=500)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["study", "value"], name="guest_once")]

    def __str__(self) -> str:
        return f"Guest {self.pk} of {self.study}"


class Interview(models.Model):
    """A session that an interviewer started, with what they noted. The number is the interviewer's in this study."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="interviews")
    link = models.OneToOneField(PersonalLink, on_delete=models.CASCADE, related_name="interview")
    participant = models.OneToOneField(
        Participant, null=True, blank=True, on_delete=models.SET_NULL, related_name="interview"
    )
    interviewer = models.ForeignKey(RESEARCHER, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    number = models.PositiveIntegerField()
    # Where interviewers are nested: the one condition that they start participants in.
    condition = models.ForeignKey(Condition, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    place = models.CharField(max_length=200, blank=True)
    label = models.CharField(max_length=200, blank=True)  # may name a person
    started_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"Interview {self.pk} of {self.study}"


class Submission(models.Model):
    """What a panel's list said last of one submission; it names people, so the study's owner alone reads it."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="submissions")
    key = models.CharField(max_length=600)  # see studies.recruiting.submissions
    participant = models.ForeignKey(
        Participant, null=True, blank=True, on_delete=models.CASCADE, related_name="submissions"
    )
    person = models.CharField(max_length=500)
    submission = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=20)
    told = models.CharField(max_length=500, blank=True)  # the panel's own word
    code = models.CharField(max_length=500, blank=True)
    loaded_at = models.DateTimeField()  # when what is told here was first read

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="submission_once")]

    def __str__(self) -> str:
        return f"Submission {self.pk} of {self.study}"
