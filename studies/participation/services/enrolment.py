"""The form about the person: its answers are stored, and decide whether the participant gets a slot in a condition.

Answers that can be used are stored at once, before the form is sent and also where it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from core.transitions import move
from studies.allocation.services.slots import full_quota, locked_study, stratum_for
from studies.enums import PARTICIPANT_MOVES, ParticipantStatus, Provenance
from studies.instrument.flow import Place
from studies.instrument.questionnaires.schema import ABOUT
from studies.models import Participant
from studies.participation.services.answers import AnswerSource, PageAnswers, checked_values
from studies.participation.services.entry_gate import refuse_unless_open
from studies.participation.services.finishing import ended_by_attention, note_checks, submit_page
from studies.participation.services.participant_state import (
    flow_of_participant,
    lock,
    not_active_error,
    require_open,
)
from studies.participation.services.slot_queue import request_slot


def _checked(page: PageAnswers, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers to all that the form asks as they are stored, or `study.bad_answers` with the problems."""
    questionnaire = page.questionnaire
    checked, invalid = checked_values(questionnaire.about, answers)
    known = {key: value for key, value in page.values.items() if key not in page.keys} | checked
    asked = [question.key for question in questionnaire.shown(ABOUT, known)]
    wrong = {*(set(answers) - page.keys), *invalid.keys() & set(asked), *questionnaire.missing(ABOUT, known)}
    if wrong:
        raise ParallaxError(
            "study.bad_answers",
            _("Some answers are missing or cannot be used. Please look at them again."),
            {"problems": {key: f"The answer to {key!r} is missing or cannot be used." for key in sorted(wrong)}},
        )
    return {key: checked.get(key) for key in asked}


@transaction.atomic
def accept_about(
    *,
    participant: Participant,
    answers: Mapping[str, Any],
    confirmed: Set[str] | None = None,
    provenance: str = Provenance.PERSON,
) -> Participant:
    """Store the answers about the person, then screen the participant out, or assign a slot as `request_slot` does.

    The returned participant's status is the outcome: active, screened out, quota full, attention failed, or consented
    for one who waits for a slot. A second submission has no effect. Raises `study.bad_answers`, `study.not_open`,
    `study.not_active`. With `confirmed`, the keys of answers that the participant has confirmed, answers that exclude
    them raise `study.unconfirmed`, with their keys, until one of them is confirmed.
    """
    # Before the participant's lock: the slot is assigned in the order in which arrivals get this one.
    study = locked_study(participant.study_id)
    current = participant
    lock(current)
    if current.status != ParticipantStatus.CONSENTED or current.waiting_since is not None:
        if current.status in (ParticipantStatus.ABANDONED, ParticipantStatus.WITHDRAWN):
            raise not_active_error(current)
        return current
    refuse_unless_open(study, current.mode)
    at = _assigning(current)
    require_open(current, at)
    page = PageAnswers(current, at)
    checked = _checked(page, answers)
    page.replace(checked, AnswerSource(provenance=provenance))
    now, questionnaire = timezone.now(), page.questionnaire
    against = [q.key for q in questionnaire.about if q.key in checked and not q.admits_value(checked[q.key])]
    if against:
        _require_confirmed(against, confirmed)
        reason = f"Answers that do not admit: {', '.join(against)}."
        to = ParticipantStatus.SCREENED_OUT
        move(current, to=to, allowed=PARTICIPANT_MOVES, reason=reason, last_seen_at=now, network="")
        return current
    # After screening: who is not admitted does not count among those who failed a check.
    note_checks(participant=current, questionnaire=questionnaire, block=ABOUT, at=at, answers=checked)
    if ended_by_attention(participant=current, questionnaire=questionnaire):
        return current
    current.stratum = stratum_for(study, checked, current)
    request_slot(study=study, participant=current, now=now)
    if current.status != ParticipantStatus.ACTIVE and (quota := full_quota(study, current.mode, checked)):
        _require_confirmed([test.question for test in quota.where], confirmed)
    return current


def _assigning(participant: Participant) -> Place:
    return next(Place(page.key) for page in flow_of_participant(participant).pages if page.assigns)


def assign_at_consent(participant: Participant) -> None:
    """Give a newcomer a slot, as `request_slot` does, in a study that asks nothing before the assignment."""
    study = locked_study(participant.study_id)
    lock(participant)
    if participant.status == ParticipantStatus.CONSENTED and participant.waiting_since is None:
        participant.stratum = stratum_for(study, {}, participant)
        request_slot(study=study, participant=participant, now=timezone.now())


def _require_confirmed(excluding: Sequence[str], confirmed: Set[str] | None) -> None:
    # A typing error must not end a participation.
    if confirmed is not None and confirmed.isdisjoint(excluding):
        raise ParallaxError("study.unconfirmed", _("Please check this answer."), {"unconfirmed": excluding})


@transaction.atomic
def submit_about(
    *,
    participant: Participant,
    posted: Mapping[str, Any],
    confirmed: Set[str] = frozenset(),
    provenance: str = Provenance.PERSON,
) -> ParallaxError | None:
    """Accept the form with what is stored of it; where it is refused, store its usable answers and return the refusal.

    `confirmed` is as in `accept_about`. Raises what `submit_page` raises.
    """
    at, source = _assigning(participant), AnswerSource(provenance=provenance)
    page = PageAnswers(participant, at)
    answers = {key: value for key, value in page.values.items() if key in page.keys} | dict(posted)
    answers = {key: value for key, value in answers.items() if value is not None}
    try:
        accept_about(participant=participant, answers=answers, confirmed=confirmed, provenance=provenance)
    # What was filled in is stored all the same, so that the form comes back as it was sent.
    except ParallaxError as refusal:
        submit_page(participant=participant, at=at, posted=posted, source=source, is_leaving=False)
        return refusal
    return None
