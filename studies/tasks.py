"""Periodic and long-running tasks of studies."""

from __future__ import annotations

import logging

from celery import shared_task

from core.rate_limits import forget_counts
from core.security_log import delete_old_days
from core.shared_storage import left_for_later
from studies.data.services.exports import JOBS as EXPORTS
from studies.data.services.exports import clean_exports, make_export
from studies.data.services.retention import erase_expired
from studies.monitoring.services.notice_mail import send_due
from studies.monitoring.services.notice_rules import notify_due
from studies.monitoring.services.refilling import reopen_excluded_slots
from studies.participation.services.consenting import forget_declined
from studies.participation.services.slot_queue import release_idle
from studies.simulation.services.simulation_jobs import JOBS as SIMULATIONS
from studies.simulation.services.simulation_jobs import simulate

logger = logging.getLogger(__name__)


@shared_task(name="studies.sweep")
def sweep() -> None:
    """Mark idle participants as abandoned, reopen slots of excluded ones, requeue jobs, erase expired data.

    Safe to run repeatedly.
    """
    released = release_idle()
    if released:
        logger.info("released idle participants n=%s", released)
    reopen_excluded_slots()
    erase_expired()
    EXPORTS.requeue()
    SIMULATIONS.requeue()
    with left_for_later():
        clean_exports()
    forget_declined()
    forget_counts()
    delete_old_days()
    notify_due()
    send_due()


@shared_task(name="studies.make_export", ignore_result=True)
def make_export_task(job_id: int) -> None:
    """Create a requested export; repeated messages create it once."""
    make_export(job_id=job_id)


@shared_task(name="studies.simulate", ignore_result=True)
def simulate_task(job_id: int) -> None:
    """Walk requested simulated participants; repeated messages walk them once."""
    simulate(job_id=job_id)
