"""Tasks of the installation itself."""

from __future__ import annotations

from celery import shared_task

from core.artefacts import deferring_cleanup
from parallax.backup import erasures, results


@shared_task(name="backup.sweep", ignore_result=True)
def sweep() -> None:
    """List withdrawals outside the database, and notify administrators of a missing backup."""
    results.report_missing()
    with deferring_cleanup():
        erasures.update_list()
