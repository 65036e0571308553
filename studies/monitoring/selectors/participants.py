"""Every participant of a study with their ids on pages, in exports and at other sites; for owners."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from studies.enums import Mode
from studies.models import Participant, Study
from studies.monitoring.selectors.exclusions import planned_exclusions, reason_label
from studies.participation.selectors.responses import public_ids


@dataclass(frozen=True)
class ParticipantLine:
    """A participant with their export id, the ids of other sites, and the reason for an exclusion."""

    participant: Participant
    public_id: str
    external_ids: tuple[str, ...]
    exclusion: str


def participants_of(study: Study, query: str = "") -> QuerySet[Participant]:
    """The participants in order of entry, people before simulated ones and previews.

    `query` is part of a code, of an export id, or of an id of another site.
    """
    rank = Case(
        When(mode=Mode.LIVE, then=Value(0)),
        When(mode=Mode.SIMULATED, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    participants = Participant.objects.filter(study=study).order_by(rank, "pk")
    if query:
        by_public_id = [pk for pk, name in public_ids(study).items() if query.upper() in name]
        by_external_id = Participant.objects.filter(external_ids__study=study, external_ids__value__icontains=query)
        participants = participants.filter(
            Q(code__icontains=query) | Q(pk__in=by_public_id) | Q(pk__in=by_external_id.values("pk"))
        )
    return participants.prefetch_related("external_ids")


def participant_lines(study: Study, participants: list[Participant]) -> list[ParticipantLine]:
    """Those participants as the page shows them."""
    ids = public_ids(study)
    excluded = planned_exclusions(study, sorted({participant.mode for participant in participants} - {Mode.PREVIEW}))
    return [
        ParticipantLine(
            participant,
            ids[participant.pk],
            tuple(f"{row.name} {row.value}" for row in participant.external_ids.all()),
            reason_label(*excluded[participant.pk]) if participant.pk in excluded else "",
        )
        for participant in participants
    ]
