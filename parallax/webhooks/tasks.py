"""Tasks: one delivers an event, one keeps deliveries going."""

from __future__ import annotations

from celery import shared_task

from parallax.webhooks import services


@shared_task(name="webhooks.deliver", ignore_result=True)
def deliver(delivery_id: int, tries: int) -> None:
    """Try to deliver an event; the message is only a hint, and the row is the truth."""
    services.deliver(delivery_id=delivery_id, tries=tries)


@shared_task(name="webhooks.sweep", ignore_result=True)
def sweep() -> None:
    """Deliver what is due, switch off what fails for a day, and delete old deliveries."""
    services.sweep()
