"""Blinded numbers of conditions, and previews of a chosen one."""

from __future__ import annotations

import hashlib
import hmac

from django.db import transaction

from core.errors import ParallaxError
from studies.enums import Mode, ParticipantStatus
from studies.models import Condition, Participant, Study
from studies.recruitment.services.entry_links import entry_link


def tickets(study: Study) -> list[Condition]:
    """The study's conditions in a random order drawn from its secret, so that positions reveal nothing."""

    def order_key(condition: Condition) -> bytes:
        # Keyed: a plain hash of the primary key could be recomputed by a researcher, and would unblind the conditions.
        return hmac.new(study.export_salt.encode(), f"ticket:{condition.pk}".encode(), hashlib.sha256).digest()

    return sorted(study.conditions.select_related("model").order_by("position"), key=order_key)


def preview_link(*, study: Study, ticket: int | None = None) -> str:
    """The path by which a researcher walks through the study, in the condition of that ticket or in any.

    After the tickets of conditions come those of sequences, by position. Raises `preview.no_ticket`.
    """
    if ticket is not None and not 0 <= ticket < study.conditions.count() + study.sequences.count():
        raise ParallaxError("preview.no_ticket", f"This study has no list number {ticket + 1}.")
    return entry_link(study=study, mode=Mode.PREVIEW, ticket=ticket)


@transaction.atomic
def choose_condition(*, participant: Participant, ticket: int) -> None:
    """Assign a preview to the condition or sequence of that ticket, or to a sequence that begins with the condition.

    Other participants, later calls and tickets that the study has no more change nothing.
    """
    current = Participant.objects.select_for_update(of=("self",)).select_related("study").get(pk=participant.pk)
    if current.mode != Mode.PREVIEW or current.status != ParticipantStatus.CONSENTED:
        return
    conditions, sequences = tickets(current.study), list(current.study.sequences.order_by("position"))
    if ticket >= len(conditions):
        current.sequence = next(iter(sequences[ticket - len(conditions) :]), None)
    elif sequences:
        first = conditions[ticket].position
        current.sequence = min(sequences, key=lambda sequence: sequence.occasions[0][0] != first)
    else:
        current.condition = conditions[ticket]
    current.save(update_fields=["condition", "sequence", "updated_at"])
