"""Recruitment: panel and exit links, personal links, guest list, interviews and panel submissions."""

from __future__ import annotations

from django.db import models

from core.models import TimeStampedModel
from studies.enums import Entrance
from studies.models.participant import Participant
from studies.models.study import RESEARCHER, Condition, Study


class Recruiting(TimeStampedModel):
    """Recruitment settings of a study; not part of the frozen design, so changes while it runs are logged."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="recruiting")
    panel = models.CharField(max_length=20, default="none")  # see studies.recruitment.panels.sites
    names = models.JSONField(default=dict)  # the generic panel's parameters
    entrance = models.CharField(max_length=12, choices=Entrance, default=Entrance.OPEN)
    signing_key = models.CharField(max_length=64, blank=True)  # of signed links; empty until there are any
    exits = models.JSONField(default=dict)  # outcome to studies.recruitment.panels.exits.Exit
    excluded_studies = models.JSONField(default=list)  # keys of studies whose participants are not admitted
    longest_gap_minutes = models.PositiveIntegerField(null=True, blank=True)  # None: no limit
    # See studies.participation.services.entry_limits; None: the computed default.
    most_per_network = models.PositiveIntegerField(null=True, blank=True)
    pause_at = models.PositiveIntegerField(null=True, blank=True)
    progress_minutes = models.PositiveIntegerField(default=10)  # see studies.participation.services.slot_queue
    places = models.JSONField(default=list, blank=True)  # of interviews: [{"code": …, "label": …}]

    def __str__(self) -> str:
        return f"Recruiting of {self.study}"


class PersonalLink(models.Model):
    """A single-use link that enrols one participant; only the digest of its key is stored."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="personal_links")
    digest = models.CharField(max_length=64, unique=True)  # equals `entry_key` of the participant who used it
    label = models.CharField(max_length=200, blank=True)  # recipient, as noted by the researcher
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(RESEARCHER, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    closed_at = models.DateTimeField(null=True, blank=True)  # closed without having been used
    # Digest of the random key of the browser that opened the link; empty before, and for links opened before links
    # were bound to one browser.
    browser_digest = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"Personal link {self.pk} of {self.study}"


class Guest(models.Model):
    """An external id on the guest list."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="guests")
    value = models.CharField(max_length=500)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["study", "value"], name="guest_once")]

    def __str__(self) -> str:
        return f"Guest {self.pk} of {self.study}"


class Interview(models.Model):
    """A session started by an interviewer, with notes; `number` counts per interviewer and study."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="interviews")
    link = models.OneToOneField(PersonalLink, on_delete=models.CASCADE, related_name="interview")
    participant = models.OneToOneField(
        Participant, null=True, blank=True, on_delete=models.SET_NULL, related_name="interview"
    )
    interviewer = models.ForeignKey(RESEARCHER, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    number = models.PositiveIntegerField()
    # With interviewers nested in conditions: the condition of the interviewer's participants.
    condition = models.ForeignKey(Condition, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    place = models.CharField(max_length=200, blank=True)  # a code of `Recruiting.places`; older rows have free text
    label = models.CharField(max_length=200, blank=True)  # may name a person
    # The interviewer's notes, and when they were last saved; they may name a person.
    note_before = models.TextField(blank=True)
    noted_before_at = models.DateTimeField(null=True, blank=True)
    note_after = models.TextField(blank=True)
    noted_after_at = models.DateTimeField(null=True, blank=True)
    evaluation = models.JSONField(default=dict, blank=True)  # the evaluator's answers by key
    evaluated_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"Interview {self.pk} of {self.study}"


class Submission(models.Model):
    """The latest state of one submission in a panel's list; identifies people, so only the study's owner sees it."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="submissions")
    key = models.CharField(max_length=600)  # see studies.recruitment.panels.submissions
    participant = models.ForeignKey(
        Participant, null=True, blank=True, on_delete=models.CASCADE, related_name="submissions"
    )
    person = models.CharField(max_length=500)
    submission = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=20)
    panel_status = models.CharField(max_length=500, blank=True, db_column="told")  # in the panel's own words
    code = models.CharField(max_length=500, blank=True)
    loaded_at = models.DateTimeField()  # when this state was first loaded

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="submission_once")]

    def __str__(self) -> str:
        return f"Submission {self.pk} of {self.study}"
