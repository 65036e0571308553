"""What the platform holds of one participant, counted."""

from __future__ import annotations

from dataclasses import dataclass

from studies.models import Participant


@dataclass(frozen=True)
class PersonalData:
    """How many rows of each kind the platform holds of a participant."""

    answers: int
    ratings: int
    events: int
    external_ids: int


def personal_data_of(participant: Participant) -> PersonalData:
    """Count what an erasure would remove."""
    return PersonalData(
        answers=participant.responses.count(),
        ratings=participant.profile.count(),
        events=participant.events.count(),
        external_ids=participant.external_ids.count(),
    )
