"""Finished pages: the list, an item, the questions about the list, and with the last one the study.

Every function takes the participant's row lock, looks at where they stand, and can be called again with the
same result. What is out of order is refused with `study.out_of_order` and the step they are really at.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import ParallaxError
from core.transitions import move
from studies import flow
from studies.enums import PARTICIPANT_MOVES, ParticipantStatus
from studies.flow import Place
from studies.models import Event, Participant
from studies.questionnaires.schema import AFTER, ITEMS, OVERALL, questionnaire_from
from studies.selectors.kept import answers_about, answers_of
from studies.services.attention import ended_by_attention, note_checks
from studies.services.codes import new_code
from studies.services.slots import locked_study
from studies.services.standing import (
    advance,
    has_after,
    list_length,
    locked,
    mirror,
    out_of_order,
    place_of,
    require_active,
)

logger = logging.getLogger(__name__)


@transaction.atomic
def finish_recommendations(*, participant: Participant) -> Participant:
    """Leave the page that shows the list, for the first item."""
    current = locked(participant)
    if current.status != ParticipantStatus.COMPLETED:
        require_active(current)
        if place_of(current).order < Place(flow.RECOMMENDATIONS).order:
            raise out_of_order(current)
        advance(current, Place(flow.RECOMMENDATIONS))
    mirror(participant, current)
    return current


@transaction.atomic
def finish_item(*, participant: Participant, rank: int) -> Participant:
    """Leave the page of an item once its questions are answered; failed attention checks may end the part.

    Raises `study.missing_answers` with the keys of what is missing, `study.out_of_order`, `study.not_active`.
    """
    current = _locked_with_checks(participant)
    if current.status != ParticipantStatus.COMPLETED:
        require_active(current)
        if not 1 <= rank <= list_length(current) or not flow.may_change(place_of(current), Place(ITEMS, rank)):
            raise out_of_order(current)
        given = answers_about(current, rank)
        missing = questionnaire_from(current.study.questionnaire).missing(ITEMS, given)
        if missing:
            raise _missing({str(rank): list(missing)})
        _leave(current, ITEMS, rank, given)
        if not _is_ended(current):
            advance(current, Place(ITEMS, rank))
    mirror(participant, current)
    return current


@transaction.atomic
def finish(*, participant: Participant) -> Participant:
    """Leave the questions about the list: for those after it where the study has some, else to the end.

    At the end the study is completed: everything asked is answered, and a completion code is drawn. Failed
    attention checks may end the part instead.

    Raises `study.missing_answers` with the missing keys by rank ("0" for the list as a whole),
    `study.out_of_order`, `study.not_active`.
    """
    current = _locked_with_checks(participant)
    if current.status != ParticipantStatus.COMPLETED:
        require_active(current)
        if current.step not in (flow.OVERALL, flow.AFTER):
            raise out_of_order(current)
        is_last = current.step == flow.AFTER or not has_after(current)
        questionnaire, by_rank = questionnaire_from(current.study.questionnaire), _by_rank(current)
        given = by_rank.pop(0, {})
        missing: dict[str, list[str]] = {}
        for rank in range(1, list_length(current) + 1):
            if of_item := questionnaire.missing(ITEMS, {**given, **by_rank.get(rank, {})}):
                missing[str(rank)] = list(of_item)
        blocks = (OVERALL,) if current.step == flow.OVERALL else (OVERALL, AFTER)
        wanting = [key for block in blocks for key in questionnaire.missing(block, given)]
        if wanting:
            missing["0"] = wanting
        if missing:
            raise _missing(missing)
        for block in blocks:
            _leave(current, block, 0, given)
        if _is_ended(current):
            mirror(participant, current)
            return current
        if not is_last:
            advance(current, Place(flow.OVERALL))
            mirror(participant, current)
            return current
        now = timezone.now()
        move(
            current,
            to=ParticipantStatus.COMPLETED,
            allowed=PARTICIPANT_MOVES,
            reason="Answered everything.",
            step=flow.THANKS,
            item_rank=0,
            completion_code=new_code(current),
            completed_at=now,
            last_seen_at=now,
        )
        logger.info("completed study=%s participant=%s", current.study.slug, current.code)
    mirror(participant, current)
    return current


def _leave(participant: Participant, block: str, rank: int, given: Mapping[str, Any]) -> None:
    """Withdraw the answers of a page that are no longer asked for, and note its attention checks.

    `given` are the answers that the page goes by. The event log keeps what was withdrawn, unless it names a person.
    """
    questionnaire = questionnaire_from(participant.study.questionnaire)
    asked = {question.key for question in questionnaire.asked(block, given)}
    unasked = [question.key for question in questionnaire.block(block) if question.key not in asked]
    if not given.keys().isdisjoint(unasked):
        for row in participant.responses.filter(rank=rank, question__in=unasked):
            said = {} if row.question in questionnaire.identifying else {"value": row.value}
            facts = {"question": row.question, "rank": rank, **said}
            Event.objects.create(participant=participant, kind="answer_withdrawn", facts=facts)
            row.delete()
    note_checks(participant=participant, questionnaire=questionnaire, block=block, rank=rank, given=given)


def _by_rank(participant: Participant) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for row in answers_of(participant):
        found.setdefault(row.rank, {})[row.question] = row.value
    return found


def _locked_with_checks(participant: Participant) -> Participant:
    """The participant's row under its lock; where failed checks may give a slot back, the study's lock comes first."""
    if questionnaire_from(participant.study.questionnaire).attention_ends_after:
        locked_study(participant.study_id)
    return locked(participant)


def _is_ended(current: Participant) -> bool:
    return ended_by_attention(
        participant=current, questionnaire=questionnaire_from(current.study.questionnaire)
    )  # fmt: skip


def _missing(problems: Mapping[str, Any]) -> ParallaxError:
    return ParallaxError(
        "study.missing_answers", _("Some questions still need an answer."), {"missing": dict(problems)}
    )
