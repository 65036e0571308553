"""Tasks: one does a job of any kind, one keeps jobs going."""

from __future__ import annotations

import logging
from typing import Any

from celery import shared_task

from jobs import services

logger = logging.getLogger(__name__)
FORMER = (
    "analysis.compute_bayesian",
    "analysis.make_requested",
    "analysis.sweep",
    "catalog.run_job",
    "evaluation.write_experiment",
    "replication.carry_on",
    "replication.sweep",
    "studies.make_export",
    "studies.simulate",
)


@shared_task(name="jobs.do", ignore_result=True)
def do_job(job_id: int) -> None:
    """Do a job; the message is only a hint, and the job is the truth."""
    services.do_job(job_id=job_id)


@shared_task(name="jobs.sweep", ignore_result=True)
def sweep() -> None:
    """Requeue the jobs of dead workers, send the messages of waiting jobs again, and delete old files."""
    services.sweep()


def drop_former(**ids: Any) -> None:
    """Drop a message of an earlier version, which a broker may still hold: the sweep sends one for each open job."""
    logger.info("dropped the message of an earlier version: %s", ids)


for _name in FORMER:
    shared_task(name=_name, ignore_result=True)(drop_former)
