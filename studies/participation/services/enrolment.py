"""The form about the person: its answers are stored, and decide whether the participant gets a slot in a condition."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import ParallaxError, ParameterError
from core.transitions import move
from studies.allocation.services.slots import full_quota, locked_study, retake_slot, stratum_for, take_slot
from studies.enums import PARTICIPANT_MOVES, Mode, ParticipantStatus, Provenance
from studies.instrument import flow
from studies.instrument.questionnaires.schema import ABOUT, Question, questionnaire_from
from studies.models import Condition, Participant, Response, Study
from studies.participation.services.attention import ended_by_attention, note_checks
from studies.participation.services.entrance import refuse_unless_open
from studies.participation.services.participant_state import lock, not_active
from studies.participation.services.unused_slots import release_unused_slots

logger = logging.getLogger(__name__)


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
            if question.is_wanting(checked[question.key]):
                problems[question.key] = f"The answer to {question.key!r} is incomplete."
    if problems:
        raise ParallaxError(
            "study.bad_answers",
            _("Some answers are missing or cannot be used. Please look at them again."),
            {"problems": problems},
        )
    return checked


def _reasons_against(questions: tuple[Question, ...], answers: Mapping[str, Any]) -> list[str]:
    return [q.key for q in questions if q.key in answers and not q.does_admit(answers[q.key])]


@transaction.atomic
def accept_about(
    *, participant: Participant, answers: Mapping[str, Any], provenance: str = Provenance.PERSON
) -> Participant:
    """Store the answers about the person, then screen the participant out, assign a slot, or find the study full.

    The returned participant's status is the outcome: active, screened out, quota full, or attention failed. A second
    submission has no effect. Raises `study.bad_answers`, `study.not_open`, `study.not_active`.
    """
    study = locked_study(participant.study_id)
    current = participant
    lock(current)
    if current.status != ParticipantStatus.CONSENTED:
        if current.status in (ParticipantStatus.ABANDONED, ParticipantStatus.WITHDRAWN):
            raise not_active(current)
        return current
    refuse_unless_open(study, current.mode)
    checked = checked_about(study=study, answers=answers)
    _store_about(current, checked, provenance)
    now = timezone.now()
    against = _reasons_against(questionnaire_from(study.questionnaire).about, checked)
    if against:
        _move(
            current,
            ParticipantStatus.SCREENED_OUT,
            reason=f"Answers that do not admit: {', '.join(against)}.",
            now=now,
        )
        return current
    questionnaire = questionnaire_from(study.questionnaire)
    note_checks(participant=current, questionnaire=questionnaire, block=ABOUT, rank=0, answers=checked)
    if ended_by_attention(participant=current, questionnaire=questionnaire):
        return current
    stratum = stratum_for(study, checked, current)
    slot = _slot_or_reason(study, current, stratum, checked)
    if isinstance(slot, str) and current.mode == Mode.LIVE and release_unused_slots(study, now):
        slot = _slot_or_reason(study, current, stratum, checked)
    if isinstance(slot, str):
        _move(current, ParticipantStatus.QUOTA_FULL, reason=slot, now=now, stratum=stratum)
        return current
    condition, position = slot
    _move(
        current,
        ParticipantStatus.ACTIVE,
        reason="Took a slot.",
        now=now,
        condition=condition,
        stratum=stratum,
        place=position,
        step=flow.RATE,
        assigned_at=now,
    )
    logger.info("assigned study=%s participant=%s stratum=%s", study.slug, current.code, stratum)
    return current


def _slot_or_reason(
    study: Study, participant: Participant, stratum: str, answers: Mapping[str, Any]
) -> tuple[Condition, int] | str:
    """The newcomer's slot, or the sentence that says what is full."""
    quota = full_quota(study, participant.mode, answers)
    if quota is not None:
        return f"The quota {quota.name} is full."
    slot = _chosen_slot(study, participant, stratum)
    slot = slot or take_slot(study=study, participant=participant, stratum=stratum)
    return slot or "Every condition is full."


def _chosen_slot(study: Study, participant: Participant, stratum: str) -> tuple[Condition, int] | None:
    """The slot of a preview in the condition that the researcher chose; None where they chose none."""
    if participant.mode != Mode.PREVIEW or participant.condition is None:
        return None
    participant.stratum = stratum
    position = retake_slot(study=study, participant=participant)
    return None if position is None else (participant.condition, position)


def _store_about(participant: Participant, answers: Mapping[str, Any], provenance: str) -> None:
    """Store the answers; unchanged ones are left as they are."""
    before = {row.question: row for row in Response.objects.filter(participant=participant, rank=0)}
    fresh = []
    for key, value in answers.items():
        row = before.pop(key, None)
        if value is None:
            if row is not None:
                row.delete()
        elif row is None:
            fresh.append(Response(participant=participant, question=key, value=value, provenance=provenance))
        elif row.value != value:
            row.value, row.provenance, row.n_changes = value, provenance, row.n_changes + 1
            row.save()
    Response.objects.bulk_create(fresh)
    for row in before.values():  # questions that are no longer shown
        row.delete()


def _move(participant: Participant, to: str, *, reason: str, now: datetime, **changes: Any) -> None:
    move(participant, to=to, allowed=PARTICIPANT_MOVES, reason=reason, last_seen_at=now, **changes)
