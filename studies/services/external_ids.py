"""Ids by which other sites know participants: kept apart from answers, read by the study's owner alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studies.models import ExternalId, Participant

# Parameters that name a person or their submission, as panels write them. Case is kept: theirs is sensitive to it.
NAMES = frozenset(
    {
        "PROLIFIC_PID", "SESSION_ID", "prolific_pid", "workerId", "assignmentId", "worker_id", "assignment_id",
        "participant_label", "external_id", "id", "survey_code",
    }
)  # fmt: skip


def parted(parameters: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """The ids among a link's parameters, and the other parameters."""
    external = {name: str(value) for name, value in parameters.items() if name in NAMES and str(value)}
    return external, {name: value for name, value in parameters.items() if name not in external}


def keep_external_ids(*, participant: Participant, found: Mapping[str, str]) -> None:
    """Store the ids of a participant whose row was made in the same transaction."""
    ExternalId.objects.bulk_create(
        ExternalId(study_id=participant.study_id, participant=participant, name=name, value=value)
        for name, value in sorted(found.items())
    )
