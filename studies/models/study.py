"""The study, its frozen versions, its conditions and who works on it."""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from accounts.models import User
from catalog.models import DatasetVersion
from core.models import TimeStampedModel
from evaluation.models import EvaluationRun, TrainedModel
from studies.enums import NoticeMail, Role, StudyStatus

RESEARCHER = settings.AUTH_USER_MODEL  # by its own name: a study has a field `settings`


def new_salt() -> str:
    """A secret of the study's own, for the ids that its exports print."""
    return secrets.token_hex(32)


def new_assignment_seed() -> str:
    """128 bits from the operating system, in hexadecimal."""
    return secrets.token_hex(16)


COUNTS = frozenset({"n_opened", "n_declined"})  # raised by every visitor, and read by no participant's page


class StudyQuerySet(models.QuerySet["Study"]):
    """Studies; what is written to them moves `updated_at`, by which processes know that theirs is out of date."""

    def update(self, **changes: Any) -> int:
        """Write `changes`, and when."""
        if not COUNTS.issuperset(changes):
            changes.setdefault("updated_at", timezone.now())
        return super().update(**changes)


class Study(TimeStampedModel):
    """A between-subjects comparison of conditions on one dataset."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    status = models.CharField(max_length=20, choices=StudyStatus, default=StudyStatus.DRAFT)
    template = models.CharField(max_length=80)
    dataset_version = models.ForeignKey(DatasetVersion, on_delete=models.PROTECT, related_name="studies")
    run = models.ForeignKey(EvaluationRun, on_delete=models.PROTECT, related_name="studies")
    seed = models.BigIntegerField()  # of page orders, resampling and simulated participants; public
    # Of people's assignment: 128 bits in hexadecimal, secret until the close. Empty where `seed`, a known one, decides.
    assignment_seed = models.CharField(max_length=32, blank=True, editable=False)
    # Of each earlier wave: how many lines of people's allocation log came before the next one, and its revealed seed.
    earlier_seeds = models.JSONField(default=list, blank=True, editable=False)
    settings = models.JSONField(default=dict)  # see studies/presets: ratings_asked, list_length, strata, ages, …
    questionnaire = models.JSONField(default=dict)  # blocks of questions, as the preset's YAML
    texts = models.JSONField(default=dict)  # consent, debriefing, … in Markdown, by language
    design_hash = models.CharField(max_length=64, blank=True)  # empty until launched
    launched_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    reopened_at = models.DateTimeField(null=True, blank=True)  # the last time after a close; the log has every one
    export_salt = models.CharField(max_length=64, default=new_salt, editable=False)
    n_opened = models.PositiveIntegerField(default=0)  # times the consent page was shown; 0 where nobody counts
    n_declined = models.PositiveIntegerField(default=0)
    # Not part of the design: a promise about data may be tightened at any time. Days after the close; None: kept.
    external_ids_kept_days = models.PositiveIntegerField(null=True, blank=True)
    answers_kept_days = models.PositiveIntegerField(null=True, blank=True)
    outcomes_opened_at = models.DateTimeField(null=True, blank=True)  # before the close; the log says by whom and why
    archived_at = models.DateTimeField(null=True, blank=True)  # put away: read-only, and out of the list
    flags_looked_at = models.DateTimeField(null=True, blank=True)  # for notices; see studies.services.notices

    objects = StudyQuerySet.as_manager()
    researchers: models.ManyToManyField[User, StudyMembership] = models.ManyToManyField(
        RESEARCHER, through="StudyMembership", related_name="studies"
    )

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.title

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Write the row, and always when it changed."""
        if kwargs.get("update_fields") is not None:
            kwargs["update_fields"] = {*kwargs["update_fields"], "updated_at"}
        super().save(*args, **kwargs)


class StudyMembership(models.Model):
    """A researcher's role in a study; without one the study does not exist for them."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    researcher = models.ForeignKey(RESEARCHER, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role, default=Role.OWNER)
    # Where interviewers are nested in conditions: the one that this interviewer starts participants in.
    condition = models.ForeignKey("Condition", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    notices_by_mail = models.CharField(max_length=12, choices=NoticeMail, default=NoticeMail.DAILY)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "researcher"], name="membership_once")]

    def __str__(self) -> str:
        return f"{self.researcher} ({self.role}) on {self.study}"


class StudyVersion(models.Model):
    """The design as it was frozen: everything that `design_hash` is over."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    design_hash = models.CharField(max_length=64)
    snapshot = models.JSONField()
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(RESEARCHER, null=True, blank=True, on_delete=models.SET_NULL)
    why = models.TextField(blank=True)

    class Meta:
        ordering = ["study_id", "number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="study_version_once")]

    def __str__(self) -> str:
        return f"{self.study} version {self.number}"


class ConsentVersion(models.Model):
    """A consent text as participants were shown it; the next one follows when it is changed after the launch."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="consent_versions")
    number = models.PositiveIntegerField()
    texts = models.JSONField()  # by language: the text in Markdown and the boxes to tick
    digest = models.CharField(max_length=64)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(RESEARCHER, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    why = models.TextField(blank=True)

    class Meta:
        ordering = ["study_id", "number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="consent_version_once")]

    def __str__(self) -> str:
        return f"Consent text {self.number} of {self.study}"


class Condition(models.Model):
    """One trained model, pinned by digest, and the number of participants it is to have."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="conditions")
    position = models.PositiveSmallIntegerField()
    label = models.CharField(max_length=80)
    model = models.ForeignKey(TrainedModel, on_delete=models.PROTECT, related_name="conditions")
    model_digest = models.CharField(max_length=64)
    target = models.PositiveIntegerField()

    class Meta:
        ordering = ["study_id", "position"]
        constraints = [models.UniqueConstraint(fields=["study", "position"], name="condition_position_once")]

    def __str__(self) -> str:
        return self.label


class DeclinedForm(models.Model):
    """A consent form that was declined, so that it counts once. Nothing of a person: neither who, nor by which link."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="declined_forms")
    digest = models.CharField(max_length=64, unique=True)  # of the form's key; unlike that of a personal link
    declined_on = models.DateField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"Declined form {self.pk} of {self.study}"
