"""Lists that are prepared, in studies with a remote recommender: requested once, and waited for by all alike.

A worker asks the service; no page does. Its answer is stored with the request, and becomes the participant's list when
their page asks again. Participants of all conditions wait at least the study's `preparation_seconds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from core.errors import ParallaxError
from evaluation.enums import ModelOrigin
from evaluation.services.remote_lists import UNREACHABLE, Served
from jobs.models import Job, JobStatus
from jobs.services import request
from studies.design.selectors.placeholders import content_of
from studies.design.services.explaining import ShownExplanation
from studies.models import ListRequest, Participant
from studies.participation.services.entry_gate import is_participating
from studies.participation.services.participant_state import lock_open
from studies.participation.services.serving import ParticipantList, Profile, profile_of, served_lists

AGAIN_AFTER = timedelta(seconds=10)  # where a service did not answer


def is_requested(participant: Participant) -> bool:
    """Whether the participant's list is being prepared, so that their ratings are final."""
    return content_of(participant.study).prepares and ListRequest.objects.filter(participant=participant).exists()


def prepared_lists(participant: Participant, profile: Profile) -> list[ParticipantList] | None:
    """What the participant's condition answered, once it has and the study's preparation time has passed.

    It is one list: studies with several have no remote recommender.
    """
    requested = _current_request(participant)
    ready_at = requested.requested_at + timedelta(seconds=participant.study.design.preparation_seconds or 0)
    if timezone.now() < ready_at or (requested.answer is None and _is_remote(participant)):
        return None
    if requested.answer is None:
        return served_lists(participant, profile)
    answer = requested.answer
    served = Served(
        items=tuple(answer["items"]),
        scores=tuple(answer["scores"]),
        is_filled=(False,) * len(answer["items"]),
        seconds=requested.seconds or 0.0,
        digest=answer["model"],
    )
    return [(served, [ShownExplanation(**each) for each in answer["explanations"]])]


def is_ready(job: Job) -> bool:
    """Whether a service may be asked; raises `study.not_active` where the participant is away, or the study paused."""
    if not is_participating(job.subject.participant):
        raise ParallaxError("study.not_active", "The participant is away, or the study does not run.")
    again_at = job.payload.get("again_at")
    return again_at is None or timezone.now() >= datetime.fromisoformat(again_at)


def ask_for_list(job: Job, progress: Any) -> Mapping[str, Any]:
    """Ask the service of a request's condition, and store what it answers; a service that is away is asked later."""
    requested: ListRequest = job.subject
    participant = requested.participant
    progress("Asking for a list")
    try:
        profile = profile_of(participant)
        [(served, explanations)] = served_lists(participant, profile, request=str(requested.key))
    except ParallaxError as refusal:
        cause = refusal if refusal.code == UNREACHABLE else refusal.__cause__ or refusal
        facts = getattr(cause, "extra", {})
        attempts = requested.attempts + facts.get("attempts", 1)
        ListRequest.objects.filter(pk=requested.pk).update(error=str(cause), attempts=attempts)
        if refusal.code != UNREACHABLE:
            raise
        return {
            "status": JobStatus.QUEUED,
            "attempts": 0,
            "payload": {"again_at": (timezone.now() + AGAIN_AFTER).isoformat()},
        }
    ListRequest.objects.filter(pk=requested.pk, answer__isnull=True).update(
        answer={
            "model": served.digest,
            "items": served.items,
            "scores": served.scores,
            "explanations": [asdict(each) for each in explanations],
            "facts": served.facts,
        },
        attempts=requested.attempts + served.attempts,
        seconds=served.seconds,
        version=served.version,
        error="",
    )
    return {}


@transaction.atomic
def _current_request(participant: Participant) -> ListRequest:
    """The participant's request, made where there is none; a job for a remote recommender goes with it."""
    lock_open(participant)  # a rating in another tab comes before the request, or is refused
    requested, _is_new = ListRequest.objects.get_or_create(participant=participant)
    # A job failed where they were away, the study was paused, or the service broke the protocol: they are back now.
    if _is_remote(participant) and not requested.jobs.open().exists():
        requested.refresh_from_db()  # a job stores the answer before it ends
        if requested.answer is None:
            request("list", subject=requested)
    return requested


def _is_remote(participant: Participant) -> bool:
    condition = participant.condition
    return condition is not None and condition.model.origin == ModelOrigin.REMOTE
