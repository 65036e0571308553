"""Letters to owners of accounts."""

from __future__ import annotations

from celery import shared_task

from accounts.services.letters import send_waiting


@shared_task(name="accounts.sweep", ignore_result=True)
def sweep() -> None:
    """Send the letters that wait; repeated messages send each once."""
    send_waiting()
