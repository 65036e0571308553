"""The hourly question to remote recommenders: are the lists still those of the launch?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from core.errors import ParallaxError
from evaluation.enums import ModelOrigin
from evaluation.services.remote_lists import UNREACHABLE
from jobs.models import Job
from jobs.services import request
from studies.design.services.canaries import changed_canaries, remote_conditions
from studies.enums import StudyStatus
from studies.models import Study
from studies.participation.services.serving import pause_for

EVERY = timedelta(hours=1)


def request_canaries() -> None:
    """Request the check of every live study whose last one is an hour old."""
    live = Study.objects.filter(status=StudyStatus.LIVE, conditions__model__origin=ModelOrigin.REMOTE).distinct()
    recent = Job.objects.filter(kind="canaries", created_at__gt=timezone.now() - EVERY).about(live)
    for study in live.exclude(pk__in=recent.values("subject_id")):
        request("canaries", subject=study)


def check_canaries(job: Job, progress: Any) -> Mapping[str, Any]:
    """Ask every remote recommender of a study for the lists of the launch, and pause the study where they differ."""
    study: Study = job.subject
    for condition in remote_conditions(study):
        progress(f"Asking {condition.label}")
        try:
            problem = changed_canaries(study, condition)
        except ParallaxError as refusal:
            problem = "" if refusal.code == UNREACHABLE else str(refusal)
        if problem:
            pause_for(study, condition, problem)
    return {}
