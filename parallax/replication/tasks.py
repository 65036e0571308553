"""Tasks: each fetches by id and calls one service."""

from __future__ import annotations

from celery import shared_task

from core.shared_storage import left_for_later
from parallax.replication import services


@shared_task(name="replication.sweep", ignore_result=True)
def sweep() -> None:
    """Enqueue replications that can be continued, and delete archives that are no longer offered."""
    services.advance()
    with left_for_later():
        services.clean()


@shared_task(name="replication.carry_on", ignore_result=True)
def carry_on(job_id: int) -> None:
    """Do the next step of a replication; repeated messages do it once."""
    services.carry_on(job_id=job_id)
