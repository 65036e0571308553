"""The form about the person: stored, and with it a slot in a condition, or the word that there is none for them."""

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
from studies import flow
from studies.enums import PARTICIPANT_MOVES, Mode, ParticipantStatus, Provenance
from studies.models import Condition, Participant, Response, Study
from studies.questionnaires.schema import ABOUT, Question, questionnaire_from
from studies.selectors.compiled import Compiled
from studies.selectors.kept import locked_participant, locked_study_now
from studies.services.attention import ended_by_attention, note_checks
from studies.services.entrance import refuse_unless_open
from studies.services.slots import full_quota, retake_slot, stratum_for, take_slot
from studies.services.standing import not_active

logger = logging.getLogger(__name__)
_about_them = Compiled(lambda pk, rank: Response.objects.filter(participant=pk, rank=rank).order_by("pk"))


def checked_about(*, study: Study, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers about the person as they are stored, or `study.bad_answers` with the problems."""
    questions = questionnaire_from(study.questionnaire).about
    given = dict(answers)
    problems: dict[str, str] = {}
    checked: dict[str, Any] = {}
    for name in sorted(set(given) - {question.key for question in questions}):
        problems[name] = f"This study asks no question {name!r} about the person."
    for question in questions:
        if not question.is_shown(checked):
            continue
        try:
            checked[question.key] = question.check(given.get(question.key))
        except ParameterError as problem:
            problems[question.key] = str(problem)
        else:
            if question.is_wanting(checked[question.key]):
                problems[question.key] = f"The answer to {question.key!r} is begun and not finished."
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
    """Store the answers about the person; then screen them out, give them a slot, or say the study is full.

    Read the outcome from the status of the participant that is returned: active, screened out, quota full, or
    attention failed.
    Sent again after that, nothing happens. Raises `study.bad_answers`, `study.not_open`, `study.not_active`.
    """
    study = locked_study_now(participant.study_id)
    current = locked_participant(participant.pk)
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
    note_checks(participant=current, questionnaire=questionnaire, block=ABOUT, rank=0, given=checked)
    if ended_by_attention(participant=current, questionnaire=questionnaire):
        return current
    stratum = stratum_for(study, checked, current)
    quota = full_quota(study, current.mode, checked)
    if quota is not None:
        reason = f"The quota {quota.name} is full."
        _move(current, ParticipantStatus.QUOTA_FULL, reason=reason, now=now, stratum=stratum)
        return current
    taken = _chosen_slot(study, current, stratum) or take_slot(study=study, participant=current, stratum=stratum)
    if taken is None:
        _move(current, ParticipantStatus.QUOTA_FULL, reason="Every condition is full.", now=now, stratum=stratum)
        return current
    condition, place = taken
    _move(
        current,
        ParticipantStatus.ACTIVE,
        reason="Took a slot.",
        now=now,
        condition=condition,
        stratum=stratum,
        place=place,
        step=flow.RATE,
        assigned_at=now,
    )
    logger.info("assigned study=%s participant=%s stratum=%s", study.slug, current.code, stratum)
    return current


def _chosen_slot(study: Study, participant: Participant, stratum: str) -> tuple[Condition, int] | None:
    """The slot of a preview in the condition that the researcher chose; None where they chose none."""
    if participant.mode != Mode.PREVIEW or participant.condition is None:
        return None
    participant.stratum = stratum
    place = retake_slot(study=study, participant=participant)
    return None if place is None else (participant.condition, place)


def _store_about(participant: Participant, answers: Mapping[str, Any], provenance: str) -> None:
    """Write the answers; one given before and the same again is left as it is."""
    before = {row.question: row for row in _about_them.rows(participant.pk, 0)}
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
