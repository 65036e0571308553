"""Withdrawal: personal data are erased, and an anonymous row remains."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from core.errors import ParallaxError
from core.transitions import forget_reasons
from studies.allocation.services.slots import end_participation, locked_study
from studies.enums import ParticipantStatus
from studies.models import (
    Exclusion,
    Guest,
    Interview,
    ListRequest,
    Notice,
    Participant,
    PersonalLink,
    RecommendationList,
    Study,
)

logger = logging.getLogger(__name__)

LONGEST_REASON = 2000

# Sent in the transaction of an erasure, with `study`, `participants` and `reasons`: the words of their exclusions.
# Rooms and packages above erase their copies (exports, reports) in the same transaction.
answers_erased = Signal()


def erase(*, study: Study, participants: Sequence[Participant]) -> None:
    """Delete all data of participants and all remarks about them; the caller updates the rows, without completion code,
    and holds their locks.

    The fact of an exclusion and the entries of the log stay, without their texts.
    """
    exclusions = Exclusion.objects.filter(participant__in=participants)
    reasons = [words for words in exclusions.values_list("reason", flat=True) if words]
    for participant in participants:
        participant.responses.all().delete()
        participant.profile.all().delete()
        participant.events.all().delete()
        # Read before they are deleted: the list of guests names the same people.
        ids = list(participant.external_ids.values_list("value", flat=True))
        Guest.objects.filter(study=participant.study_id, value__in=ids).delete()
        participant.external_ids.all().delete()
        participant.submissions.all().delete()
        participant.exclusions.update(reason="", undo_reason="")
        Notice.objects.filter(study=participant.study_id, key__startswith=f"flag:{participant.pk}:").delete()
        Interview.objects.filter(participant=participant).update(
            place="", label="", note_before="", note_after="", evaluation={}
        )
        PersonalLink.objects.filter(study=participant.study_id, digest=participant.entry_key).update(label="")
        RecommendationList.objects.filter(participant=participant).delete()
        ListRequest.objects.filter(participant=participant).delete()
    forget_reasons(Participant, [participant.pk for participant in participants])
    # A signal, because exports and reports belong to packages above, which this one may not import.
    answers_erased.send(sender=Study, study=study, participants=participants, reasons=reasons)


@transaction.atomic
def withdraw(
    *, participant: Participant, reason: str = "Withdrew by their own link.", actor: Any = None
) -> Participant:
    """Erase answers, ratings, the list, events, external ids and the link's parameters; open the slot again.

    Stored exports and copies in reports are erased too, by `answers_erased`. A caller that shows the completion code
    again reads it first.

    Condition, stratum and status stay, so that the allocation can still be replayed. Calling it twice
    has no further effect.
    """
    # The study before the participant, as wherever both are locked.
    locked_study(participant.study_id)
    current = (
        Participant.objects.select_for_update(of=("self",)).select_related("condition", "study").get(pk=participant.pk)
    )
    if current.status == ParticipantStatus.WITHDRAWN:
        return current
    erase(study=current.study, participants=[current])
    end_participation(
        participant=current,
        to=ParticipantStatus.WITHDRAWN,
        reason=reason,
        actor=actor,
        parameters={},
        shown_orders={},
        source_user="",
        completion_code="",
        erased_at=timezone.now(),
    )
    participant.status = current.status
    logger.info("withdrawn study=%s participant=%s", current.study.slug, current.code)
    return current


def participant_known_as(*, study: Study, known_as: str) -> Participant:
    """The participant of a study with this code, or with this id of another site.

    Raises `withdrawal.not_found`, and `withdrawal.several` where an id belongs to more than one.
    """
    wanted = known_as.strip()
    participants = Participant.objects.filter(study=study).select_related("condition")
    participant = participants.filter(code=wanted).first() if wanted else None
    if participant is not None:
        return participant
    matches = list(participants.filter(external_ids__value=wanted).distinct().order_by("pk")) if wanted else []
    if not matches:
        raise ParallaxError(
            "withdrawal.not_found",
            f"The study {study.slug} has no participant with the code or external id {wanted!r}. Capital letters "
            "count. Someone who has withdrawn has no external id any more.",
        )
    if len(matches) > 1:
        codes = [match.code for match in matches]
        raise ParallaxError(
            "withdrawal.several",
            f"The external id {wanted!r} belongs to {len(matches)} participants. Withdraw each by their code: "
            f"{', '.join(codes)}.",
            {"codes": codes},
        )
    return matches[0]


def personal_data_of(participant: Participant) -> dict[str, int]:
    """Count what a withdrawal would erase."""
    return {
        "answers": participant.responses.count(),
        "ratings": participant.profile.count(),
        "events": participant.events.count(),
        "external_ids": participant.external_ids.count(),
    }


def withdraw_on_behalf(*, participant: Participant, reason: str, actor: Any = None) -> Participant:
    """Withdraw a participant who asked a researcher to, as their own withdrawal does; logged with the reason.

    Raises `withdrawal.no_reason`, `withdrawal.long_reason`, `withdrawal.already`.
    """
    words = reason.strip()
    if not words:
        raise ParallaxError(
            "withdrawal.no_reason",
            "State the reason, for example: asked by e-mail. It stays in the log; do not name anyone.",
        )
    if len(words) > LONGEST_REASON:
        raise ParallaxError("withdrawal.long_reason", f"A reason has at most {LONGEST_REASON} characters.")
    if participant.status == ParticipantStatus.WITHDRAWN:
        raise ParallaxError("withdrawal.already", f"Participant {participant.code} has already withdrawn.")
    return withdraw(participant=participant, reason=f"Withdrawn on behalf of the participant: {words}", actor=actor)
