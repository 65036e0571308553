"""The periodic task of studies."""

from __future__ import annotations

import logging

from celery import shared_task

from core.rate_limits import forget_counts
from core.security_log import delete_old_days
from studies.data.services.retention import erase_expired
from studies.monitoring.services.exclusions import reopen_excluded_slots
from studies.monitoring.services.notice_mail import send_due
from studies.monitoring.services.notice_rules import notify_due
from studies.participation.services.checking_canaries import request_canaries
from studies.participation.services.consenting import forget_declined
from studies.participation.services.slot_queue import release_idle

logger = logging.getLogger(__name__)


@shared_task(name="studies.sweep")
def sweep() -> None:
    """Mark idle participants as abandoned, reopen slots of excluded ones, erase expired data.

    Safe to run repeatedly.
    """
    released = release_idle()
    if released:
        logger.info("released idle participants n=%s", released)
    reopen_excluded_slots()
    request_canaries()
    erase_expired()
    forget_declined()
    forget_counts()
    delete_old_days()
    notify_due()
    send_due()
