"""Webhooks of researchers, and the log of their deliveries."""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.models import TimeStampedModel
from studies.enums import READERS
from studies.models import Study, StudyMembership


class EventType(models.TextChoices):
    """The events that a webhook can be sent; a `ping` is sent on request alone."""

    LAUNCHED = "study.launched"
    FULL = "study.full"
    PAUSED = "study.paused"
    COMPLETED = "participant.completed"
    JOB_FINISHED = "job.finished"


class DeliveryStatus(models.TextChoices):
    """The state of a delivery; a pending one is tried again."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class WebhookQuerySet(models.QuerySet["Webhook"]):
    """Webhooks by the events that they may be sent."""

    def entitled(self, study: Study | None) -> Self:
        """Those that are on, of open accounts, and limited to no other study; of a study, only if their owner may see
        its counts.
        """
        rows = self.filter(Q(study=None) | Q(study=study), is_on=True, owner__is_active=True)
        if study is None:
            return rows
        readers = StudyMembership.objects.filter(study=study, role__in=READERS)
        return rows.filter(owner__in=readers.values("researcher"))


class Webhook(TimeStampedModel):
    """An address that is sent events; without a study, those of all studies whose counts its owner may see."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks")
    address = models.CharField(max_length=500)
    events = models.JSONField()  # a list of EventType
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="webhooks")
    secret = models.CharField(max_length=60)  # not a digest, as each delivery is signed with it
    is_on = models.BooleanField(default=True)
    failing_since = models.DateTimeField(null=True, blank=True)  # the first failure after the last success

    objects = WebhookQuerySet.as_manager()

    def __str__(self) -> str:
        return f"Webhook {self.pk} of {self.owner}"


class Delivery(models.Model):
    """One event for one webhook; code and error are those of the last try."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    message_id = models.CharField(max_length=40, unique=True)
    event = models.CharField(max_length=30)
    payload = models.JSONField()
    status = models.CharField(max_length=10, choices=DeliveryStatus, default=DeliveryStatus.PENDING)
    tries = models.PositiveSmallIntegerField(default=0)
    response_code = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.CharField(max_length=200, blank=True)
    next_at = models.DateTimeField(null=True, blank=True, db_index=True)  # of the next try; null: none follows
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return f"{self.event} {self.message_id}, {self.status}"
