"""The periodic task of the catalogue."""

from __future__ import annotations

from celery import shared_task

from catalog.services.dataset_jobs import clean_uploads


@shared_task(name="catalog.sweep", ignore_result=True)
def sweep() -> None:
    """Delete unused uploads."""
    clean_uploads()
