"""Abstract models of work that workers do; the package has no tables of its own, so it is no Django app."""

from __future__ import annotations

from typing import Any

from django.db import models


class LeasedModel(models.Model):
    """Work that one process holds at a time, as long as it renews its lease; see `jobs.leases`."""

    status: Any  # each model's own states, among them queued and failed
    error = models.TextField(blank=True)
    lease = models.CharField(max_length=64, blank=True)  # host:process:random, of the holder
    leased_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        abstract = True


class JobModel(LeasedModel):
    """Leased work with a message of its own, which the sweep sends again while the job waits."""

    is_short = True  # whether it waits in the queue of short jobs, and for nothing else
    hinted_at = models.DateTimeField(null=True, blank=True)  # when the message was last sent

    class Meta:
        abstract = True
