"""Every participant of a study with the names that they have in pages, exports and at other sites; for owners."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from studies.enums import Mode
from studies.models import Participant, Study
from studies.selectors.left_out import left_out_as_planned, reason_told
from studies.selectors.responses import public_ids


@dataclass(frozen=True)
class ParticipantLine:
    """A participant with the id that exports print, the ids of other sites, and why analyses leave them out."""

    participant: Participant
    public_id: str
    external_ids: tuple[str, ...]
    exclusion: str


def participants_of(study: Study, sought: str = "") -> QuerySet[Participant]:
    """The participants in order of entry, people before simulated ones and previews.

    `sought` is part of a code, of an export id, or of an id of another site.
    """
    rank = Case(
        When(mode=Mode.LIVE, then=Value(0)),
        When(mode=Mode.SIMULATED, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    participants = Participant.objects.filter(study=study).order_by(rank, "pk")
    if sought:
        by_public_id = [pk for pk, name in public_ids(study).items() if sought.upper() in name]
        by_external_id = Participant.objects.filter(external_ids__study=study, external_ids__value__icontains=sought)
        participants = participants.filter(
            Q(code__icontains=sought) | Q(pk__in=by_public_id) | Q(pk__in=by_external_id.values("pk"))
        )
    return participants.prefetch_related("external_ids")


def participant_lines(study: Study, participants: list[Participant]) -> list[ParticipantLine]:
    """Those participants as the page shows them."""
    ids = public_ids(study)
    excluded = left_out_as_planned(study, sorted({one.mode for one in participants} - {Mode.PREVIEW}))
    return [
        ParticipantLine(
            one,
            ids[one.pk],
            tuple(f"{row.name} {row.value}" for row in one.external_ids.all()),
            reason_told(*excluded[one.pk]) if one.pk in excluded else "",
        )
        for one in participants
    ]
