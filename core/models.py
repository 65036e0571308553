"""Models that every storey needs: time stamps, the log of status changes, rate limits, workers, kept answers."""

from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.db import models


class TimeStampedModel(models.Model):
    """Records when a row was created and last changed."""

    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True


class LogEntry(models.Model):
    """One status change of one row: who, what, from, to, when. Entries are written once."""

    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    kind = models.CharField(max_length=64)
    object_id = models.BigIntegerField()
    from_status = models.CharField(max_length=32, blank=True)
    to_status = models.CharField(max_length=32, blank=True)
    reason = models.TextField(blank=True)
    facts = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["at", "id"]
        indexes = [models.Index(fields=["kind", "object_id"])]
        verbose_name_plural = "log entries"

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}: {self.from_status} → {self.to_status}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise TypeError("A log entry is written once and never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("A log entry is never deleted.")


class RateCount(models.Model):
    """Requests within one window of a rate limit; see `core.rate_limits`. The key is a digest that names no person."""

    key = models.CharField(max_length=64, unique=True)
    n = models.PositiveIntegerField()
    ends_at = models.PositiveBigIntegerField(db_index=True)  # seconds since 1970

    def __str__(self) -> str:
        return f"{self.n} requests until {self.ends_at}"


class Worker(models.Model):
    """A running worker process of any machine, which keeps its row up to date; see `jobs.workers`."""

    host = models.CharField(max_length=200)
    pid = models.PositiveBigIntegerField()
    queues = models.JSONField(default=list)
    code = models.CharField(max_length=64)  # core.provenance
    task = models.CharField(max_length=200, blank=True)  # that it is working on; empty: idle
    seen_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"


class KeptAnswer(models.Model):
    """The answer to a request with an `Idempotency-Key`; see `core.idempotency`. The key is a digest."""

    key = models.CharField(max_length=64, unique=True)  # of the token or account, and of the client's key
    fingerprint = models.CharField(max_length=64)  # of the address and the body
    status = models.PositiveSmallIntegerField(default=0)  # 0: under way
    headers = models.JSONField(default=dict)
    body = models.TextField(blank=True)
    ends_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.status or 'under way'} until {self.ends_at}"
