"""Studies, their frozen versions, consent texts, conditions, members, and the last change of a questionnaire."""

from __future__ import annotations

import copy
import secrets
from typing import Any, cast

from django.conf import settings
from django.contrib.contenttypes.fields import GenericRelation
from django.db import models
from django.utils import timezone

from accounts.models import Invitation, User
from catalog.models import DatasetVersion
from core.models import TimeStampedModel
from evaluation.models import EvaluationRun, TrainedModel
from jobs.models import Job
from studies.enums import NoticeMail, Role, StudyStatus
from studies.presentation import Presentation, presentation_from
from studies.settings import StudySettings, read_settings

RESEARCHER = settings.AUTH_USER_MODEL  # named here because `settings` is a field of Study


def new_salt() -> str:
    """Return a secret salt for the participant ids in exports."""
    return secrets.token_hex(32)


def new_assignment_seed() -> str:
    """Return 128 random bits from the operating system, in hexadecimal."""
    return secrets.token_hex(16)


COUNTS = frozenset({"n_opened", "n_declined"})  # changed by every visitor, not shown on participants' pages


class StudyQuerySet(models.QuerySet["Study"]):
    """Studies; every update sets `updated_at`, which other processes use to invalidate their caches."""

    def update(self, **changes: Any) -> int:
        """Write `changes` and the time of the update."""
        if not COUNTS.issuperset(changes):
            changes.setdefault("updated_at", timezone.now())
        return super().update(**changes)


class Study(TimeStampedModel):
    """A between-subjects comparison of conditions on one dataset."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    status = models.CharField(max_length=20, choices=StudyStatus, default=StudyStatus.DRAFT)
    template = models.CharField(max_length=80)
    template_version = models.PositiveSmallIntegerField(default=1, editable=False)
    dataset_version = models.ForeignKey(DatasetVersion, on_delete=models.PROTECT, related_name="studies")
    run = models.ForeignKey(EvaluationRun, on_delete=models.PROTECT, related_name="studies")
    seed = models.BigIntegerField()  # for page orders, resampling and simulated participants; public
    # For the assignment of people: 128 bits in hexadecimal, secret until the close. Empty if `seed` is used instead.
    assignment_seed = models.CharField(max_length=32, blank=True, editable=False)
    # For each earlier wave: the number of allocation lines of people at its end, and its revealed seed.
    earlier_seeds = models.JSONField(default=list, blank=True, editable=False)
    settings = models.JSONField(default=dict)  # as stored, for the design hash; `design` reads them
    questionnaire = models.JSONField(default=dict)  # blocks of questions, as the preset's YAML
    texts = models.JSONField(default=dict)  # consent, debriefing, … in Markdown, by language
    design_hash = models.CharField(max_length=64, blank=True)  # empty until launched
    launched_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    reopened_at = models.DateTimeField(null=True, blank=True)  # latest reopening; the log has all of them
    export_salt = models.CharField(max_length=64, default=new_salt, editable=False)
    n_opened = models.PositiveIntegerField(default=0)  # views of the consent page; 0 if views are not counted
    n_declined = models.PositiveIntegerField(default=0)
    # Not part of the design, since retention may be shortened at any time. Days after the close; None: no limit.
    external_ids_kept_days = models.PositiveIntegerField(null=True, blank=True)
    answers_kept_days = models.PositiveIntegerField(null=True, blank=True)
    outcomes_opened_at = models.DateTimeField(null=True, blank=True)  # unblinded early; reason and person in the log
    archived_at = models.DateTimeField(null=True, blank=True)  # archived studies are read-only and not listed
    flags_looked_at = models.DateTimeField(null=True, blank=True)  # see studies.monitoring.services.notice_rules

    jobs = GenericRelation(Job, "subject_id", "subject_type")

    objects = StudyQuerySet.as_manager()
    researchers: models.ManyToManyField[User, StudyMembership] = models.ManyToManyField(
        RESEARCHER, through="StudyMembership", related_name="studies"
    )

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.title

    @property
    def design(self) -> StudySettings:
        """The settings, read once; one that cannot be used has its default, and the launch names it.

        They are read anew when a setting is replaced, and not when a value is changed inside one.
        """
        read = self.__dict__.get("_design")
        if read is None or read[0] != self.settings:
            read = self.__dict__["_design"] = (copy.copy(self.settings), read_settings(self.settings))
        return cast(StudySettings, read[1])

    def save(self, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("update_fields") is not None:
            kwargs["update_fields"] = {*kwargs["update_fields"], "updated_at"}
        super().save(*args, **kwargs)


class StudyMembership(models.Model):
    """A researcher's role in a study; studies are invisible to non-members."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    researcher = models.ForeignKey(RESEARCHER, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role, default=Role.OWNER)
    # With interviewers nested in conditions: the condition of this interviewer's participants.
    condition = models.ForeignKey("Condition", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    notices_by_mail = models.CharField(max_length=12, choices=NoticeMail, default=NoticeMail.DAILY)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "researcher"], name="membership_once")]

    def __str__(self) -> str:
        return f"{self.researcher} ({self.role}) on {self.study}"


