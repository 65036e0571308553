"""What the platform holds of one participant, counted."""

from __future__ import annotations

from dataclasses import dataclass

from studies.models import Participant


@dataclass(frozen=True)
class Held:
    """How much of each kind is held of a participant; of nothing it says what."""

    answers: int
    ratings: int
    events: int
    external_ids: int


def held_of(participant: Participant) -> Held:
    """Count what an erasure would remove."""
    return Held(
        answers=participant.responses.count(),
        ratings=participant.profile.count(),
        events=participant.events.count(),
        external_ids=participant.external_ids.count(),
    )
