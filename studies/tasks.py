"""What the worker's clock, or beat, does for studies."""

from __future__ import annotations

import logging

from celery import shared_task

from studies.services.enrolment import release_idle

logger = logging.getLogger(__name__)


@shared_task(name="studies.sweep")
def sweep() -> None:
    """Mark idle participants as abandoned and open their slots; run twice at once, it does no harm."""
    released = release_idle()
    if released:
        logger.info("released idle participants n=%s", released)
