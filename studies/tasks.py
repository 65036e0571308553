"""What the worker's clock, or beat, does for studies, and exports that take long."""

from __future__ import annotations

import logging

from celery import shared_task

from studies.services.consenting import forget_declined
from studies.services.exporting import bring_back_exports, clean_exports, make_export
from studies.services.idle import release_idle
from studies.services.notice_mail import send_due
from studies.services.notices import look_around
from studies.services.refilling import reopen_excluded_slots
from studies.services.retention import erase_expired

logger = logging.getLogger(__name__)


@shared_task(name="studies.sweep")
def sweep() -> None:
    """Mark idle participants as abandoned, reopen slots of excluded ones, bring back exports, erase what is too old.

    Run twice, it does no harm.
    """
    released = release_idle()
    if released:
        logger.info("released idle participants n=%s", released)
    reopen_excluded_slots()
    erase_expired()
    bring_back_exports()
    clean_exports()
    forget_declined()
    look_around()
    send_due()


@shared_task(name="studies.make_export", ignore_result=True)
def make_export_task(job_id: int) -> None:
    """Make an export that was asked for; delivered twice, it is made once."""
    make_export(job_id=job_id)