class StudyInvitation(models.Model):
    """The role in a study that an invitation grants when it is accepted."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    invitation = models.OneToOneField(Invitation, on_delete=models.CASCADE, related_name="study_invitation")
    role = models.CharField(max_length=20, choices=Role)
    condition = models.ForeignKey("Condition", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Invitation to {self.study} ({self.role})"


class StudyVersion(models.Model):
    """A frozen design: everything covered by `design_hash`."""

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
    """A consent text as shown to participants; changes after the launch create a new version."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="consent_versions")
    number = models.PositiveIntegerField()
    texts = models.JSONField()  # by language: the Markdown text and the checkboxes
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
    """A condition: a trained model, pinned by digest, how its list is shown, and its target number of participants.

    Several conditions may have one model and differ in presentation. `levels` holds the level of each factor of the
    design, by the factor's key.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="conditions")
    position = models.PositiveSmallIntegerField()
    label = models.CharField(max_length=80)
    model = models.ForeignKey(TrainedModel, on_delete=models.PROTECT, related_name="conditions")
    model_digest = models.CharField(max_length=64)
    target = models.PositiveIntegerField()
    presentation = models.JSONField(default=dict, blank=True)  # what differs from the default; `shown` reads it
    levels = models.JSONField(default=dict, blank=True)
    canaries = models.JSONField(default=list, blank=True)  # of a remote recommender: its lists at the launch

    class Meta:
        ordering = ["study_id", "position"]
        constraints = [models.UniqueConstraint(fields=["study", "position"], name="condition_position_once")]

    def __str__(self) -> str:
        return self.label

    @property
    def shown(self) -> Presentation:
        """How the condition shows its list."""
        return presentation_from(self.presentation)


class Sequence(models.Model):
    """An arm of a study with several lists for each person: the conditions in the order in which they are met.

    `occasions` holds, for each occasion, the positions of its conditions from left to right; here one condition each.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="sequences")
    position = models.PositiveSmallIntegerField()
    label = models.CharField(max_length=80)
    target = models.PositiveIntegerField()
    occasions = models.JSONField()

    class Meta:
        ordering = ["study_id", "position"]
        constraints = [models.UniqueConstraint(fields=["study", "position"], name="sequence_position_once")]

    def __str__(self) -> str:
        return self.label


class DeclinedForm(models.Model):
    """A declined consent form, stored so that it counts once; contains no data about the person or their link."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="declined_forms")
    digest = models.CharField(max_length=64, unique=True)  # of the form's key, which differs from a personal link's key
    declined_on = models.DateField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"Declined form {self.pk} of {self.study}"


class QuestionnaireUndo(TimeStampedModel):
    """What undoing the last deletion or import restores; one row for a study at most."""

    LONGEST_TITLE = 300

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="questionnaire_undo")
    title = models.CharField(max_length=LONGEST_TITLE)  # of the change, a sentence
    questionnaire = models.JSONField()  # as it was before
    digest_after = models.CharField(max_length=64)  # of the questionnaire since; another digest ends the undo

    def __str__(self) -> str:
        return self.title
