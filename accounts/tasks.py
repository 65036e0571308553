"""Letters to owners of accounts, and the end of kept answers."""

from __future__ import annotations

from celery import shared_task

from accounts.services.letters import send_waiting
from core.idempotency import forget_answers


@shared_task(name="accounts.sweep", ignore_result=True)
def sweep() -> None:
    """Send the letters that wait; repeated messages send each once. Delete the answers whose day is over."""
    send_waiting()
    forget_answers()
