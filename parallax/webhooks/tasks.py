"""Tasks of webhooks."""

from __future__ import annotations

from celery import shared_task

from parallax.webhooks import services

shared_task(name="webhooks.deliver", ignore_result=True)(services.deliver)
shared_task(name="webhooks.sweep", ignore_result=True)(services.sweep)
