"""The form about the person: its answers are stored, and decide whether the participant gets a slot in a condition.

Answers that can be used are stored at once, before the form is sent and also where it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import ParallaxError, ParameterError
from core.transitions import move
from studies.allocation.services.slots import full_quota, locked_study, stratum_for
from studies.enums import PARTICIPANT_MOVES, ParticipantStatus, Provenance
from studies.instrument.questionnaires.schema import ABOUT, questionnaire_from
from studies.models import Participant, Study
from studies.participation.selectors.participant_rows import answers_about
from studies.participation.services.answers import AnswerSource, PageAnswers, checked_values
from studies.participation.services.entry_gate import refuse_unless_open
from studies.participation.services.finishing import ended_by_attention, note_checks
from studies.participation.services.participant_state import lock, lock_open, not_active_error
from studies.participation.services.slot_queue import request_slot


def checked_about(*, study: Study, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers about the person as they are stored, or `study.bad_answers` with the problems."""
    questions = questionnaire_from(study.questionnaire).about
    posted = dict(answers)
    problems: dict[str, str] = {}
    checked: dict[str, Any] = {}
    for name in sorted(set(posted) - {question.key for question in questions}):
        problems[name] = f"This study asks no question {name!r} about the person."
    for question in questions:
        if not question.is_shown(checked):
            continue
        try:
            checked[question.key] = question.check(posted.get(question.key))
        except ParameterError as problem:
            problems[question.key] = str(problem)
        else:
            if question.is_incomplete(checked[question.key]):
                problems[question.key] = f"The answer to {question.key!r} is incomplete."
    if problems:
        raise ParallaxError(
            "study.bad_answers",
            _("Some answers are missing or cannot be used. Please look at them again."),
            {"problems": problems},
        )
    return checked


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
    checked = checked_about(study=study, answers=answers)
    PageAnswers(current, ABOUT, 0).replace(checked, AnswerSource(provenance=provenance))
    now = timezone.now()
    questionnaire = questionnaire_from(study.questionnaire)
    against = [q.key for q in questionnaire.about if q.key in checked and not q.admits_value(checked[q.key])]
    if against:
        _require_confirmed(against, confirmed)
        reason = f"Answers that do not admit: {', '.join(against)}."
        to = ParticipantStatus.SCREENED_OUT
        move(current, to=to, allowed=PARTICIPANT_MOVES, reason=reason, last_seen_at=now, network="")
        return current
    # After screening: who is not admitted does not count among those who failed a check.
    note_checks(participant=current, questionnaire=questionnaire, block=ABOUT, rank=0, answers=checked)
    if ended_by_attention(participant=current, questionnaire=questionnaire):
        return current
    current.stratum = stratum_for(study, checked, current)
    request_slot(study=study, participant=current, now=now)
    if current.status != ParticipantStatus.ACTIVE and (quota := full_quota(study, current.mode, checked)):
        _require_confirmed([test.question for test in quota.where], confirmed)
    return current


def _require_confirmed(excluding: Sequence[str], confirmed: Set[str] | None) -> None:
    # A typing error must not end a participation.
    if confirmed is not None and confirmed.isdisjoint(excluding):
        raise ParallaxError("study.unconfirmed", _("Please check this answer."), {"unconfirmed": excluding})


@transaction.atomic
def store_about(
    *, participant: Participant, answers: Mapping[str, Any], provenance: str = Provenance.PERSON
) -> tuple[str, ...]:
    """Store each answer about the person that can be used, and return their keys.

    None clears the stored answer. Half an answer is not an error yet: the form reports it when it is sent.

    Raises `study.not_active`, `study.out_of_order`, `study.closed`.
    """
    lock_open(participant)
    page = PageAnswers(participant, ABOUT, 0)
    checked, _invalid = checked_values(page.questionnaire.about, answers)
    page.save(checked, AnswerSource(provenance=provenance))
    questions = page.questionnaire.shown(ABOUT, page.values)
    return tuple(question.key for question in questions if checked.get(question.key) is not None)


@transaction.atomic
def submit_about(
    *,
    participant: Participant,
    posted: Mapping[str, Any],
    confirmed: Set[str] = frozenset(),
    provenance: str = Provenance.PERSON,
) -> ParallaxError | None:
    """Accept the form with what is stored of it; where it is refused, store its usable answers and return the refusal.

    `confirmed` is as in `accept_about`. Raises what `store_about` raises.
    """
    answers = {**answers_about(participant, 0), **posted}
    answers = {key: value for key, value in answers.items() if value is not None}
    try:
        accept_about(participant=participant, answers=answers, confirmed=confirmed, provenance=provenance)
    # What was filled in is stored all the same, so that the form comes back as it was sent.
    except ParallaxError as refusal:
        store_about(participant=participant, answers=posted, provenance=provenance)
        return refusal
    return None
