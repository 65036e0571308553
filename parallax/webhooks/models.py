"""Webhooks of researchers, and the log of their deliveries."""

from __future__ import annotations

import secrets
from base64 import b64encode
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.models import TimeStampedModel
from studies.models import Study, StudyMembership
from studies.team.permissions import READERS

LONGEST_ADDRESS = 500


class EventType(models.TextChoices):
    """What a webhook can be told of."""

    LAUNCHED = "study.launched"
    FULL = "study.full"
    PAUSED = "study.paused"
    COMPLETED = "participant.completed"
    JOB_FINISHED = "job.finished"


PING = "ping"  # sent on request alone


class DeliveryStatus(models.TextChoices):
    """Whether a delivery is still tried."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class WebhookQuerySet(models.QuerySet["Webhook"]):
    """Webhooks by what they may be told."""

    def entitled(self, study: Study | None) -> Self:
        """Those that are on, of open accounts, and limited to no other study; of a study, only if their owner may see
        its counts.
        """
        rows = self.filter(Q(study=None) | Q(study=study), is_on=True, owner__is_active=True)
        if study is None:
            return rows
        readers = StudyMembership.objects.filter(study=study, role__in=READERS)
        return rows.filter(owner__in=readers.values("researcher"))


def new_secret() -> str:
    """A secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64."""
    return f"whsec_{b64encode(secrets.token_bytes(32)).decode()}"


def new_message_id() -> str:
    """The id of an event for one webhook, the same at each try."""
    return f"msg_{secrets.token_hex(16)}"


class Webhook(TimeStampedModel):
    """An address that is sent events; without a study, those of all studies whose counts its owner reads."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks")
    address = models.CharField(max_length=LONGEST_ADDRESS)
    events = models.JSONField()  # of EventType
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="webhooks")
    secret = models.CharField(max_length=60, default=new_secret)  # readable, as each delivery is signed with it
    is_on = models.BooleanField(default=True)
    failing_since = models.DateTimeField(null=True, blank=True)  # the first failed try after the last success

    objects = WebhookQuerySet.as_manager()

    def __str__(self) -> str:
        return f"Webhook {self.pk} of {self.owner}"


class Delivery(models.Model):
    """One event for one webhook."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    message_id = models.CharField(max_length=40, unique=True, default=new_message_id)
    event = models.CharField(max_length=30)
    payload = models.JSONField()
    status = models.CharField(max_length=10, choices=DeliveryStatus, default=DeliveryStatus.PENDING)
    tries = models.PositiveSmallIntegerField(default=0)
    response_code = models.PositiveSmallIntegerField(null=True, blank=True)  # of the last try
    error = models.CharField(max_length=200, blank=True)  # of the last try
    next_at = models.DateTimeField(null=True, blank=True, db_index=True)  # of the next try; null: none follows
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        verbose_name_plural = "deliveries"

    def __str__(self) -> str:
        return f"{self.event} {self.message_id}, {self.status}"
